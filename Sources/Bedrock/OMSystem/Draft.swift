// A file that gets its name when it is whole. Until then its bytes are under another name beside it.

package import Glibc

/// A file in the making.
///
///     var draft = try Draft.make(for: path, .onlyNew)
///     try draft.write(bytes)
///     try draft.finish()
///
/// Another process sees all of the bytes under the file's name, or none of them. The draft is removed on every way out.
package struct Draft: ~Copyable {
    /// What happens when the file's name is taken.
    package enum Naming: Sendable {
        /// The new file replaces the old one.
        case replacing
        /// ``StorageError/exists``. Of several processes at once, one gets the name.
        case onlyNew
        /// The same, also on a file system without hard links, such as a USB stick's. There several processes at once may all
        /// take the name, and the last one keeps it.
        case onlyNewAnywhere
    }

    /// Where the bytes are until the file has its name.
    package let path: String
    /// Open for writing, and locked: ``StaleDrafts`` leaves this draft alone.
    package let descriptor: Int32
    private let target: String
    private let naming: Naming
    private var count = 0

    /// Makes the draft of `target`, mode 0600, and removes the drafts that killed processes left there.
    ///
    /// - Throws: ``StorageError/exists``: refused here already, before the work is done.
    package static func make(for target: String, _ naming: Naming) throws(StorageError) -> Draft {
        if naming != .replacing, try FilePath.exists(target) { throw .exists }
        StaleDrafts.remove(for: target)
        return try Draft(at: "\(target).\(randomDigits())\(StaleDrafts.suffix)", for: target, naming, mode: 0o600)
    }

    /// A path for the draft of a file whose folder is the user's own: hidden, and short however long the file's name is.
    /// Removes the hidden drafts that killed processes left in that folder.
    package static func hiddenPath(for target: String) -> String {
        StaleDrafts.removeHidden(besides: target)
        return "\(FilePath.folder(of: target))/\(StaleDrafts.hiddenPrefix)\(randomDigits())"
    }

    /// 16 hex digits. Random: two threads of one process must not share a draft.
    private static func randomDigits() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Makes the draft under a name of the caller's, such as ``hiddenPath(for:)``.
    package init(at path: String, for target: String, _ naming: Naming, mode: mode_t) throws(StorageError) {
        // Attack: another user puts a link or a file of theirs under the draft's name. O_EXCL takes neither.
        let descriptor = retryingInterrupts {
            open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        }
        guard descriptor >= 0 else { throw .last }
        // Tells it from a draft that a killed process left. Where a file system has no locks, its age alone does.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        (self.path, self.descriptor, self.target, self.naming) = (path, descriptor, target, naming)
    }

    deinit {
        Self.remove(path)
        close(descriptor)
    }

    /// Removes the draft before it ends by itself.
    package func remove() { Self.remove(path) }

    /// Removes a draft, and what SQLite may have made beside it.
    static func remove(_ path: String) {
        for end in ["-wal", "-shm", ""] { unlink(path + end) }
    }

    /// Appends `bytes`.
    package mutating func write(_ bytes: Span<UInt8>) throws(StorageError) {
        try writeAll(bytes, to: descriptor, at: count)
        count += bytes.count
    }

    /// Waits until the disk has the bytes. A sync that failed is not tried again, see ``PrivateFile``.
    package func sync() throws(StorageError) {
        guard fdatasync(descriptor) == 0 else { throw .last }
    }

    /// Gives the file its name. A power cut may still take away the name, or the bytes under it.
    package func takeName() throws(StorageError) {
        if naming != .replacing {
            // link(2) never replaces: a process that made the file meanwhile keeps it.
            if link(path, target) == 0 { return }
            guard naming == .onlyNewAnywhere, [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .last }
            guard try !FilePath.exists(target) else { throw .exists }
        }
        guard rename(path, target) == 0 else { throw .last }
    }

    /// Gives the file its name, once the bytes are on the disk. The name is there too when this returns.
    package consuming func finish() throws(StorageError) {
        try sync()
        try takeName()
        try syncFolder(above: target)
    }
}
