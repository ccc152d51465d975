// A file that gets its name when it is complete. Until then its bytes are under another name beside it.

package import Glibc

/// A file under construction.
///
///     var draft = try Draft.make(for: path, .onlyNew)
///     try draft.write(bytes)
///     try draft.finish()
///
/// Another process sees all of the bytes under the file's name, or none of them. However this value ends, it removes the draft.
package struct Draft: ~Copyable {
    /// What happens if the file's name is taken.
    package enum Naming: Sendable {
        /// The new file replaces the old one.
        case replacing
        /// Throws ``StorageError/exists``. If several processes try at once, one gets the name.
        case onlyNew
        /// Like ``onlyNew``, but also works on a file system without hard links, such as a USB stick's. On such a file
        /// system several processes at once can all take the name, and the last one keeps it.
        case onlyNewAnywhere
    }

    /// The path of the bytes until the file has its name.
    package let path: String
    /// Open for writing, and locked: ``StaleDrafts`` leaves this draft alone.
    package let descriptor: Int32
    private let target: String
    private let naming: Naming
    private var count = 0

    /// Creates the draft of `target` with mode 0600. Also removes the drafts of `target` that killed processes left.
    ///
    /// - Throws: ``StorageError/exists`` already here, before the caller does the work.
    package static func make(for target: String, _ naming: Naming) throws(StorageError) -> Draft {
        if naming != .replacing, try FilePath.exists(target) { throw .exists }
        StaleDrafts.remove(for: target)
        return try Draft(at: "\(target).\(randomDigits())\(StaleDrafts.suffix)", for: target, naming, mode: 0o600)
    }

    /// Creates the draft of `target` in a folder of the user's own. Its name is hidden, and short even if the target's name
    /// is long. Also removes the hidden drafts that killed processes left in that folder, whatever files they were for.
    ///
    /// - Parameter willCreate: Called with the draft's path before the draft exists, so that a signal handler can know it.
    package static func makeHidden(
        for target: String, _ naming: Naming, mode: mode_t = 0o600, willCreate: (String) -> Void = { _ in }
    ) throws(StorageError) -> Draft {
        if naming != .replacing, try FilePath.exists(target) { throw .exists }
        let folder = FilePath.folder(of: target)
        StaleDrafts.removeHidden(in: folder)
        let path = "\(folder)/\(StaleDrafts.hiddenPrefix)\(randomDigits())"
        willCreate(path)
        return try Draft(at: path, for: target, naming, mode: mode)
    }

    /// 16 hex digits. Random: two threads of one process must not share a draft.
    private static func randomDigits() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    init(at path: String, for target: String, _ naming: Naming, mode: mode_t) throws(StorageError) {
        // Attack: another user puts a link or a file under the draft's name. O_EXCL refuses both.
        let descriptor = retryingInterrupts {
            open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        }
        guard descriptor >= 0 else { throw .last }
        // The lock tells this draft from those of killed processes. On a file system without locks those stay.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
        (self.path, self.descriptor, self.target, self.naming) = (path, descriptor, target, naming)
    }

    deinit {
        Self.remove(path)
        close(descriptor)
    }

    /// The paths of the drafts in a folder that killed processes left. Nothing is removed.
    package static func abandoned(in folder: String) -> [String] { StaleDrafts.all(in: folder) }

    /// Removes the draft early.
    package func remove() { Self.remove(path) }

    /// Removes a draft and the files that SQLite may have created beside it.
    static func remove(_ path: String) {
        for end in ["-wal", "-shm", ""] { unlink(path + end) }
    }

    /// Appends `bytes`.
    package mutating func write(_ bytes: Span<UInt8>) throws(StorageError) {
        try writeAll(bytes, to: descriptor, at: count)
        count += bytes.count
    }

    /// Waits until the disk has the bytes. A failed sync is not tried again, see ``PrivateFile``.
    package func sync() throws(StorageError) {
        guard fdatasync(descriptor) == 0 else { throw .last }
    }

    /// Gives the file its name. A power cut can still undo the name, or lose the bytes under it.
    package func takeName() throws(StorageError) {
        if naming != .replacing {
            // link(2) never replaces a file. If another process created the file meanwhile, that file stays.
            if link(path, target) == 0 { return }
            guard naming == .onlyNewAnywhere, [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw .last }
            guard try !FilePath.exists(target) else { throw .exists }
        }
        guard rename(path, target) == 0 else { throw .last }
    }

    /// Gives the file its name, once the bytes are on the disk. When this returns, the name is on the disk too.
    package consuming func finish() throws(StorageError) {
        try sync()
        try takeName()
        try syncFolder(above: target)
    }
}
