// Which files to read: regular ones, of a bounded size, in an order that is the same on every machine.

internal import FoundationEssentials
internal import Glibc

/// A file that may hold vectors; what is in it, ``VectorRunner/verify(_:)`` finds out.
public struct VectorFile: Sendable {
    /// The path as it was given, or below the folder that was given.
    public let path: String
    /// Why the file is not even opened.
    private let reason: String?

    /// The largest published file is 5 MiB.
    private static let largest = 64 << 20
    /// Folders within folders, at most.
    private static let deepest = 32

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    func bytes() throws(Unreadable) -> [UInt8] {
        if let reason { throw Unreadable(reason) }
        guard let data = FileManager.default.contents(atPath: path) else { throw Unreadable("it cannot be read") }
        return [UInt8](data)
    }

    /// A file that another one names, held to the same bounds; links are not followed on any step of the way.
    static func bytes(below folder: String, _ name: String) throws(Unreadable) -> [UInt8] {
        var path = folder
        for part in name.split(separator: "/").dropLast() {
            path += "/\(part)"
            guard FileStatus(path)?.kind == .folder else { throw Unreadable("“\(name.prefix(60))” is not there") }
        }
        let target = "\(folder)/\(name)"
        guard let status = FileStatus(target) else { throw Unreadable("“\(name.prefix(60))” is not there") }
        let found = file(target, status)
        return try found.bytes()
    }
}

extension VectorFile {
    static func find(_ paths: [String]) throws(VectorsError) -> [VectorFile] {
        var found: [VectorFile] = []
        for path in paths {
            // A path that was typed may be a link; one found in a folder could lead in circles.
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            guard let status = FileStatus(target) else { throw .unreadable(path: path) }
            if status.kind == .folder {
                guard collect(path.last == "/" ? String(path.dropLast()) : path, depth: 0, into: &found) else {
                    throw .unreadable(path: path)
                }
            } else {
                guard FileManager.default.isReadableFile(atPath: target) else { throw .unreadable(path: path) }
                found.append(file(path, status))
            }
        }
        return found
    }

    static func repositoryFolder() -> String? {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The program's own repository first: a folder of that name above the current directory may be anybody's.
        for start in [program ?? "/", FileManager.default.currentDirectoryPath] {
            var folder = URL(filePath: start)
            while true {
                let candidate = folder.appending(path: "vectors").path
                if FileStatus(candidate)?.kind == .folder { return candidate }
                let above = folder.deletingLastPathComponent()
                guard above.path.count < folder.path.count else { break }
                folder = above
            }
        }
        return nil
    }

    private static func collect(_ folder: String, depth: Int, into found: inout [VectorFile]) -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return false }
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = "\(folder)/\(name)"
            let status = FileStatus(path)
            if status?.kind != .folder {
                found.append(file(path, status))
            } else if depth == deepest {
                found.append(VectorFile(path: path, reason: "a folder too deep"))
            } else if !collect(path, depth: depth + 1, into: &found) {
                found.append(VectorFile(path: path, reason: "the folder cannot be read"))
            }
        }
        return true
    }

    private static func file(_ path: String, _ status: FileStatus?) -> VectorFile {
        switch status?.kind {
        case .regular where (status?.size ?? 0) > largest: VectorFile(path: path, reason: "larger than 64 MiB")
        case .regular: VectorFile(path: path, reason: nil)
        case .link: VectorFile(path: path, reason: "a symbolic link: not followed within a folder")
        default: VectorFile(path: path, reason: "not a regular file")
        }
    }
}

/// lstat(2): Foundation's attributes have other types where the full Foundation is loaded.
private struct FileStatus {
    enum Kind { case regular, folder, link, other }

    let kind: Kind
    let size: Int

    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        size = status.st_size
    }
}
