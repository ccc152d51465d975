// A path in two parts, and what stands there.

internal import Glibc

package enum FilePath {
    /// "/" for a name in the root folder, "." for a name alone.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func name(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
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
