// Which files to read: regular ones, of a bounded size, in an order that is the same on every machine.

internal import FoundationEssentials

enum VectorFiles {
    /// The largest published file is 5 MiB.
    static let largest = 64 << 20
    /// Folders within folders, at most.
    static let deepest = 32

    struct Found {
        let path: String
        /// Why the file is not even opened.
        let reason: String?

        var name: String { path.split(separator: "/").last.map(String.init) ?? path }

        func bytes() throws(Unreadable) -> [UInt8] {
            if let reason { throw Unreadable(reason) }
            guard let data = FileManager.default.contents(atPath: path) else { throw Unreadable("it cannot be read") }
            return [UInt8](data)
        }
    }

    static func find(_ paths: [String]) throws(VectorsError) -> [Found] {
        var found: [Found] = []
        for path in paths {
            // A path that was typed may be a link; one found in a folder could lead in circles.
            let target = URL(filePath: path).resolvingSymlinksInPath().path
            guard let kind = kind(target) else { throw .unreadable(path: path) }
            if kind == .typeDirectory {
                guard collect(path.last == "/" ? String(path.dropLast()) : path, depth: 0, into: &found) else {
                    throw .unreadable(path: path)
                }
            } else {
                guard FileManager.default.isReadableFile(atPath: target) else { throw .unreadable(path: path) }
                found.append(file(path, kind, size(target)))
            }
        }
        return found
    }

    private static func collect(_ folder: String, depth: Int, into found: inout [Found]) -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return false }
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = "\(folder)/\(name)"
            let kind = kind(path)
            if kind != .typeDirectory {
                found.append(file(path, kind, size(path)))
            } else if depth == deepest {
                found.append(Found(path: path, reason: "a folder too deep"))
            } else if !collect(path, depth: depth + 1, into: &found) {
                found.append(Found(path: path, reason: "the folder cannot be read"))
            }
        }
        return true
    }

    private static func file(_ path: String, _ kind: FileAttributeType?, _ size: Int) -> Found {
        switch kind {
        case .typeRegular where size > largest: Found(path: path, reason: "larger than 64 MiB")
        case .typeRegular: Found(path: path, reason: nil)
        case .typeSymbolicLink: Found(path: path, reason: "a symbolic link: not followed within a folder")
        default: Found(path: path, reason: "not a regular file")
        }
    }

    private static func kind(_ path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    private static func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? .max
    }
}
