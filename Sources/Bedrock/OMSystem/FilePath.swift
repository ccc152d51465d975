// The parts of a path, and whether a file exists there.
//
// A path is split at its bytes. Swift reads a slash and a combining accent after it as one Character, which is no slash.

internal import COMSystem
internal import Glibc

package enum FilePath {
    /// The folder of `path`: "/" for a name in the root folder, "." for a name alone.
    package static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    package static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }

    /// The names between the slashes, first to last.
    package static func names(in path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The path without links and dots. Nil if the file does not exist.
    package static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Whether a file of any kind exists at `path`.
    package static func exists(_ path: String) throws(StorageError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT else { throw .last }
        return false
    }

    /// Removes the file at `path`.
    ///
    /// - Returns: false if there is none.
    package static func remove(_ path: String) throws(StorageError) -> Bool {
        if unlink(path) == 0 { return true }
        guard errno == ENOENT else { throw .last }
        return false
    }

    /// The device of the file system that has the file at `path`. Nil if there is no file.
    package static func device(of path: String) -> UInt64? { device(of: AT_FDCWD, path)?.number }

    /// The device of a descriptor's file system, and whether the descriptor is a regular file's. No file system can delay
    /// the answer.
    static func device(of descriptor: Int32, _ path: String = "") -> (number: UInt64, isRegular: Bool)? {
        var (device, isRegular): (UInt64, Bool) = (0, false)
        return om_file_device(descriptor, path, &device, &isRegular) == 0 ? (device, isRegular) : nil
    }

    /// The inode of the file at `path`, which its copies do not share. It is 0 if there is no file.
    package static func fileNumber(_ path: String) -> UInt64 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }
}

// The user's folders by the XDG base directory specification.
extension FilePath {
    /// The folder that a variable such as `XDG_STATE_HOME` names, else the folder `home` in the user's home.
    ///
    /// A relative path would name another folder after every `cd`, and the specification says to ignore it.
    ///
    /// - Returns: nil if the folder depends on `HOME`, and `HOME` is not an absolute path.
    package static func userFolder(_ name: String, inHome home: String, _ variable: (String) -> String?) -> String? {
        if let path = variable(name), FilePath.isAbsolute(path) { return path }
        guard let user = variable("HOME"), FilePath.isAbsolute(user) else { return nil }
        return "\(user)/\(home)"
    }

    /// `$XDG_STATE_HOME/omvault`.
    package static func stateFolder(_ variable: (String) -> String?) -> String? {
        userFolder("XDG_STATE_HOME", inHome: ".local/state", variable).map { "\($0)/omvault" }
    }
}
