// A path in its parts, and what stands there.
//
// A path is split at its bytes. Swift takes a slash and a combining accent after it for one Character, which is no slash.

internal import Glibc

package enum FilePath {
    /// "/" for a name in the root folder, "." for a name alone.
    package static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The names between the slashes, from the first on.
    package static func names(in path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether something stands at `path`, whatever it is.
    package static func exists(_ path: String) throws(StorageError) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0 { return true }
        guard errno == ENOENT else { throw .last }
        return false
    }

    /// A number that tells the file at `path` from its copies; 0 if there is none.
    package static func fileNumber(_ path: String) -> UInt64 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt64(status.st_ino) : 0
    }
}
