// Draft files left behind by processes that were killed.

internal import Glibc

/// The drafts that ``Draft`` created beside a file.
enum StaleDrafts {
    /// In seconds. A younger draft may belong to a process that has not locked it yet.
    private static let youngest = 60
    static let suffix = ".new"
    static let hiddenPrefix = ".omvault-"

    /// Removes the drafts of `path` that no process works on any more. Such a draft belongs to this user, is at least a
    /// minute old, and no process has locked it. A draft that cannot be removed stays. Nothing depends on it.
    static func remove(for path: String) {
        let start = FilePath.name(of: path) + "."
        remove(in: FilePath.folder(of: path), from: start, to: suffix)
    }

    /// The same for all hidden drafts in a folder, whatever file each one is for.
    static func removeHidden(in folder: String) { remove(in: folder, from: hiddenPrefix, to: "") }

    /// The paths of all drafts in a folder that no process works on any more, whatever file each one is for. None if the
    /// folder cannot be read. Nothing is removed.
    static func all(in folder: String) -> [String] {
        let drafts = names(in: folder, from: "") { text in
            let start = String(text.dropLast(16 + suffix.count))
            let isNamed = start.utf8.count > 1 && start.hasSuffix(".") && isDraft(text, from: start, to: suffix)
            return isNamed || isDraft(text, from: hiddenPrefix, to: "")
        }
        return drafts.filter(isStale).sorted()
    }

    private static func remove(in folder: String, from start: String, to end: String) {
        let drafts = names(in: folder, from: start) { isDraft($0, from: start, to: end) }
        for draft in drafts where isStale(draft) { Draft.remove(draft) }
    }

    /// The paths of the files whose names begin with `start` and are wanted.
    private static func names(in folder: String, from start: String, _ isWanted: (String) -> Bool) -> [String] {
        let first = Array(start.utf8)
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var paths: [String] = []
        while let entry = readdir(stream) {
            // A folder may hold a million files, so most names are only compared.
            let found = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                name.starts(with: first) ? Array(name.prefix { $0 != 0 }) : []
            }
            let text = String(decoding: found, as: UTF8.self)
            if isWanted(text) { paths.append("\(folder)/\(text)") }
        }
        return paths
    }

    /// `start`, 16 hex digits, `end`.
    private static func isDraft(_ text: String, from start: String, to end: String) -> Bool {
        guard text.utf8.starts(with: start.utf8), text.hasSuffix(end) else { return false }
        let middle = text.utf8.dropFirst(start.utf8.count).dropLast(end.utf8.count)
        return middle.count == 16
            && middle.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isStale(_ draft: String) -> Bool {
        var status = stat()
        guard lstat(draft, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            time(nil) - status.st_mtim.tv_sec >= youngest
        else { return false }
        // The file got its name, and only the draft's name was left. The file must not be opened: closing any
        // descriptor of a database drops the locks that this process holds on it.
        if status.st_nlink > 1 { return true }
        // Open for writing: NFS gives this lock for no other descriptor.
        let descriptor = retryingInterrupts { open(draft, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) == 0
    }
}
