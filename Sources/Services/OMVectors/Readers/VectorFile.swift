// The search for vector files: regular files of a bounded size, in the same order on every machine.

internal import FoundationEssentials
internal import Glibc

/// A file that may hold vectors. ``VectorRunner/verify(_:)`` finds out.
public struct VectorFile: Sendable {
    /// The path as the caller gave it, or below the folder that the caller gave.
    public let path: String
    /// Why the file is not opened. Nil if it is.
    private let reason: String?
    /// What is in it, where it is part of a program.
    private let content: [UInt8]?

    private init(path: String, reason: String?) { (self.path, self.reason, content) = (path, reason, nil) }

    /// A file that is part of a program: it lies in no folder, so nothing is beside it.
    public init(builtIn name: String, content: [UInt8]) {
        (path, reason, self.content) = ("built-in/\(name)", nil, content)
    }

    /// The most bytes of a file. The largest published file has 5 MiB.
    private static let largest = 64 << 20
    /// How deep folders may nest.
    private static let deepest = 32

    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The files that it may name.
    var companions: CompanionFiles { content == nil ? CompanionFiles(of: path) : .none }

    func bytes() throws(UnreadableFile) -> [UInt8] {
        if let reason { throw UnreadableFile(reason) }
        if let content { return content }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw UnreadableFile("it cannot be read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 256 << 10)
        // The length of a pipe is known only at its end.
        while bytes.count <= Self.largest {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            guard count > 0 || errno == EINTR else { throw UnreadableFile("it cannot be read") }
            bytes += piece.prefix(max(count, 0))
        }
        throw UnreadableFile(Self.tooLarge)
    }

    private static let tooLarge = "larger than 64 MiB"

    /// The bytes of a file that a vector file names, with the same bounds. No part of the path may be a link.
    static func bytes(below folder: String, _ name: String) throws(UnreadableFile) -> [UInt8] {
        var path = folder
        for part in name.split(separator: "/").dropLast() {
            path += "/\(part)"
            guard FileStatus(path)?.kind == .folder else { throw UnreadableFile("“\(name.prefix(60))” is not there") }
        }
        let target = "\(folder)/\(name)"
        guard let status = FileStatus(target) else { throw UnreadableFile("“\(name.prefix(60))” is not there") }
        let found = file(target, status)
        return try found.bytes()
    }
}

extension VectorFile {
    static func find(_ paths: [String]) throws(VectorsError) -> [VectorFile] {
        var found: [VectorFile] = []
        for path in paths {
            // A path that the user typed may be a link or a pipe, like the shell's <(…). A link in a folder could lead in
            // circles.
            guard let status = FileStatus(path, followsLinks: true) else { throw .unreadable(path: path) }
            if status.kind == .folder {
                guard collect(path.last == "/" ? String(path.dropLast()) : path, depth: 0, into: &found) else {
                    throw .unreadable(path: path)
                }
            } else {
                guard FileManager.default.isReadableFile(atPath: path) else { throw .unreadable(path: path) }
                found.append(status.kind == .pipe ? VectorFile(path: path, reason: nil) : file(path, status))
            }
        }
        return found
    }

    static func repositoryFolder() -> String? {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The program's own repository first: a folder of that name above the current directory may belong to another user.
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
        case .regular where (status?.size ?? 0) > largest: VectorFile(path: path, reason: tooLarge)
        case .regular: VectorFile(path: path, reason: nil)
        case .link: VectorFile(path: path, reason: "a symbolic link: not followed within a folder")
        default: VectorFile(path: path, reason: "not a regular file")
        }
    }
}

/// lstat(2) or stat(2): Foundation's attributes have other types if the full Foundation is loaded.
private struct FileStatus {
    enum Kind { case regular, folder, link, pipe, other }

    let kind: Kind
    let size: Int

    init?(_ path: String, followsLinks: Bool = false) {
        var status = stat()
        guard unsafe (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFIFO: .pipe
            default: .other
            }
        size = status.st_size
    }
}
