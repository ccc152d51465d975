// What a folder's helper answers. Format: docs/formats/sync.md, "The folder's helper".

internal import Glibc
internal import OMParcels
internal import OMRecords
internal import OMRemote
internal import OMSystem

enum FolderReply: Hashable {
    case failed(StorageError)
    case done
    /// The file is not there, or is none that a reader takes.
    case none
    case bytes([UInt8])
    case files([RemoteFile])

    /// All files of a remote with the longest usual paths, and more than that.
    static let maximumList = 16 << 20
    private static let highestError: UInt32 = 4095

    var encoded: [UInt8] {
        switch self {
        case .failed(let error):
            var message: [UInt8] = [0]
            message.append(number: UInt32(error.code))
            return message
        case .done: return [1]
        case .none: return [2]
        case .bytes(let bytes): return [3] + bytes
        case .files(let files):
            var message: [UInt8] = [4]
            for file in files {
                let path = file.path.utf8
                message.append(number: UInt16(path.count))
                message += path
            }
            return message
        }
    }

    /// Attack: an attacker has taken over the helper, which then answers with more than it was asked for, or with more than a
    /// remote can have.
    ///
    /// - Throws: For an answer that does not fit the request.
    init(decoding message: [UInt8], to request: FolderRequest) throws(MalformedBytes) {
        let span = message.span
        var cursor = ByteCursor()
        switch (try cursor.number(UInt8.self, in: span), request) {
        case (0, _):
            let code = try cursor.number(UInt32.self, in: span)
            guard (1...Self.highestError).contains(code) else { throw MalformedBytes() }
            errno = Int32(code)
            self = .failed(.last)
        case (1, .open), (1, .write), (1, .remove), (1, .found): self = .done
        case (2, .bytes), (2, .remove): self = .none
        case (3, .bytes(let file)): self = .bytes(try cursor.rest(upTo: file.maximumCount, in: span))
        case (4, .files):
            var list = RemoteList()
            while cursor.offset < span.count {
                let file = try cursor.remoteFile(Int(try cursor.number(UInt16.self, in: span)), in: span)
                guard (try? list.add(file)) == true else { throw MalformedBytes() }
            }
            self = .files(list.files)
        default: throw MalformedBytes()
        }
        try cursor.end(in: span)
    }
}

extension FolderRequest {
    /// The most bytes of an answer.
    var maximumReply: Int {
        switch self {
        case .files: FolderReply.maximumList
        case .bytes(let file): 1 + file.maximumCount
        case .open, .write, .remove, .found: 1 + MemoryLayout<UInt32>.size
        }
    }
}
