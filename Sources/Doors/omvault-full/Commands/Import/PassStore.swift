// The folder of pass or gopass: which files in it are entries, and what else is there. No file is read here.

internal import Glibc
internal import OMInterchange
internal import OMShell

/// The names of the files in a store.
final class PassStore {
    /// An encrypted file.
    struct File {
        /// Below the store's folder, with the ending.
        let path: String
        /// Whether age opens it, and not gpg.
        let isAge: Bool

        /// The path without the ending: the entry's name.
        var name: String { String(path.dropLast(4)) }
    }

    /// The store's folder.
    let path: String
    /// In the order of their paths.
    private(set) var files: [File] = []
    /// What is there beside the entries, and was left out: links, pipes, folders that are too deep.
    private(set) var leftOut: [String] = []
    /// How many files have a name that does not end in `.gpg` or `.age`.
    private(set) var others = 0
    private let folder: Int32

    /// The most folders around an entry.
    private static let maximumDepth = 32
    /// The files and folders that pass, gopass, passage and git keep there for themselves.
    private static let own: Set<String> = [
        ".git", ".gitattributes", ".gitignore", ".gitkeep", ".gitmodules", ".gpg-id", ".gpg-id.sig", ".age-recipients",
        ".age-ids", ".extensions", ".public-keys", ".passage", ".gopass", ".hg", ".svn",
    ]
    /// The most names in the store.
    private static let maximumNames = 200_000

    /// Lists a store.
    ///
    /// - Throws: ``ExitStatus/notFound``; ``ExitStatus/usage`` for a folder without an entry; ``ExitStatus/policy``.
    init(_ path: String) throws(Failure) {
        self.path = path
        folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            let code = errno
            guard code == ENOENT else { throw Failure(.io, "cannot open the folder \"\(path)\"", errno: code) }
            throw Failure(
                .notFound, "there is no folder \"\(path)\"", hint: "give the folder of the store, or set PASSWORD_STORE_DIR",
                "gopass has its store in ~/.local/share/gopass/stores/root, and passage in ~/.passage/store")
        }
        var count = 0
        try list("", depth: 0, &count)
        files.sort { $0.path < $1.path }
        guard files.count <= ForeignReader.maximumEntries else { throw Self.tooMany }
        guard !files.isEmpty else {
            throw Failure(
                .usage, "\"\(path)\" has no entry of pass: no file with a name that ends in .gpg or .age",
                hint: "give the folder of the store, or one below it")
        }
    }

    deinit { close(folder) }

    private static let tooMany = Failure(
        .policy, "the store has more files than omvault reads; nothing was imported",
        hint: "import a folder below it; docs/reference/import.md has the limits")

    private func list(_ parent: String, depth: Int, _ count: inout Int) throws(Failure) {
        let descriptor = Self.open(parent, below: folder, O_RDONLY | O_DIRECTORY)
        guard descriptor >= 0, let stream = fdopendir(descriptor) else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw Failure(.io, "cannot read the folder \"\(path)/\(parent)\"", errno: code)
        }
        defer { closedir(stream) }
        var folders: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // Accident: a list that ends early looks like a store without those entries.
                guard errno == 0 else { throw Failure(.io, "cannot read the folder \"\(path)/\(parent)\"", errno: errno) }
                break
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let last = String(decoding: bytes, as: UTF8.self)
            // All other hidden names can be entries: pass takes them.
            guard last != ".", last != "..", !Self.own.contains(last) else { continue }
            count += 1
            guard count <= Self.maximumNames else { throw Self.tooMany }
            let name = (parent.isEmpty ? "" : parent + "/") + last
            var status = stat()
            guard String(validating: bytes, as: UTF8.self) != nil else {
                leftOut.append("\"\(name)\": its name is not UTF-8")
                continue
            }
            guard name.utf8.count <= ForeignStore.maximumPath + 4 else {
                leftOut.append("\"\(name)\": its name is too long")
                continue
            }
            guard fstatat(dirfd(stream), &entry.pointee.d_name.0, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                leftOut.append("\"\(name)\": it is gone")
                continue
            }
            let isEntry = name.hasSuffix(".gpg") || name.hasSuffix(".age")
            switch status.st_mode & S_IFMT {
            case S_IFDIR:
                if depth < Self.maximumDepth { folders.append(name) } else { leftOut.append("\"\(name)\": too deep") }
            case S_IFREG: if isEntry { files.append(File(path: name, isAge: name.hasSuffix(".age"))) } else { others += 1 }
            // Attack: a store of a team has a link to a file of its reader, or a pipe that never ends.
            case S_IFLNK: leftOut.append("\"\(name)\": a link\(Self.target(dirfd(stream), bytes)), which is not followed")
            default: leftOut.append("\"\(name)\": neither a file nor a folder")
            }
        }
        for name in folders { try list(name, depth: depth + 1, &count) }
    }

    private static func target(_ folder: Int32, _ name: [UInt8]) -> String {
        var target = [CChar](repeating: 0, count: 4096)
        let count = readlinkat(folder, String(decoding: name, as: UTF8.self), &target, target.count - 1)
        guard count > 0 else { return "" }
        return " to \"\(String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self))\""
    }

    /// Opens an entry's file for reading. No link below the store's folder is followed.
    ///
    /// - Returns: A descriptor, or -1 if it is no regular file any more.
    func open(_ file: File) -> Int32 {
        let descriptor = Self.open(file.path, below: folder, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            if descriptor >= 0 { close(descriptor) }
            return -1
        }
        return descriptor
    }

    private static func open(_ path: String, below folder: Int32, _ flags: Int32) -> Int32 {
        var descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let parts = path.split(separator: "/").map(String.init)
        for (index, part) in parts.enumerated() where descriptor >= 0 {
            let isLast = index == parts.count - 1
            let next = openat(descriptor, part, (isLast ? flags : O_RDONLY | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC)
            let code = errno
            close(descriptor)
            errno = code
            descriptor = next
        }
        return descriptor
    }

    // MARK: - Where it is

    /// The folder of the user's store: `PASSWORD_STORE_DIR`, else `~/.password-store`.
    static func usual() throws(Failure) -> String {
        if let folder = Environment.text("PASSWORD_STORE_DIR") { return folder }
        guard let home = Environment.text("HOME") else {
            throw Failure(.usage, "HOME is not set", hint: "give the folder of the store")
        }
        return home + "/.password-store"
    }

    /// Whether the folder is the top of a store.
    static func hasMark(_ path: String) -> Bool {
        [".gpg-id", ".age-recipients", ".passage"].contains { access("\(path)/\($0)", F_OK) == 0 }
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
