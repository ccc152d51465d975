// What a folder's helper is asked. Format: docs/formats/sync.md, "The folder's helper".

internal import OMParcels
internal import OMRecords
internal import OMSystem

enum FolderRequest: Hashable {
    /// The first request, and no later one.
    case open(Opening)
    case files
    case bytes(RemoteFile)
    case write([UInt8], RemoteFile)
    case remove(RemoteFile)
    /// Writes `remote`, where there is none.
    case found([UInt8])

    /// The remote that a helper serves.
    struct Opening: Hashable {
        /// Where the user keeps the remote: an absolute path.
        let folder: String
        /// 16 bytes, like the incarnation.
        let vault: [UInt8]
        let incarnation: [UInt8]
        /// Whether the remote's folder is made if it is not there.
        let makes: Bool

        /// Nil if no file can have this path.
        init?(folder: String, vault: [UInt8], incarnation: [UInt8], makes: Bool) {
            precondition(vault.count == 16 && incarnation.count == 16, "fixed sizes")
            guard FilePath.isAbsolute(folder), folder.utf8.count <= Self.maximumPath, !folder.utf8.contains(0) else { return nil }
            (self.folder, self.vault, self.incarnation, self.makes) = (folder, vault, incarnation, makes)
        }

        /// The longest path that Linux takes.
        static let maximumPath = 4096
    }

    /// The most bytes of a request: the largest file, its path, and more than what is around them.
    static let maximumCount = Pack.maximumCount + (8 << 10)

    var encoded: [UInt8] {
        switch self {
        case .open(let opening):
            return [1, opening.makes ? 1 : 0] + opening.vault + opening.incarnation + Array(opening.folder.utf8)
        case .files: return [2]
        case .bytes(let file): return [3] + Array(file.path.utf8)
        case .write(let bytes, let file):
            let path = Array(file.path.utf8)
            var message: [UInt8] = [4]
            message.append(number: UInt16(path.count))
            return message + path + bytes
        case .remove(let file): return [5] + Array(file.path.utf8)
        case .found(let bytes): return [6] + bytes
        }
    }

    init(decoding message: [UInt8]) throws(MalformedBytes) {
        let span = message.span
        var cursor = ByteCursor()
        switch try cursor.number(UInt8.self, in: span) {
        case 1:
            let makes = try cursor.number(UInt8.self, in: span)
            let (vault, incarnation) = (try cursor.take(16, in: span), try cursor.take(16, in: span))
            let folder = try cursor.text(span.count - cursor.offset, in: span)
            guard makes <= 1, let opening = Opening(folder: folder, vault: vault, incarnation: incarnation, makes: makes == 1)
            else { throw MalformedBytes() }
            self = .open(opening)
        case 2: self = .files
        case 3: self = .bytes(try cursor.remoteFile(span.count - cursor.offset, in: span))
        case 4:
            let file = try cursor.remoteFile(Int(try cursor.number(UInt16.self, in: span)), in: span)
            self = .write(try cursor.rest(upTo: file.maximumCount, in: span), file)
        case 5: self = .remove(try cursor.remoteFile(span.count - cursor.offset, in: span))
        case 6: self = .found(try cursor.rest(upTo: RemoteFile.founding.maximumCount, in: span))
        default: throw MalformedBytes()
        }
        try cursor.end(in: span)
    }
}

extension ByteCursor {
    /// A file's path of `count` bytes.
    mutating func remoteFile(_ count: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> RemoteFile {
        guard let file = RemoteFile(path: try text(count, in: bytes)) else { throw MalformedBytes() }
        return file
    }

    /// All bytes from here on.
    mutating func rest(upTo maximum: Int, in bytes: Span<UInt8>) throws(MalformedBytes) -> [UInt8] {
        guard bytes.count - offset <= maximum else { throw MalformedBytes() }
        return try take(bytes.count - offset, in: bytes)
    }
}
