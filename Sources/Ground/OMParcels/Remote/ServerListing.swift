// The list of a remote's files on a server. Format: docs/formats/sync.md, "Over HTTP".

package import OMRecords

/// The files of a remote on a server, but for `remote`. For files that are written over, it has the digest of their bytes.
package struct ServerListing: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let file: RemoteFile
        /// 32 bytes. Nil for a pack and a message, which never change.
        package let digest: [UInt8]?

        /// - Parameter digest: That of the bytes of a head or of heads. The name of an entry of the roll has its own.
        package init(_ file: RemoteFile, digest: [UInt8]? = nil) { (self.file, self.digest) = (file, digest) }
    }

    static let version: UInt8 = 1
    package static let maximumFiles = 100_000
    /// The largest entry: kind (1), number (4), digest (32), and one byte more for a head.
    package static let maximumCount = 1 + 8 + 4 + maximumFiles * 38

    /// Rises with each write that another device must see.
    package let change: UInt64
    /// By rising bytes.
    package let entries: [Entry]

    package init(change: UInt64, _ entries: [Entry]) {
        self.change = change
        self.entries = entries.sorted { Self.bytes($0).lexicographicallyPrecedes(Self.bytes($1)) }
    }

    package var encoded: [UInt8] {
        var bytes = [Self.version]
        bytes.append(number: change)
        bytes.append(number: UInt32(entries.count))
        for entry in entries { bytes += Self.bytes(entry) }
        return bytes
    }

    /// Attack: a server lists more files than a remote can have, or one file twice with two digests.
    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        change = try cursor.number(in: span)
        let count = Int(try cursor.number(UInt32.self, in: span))
        guard count <= Self.maximumFiles else { throw MalformedBytes() }
        var entries: [Entry] = []
        var (last, files): ([UInt8], Set<RemoteFile>) = ([], [])
        for _ in 0..<count {
            let entry = try Self.entry(&cursor, span)
            let bytes = Self.bytes(entry)
            guard last.lexicographicallyPrecedes(bytes), files.insert(entry.file).inserted else { throw MalformedBytes() }
            last = bytes
            entries.append(entry)
        }
        try cursor.end(in: span)
        self.entries = entries
    }

    private static func entry(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) -> Entry {
        switch try cursor.number(UInt8.self, in: span) {
        case 1:
            let number: UInt32 = try cursor.number(in: span)
            let digest = try cursor.take(32, in: span)
            return Entry(.entry(number: number, digest: digest))
        case 2:
            let device = try device(&cursor, span)
            let isSecond = try cursor.number(UInt8.self, in: span)
            guard isSecond <= 1 else { throw MalformedBytes() }
            return Entry(.head(device: device, isSecond: isSecond == 1), digest: try cursor.take(32, in: span))
        case 3:
            let device = try device(&cursor, span)
            return Entry(.heads(device: device), digest: try cursor.take(32, in: span))
        case 4:
            let device = try device(&cursor, span)
            let number: UInt64 = try cursor.number(in: span)
            guard number > 0 else { throw MalformedBytes() }
            return Entry(.pack(device: device, number: number))
        case 5:
            let mailbox = try cursor.take(16, in: span)
            let number = try cursor.number(UInt8.self, in: span)
            guard (1...4).contains(number) else { throw MalformedBytes() }
            return Entry(.message(mailbox: mailbox, number: number))
        default: throw MalformedBytes()
        }
    }

    private static func device(_ cursor: inout ByteCursor, _ span: Span<UInt8>) throws(MalformedBytes) -> UInt32 {
        let device: UInt32 = try cursor.number(in: span)
        guard device > 0 else { throw MalformedBytes() }
        return device
    }

    private static func bytes(_ entry: Entry) -> [UInt8] {
        var bytes: [UInt8] = []
        switch entry.file {
        case .entry(let number, let digest):
            bytes = [1]
            bytes.append(number: number)
            bytes += digest
        case .head(let device, let isSecond):
            bytes = [2]
            bytes.append(number: device)
            bytes.append(isSecond ? 1 : 0)
            bytes += entry.digest ?? []
        case .heads(let device):
            bytes = [3]
            bytes.append(number: device)
            bytes += entry.digest ?? []
        case .pack(let device, let number):
            bytes = [4]
            bytes.append(number: device)
            bytes.append(number: number)
        case .message(let mailbox, let number): bytes = [5] + mailbox + [number]
        case .founding, .headCopy: preconditionFailure("a server does not list this file")
        }
        return bytes
    }
}
