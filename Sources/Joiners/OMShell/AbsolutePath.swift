internal import Glibc
internal import OMSystem

package enum AbsolutePath {
    /// An absolute path without links and dots. Names that do not exist yet stay as they are at its end.
    package static func resolved(_ path: String) -> String {
        // Nearly always all of it exists. The root is an empty text here, which a slash and a name can follow.
        if let whole = realpath(path, nil) {
            defer { free(whole) }
            let found = String(cString: whole)
            return found == "/" ? "" : found
        }
        let names = FilePath.names(in: path)
        for count in stride(from: names.count, through: 0, by: -1) {
            guard let found = realpath("/" + names.prefix(count).joined(separator: "/"), nil) else { continue }
            defer { free(found) }
            let head = String(cString: found)
            return ([head == "/" ? "" : head] + names.dropFirst(count)).joined(separator: "/")
        }
        return path
    }

    /// The path from the root, because another process has another working folder.
    ///
    /// Links and dots are resolved if the file exists, so that the agent sees one path for every spelling of it.
    package static func absolute(_ path: String) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        guard !FilePath.isAbsolute(path), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }
}
