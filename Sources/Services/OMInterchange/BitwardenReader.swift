// The JSON export of Bitwarden and Vaultwarden, plain or encrypted under a password: docs/reference/import.md.

internal import OMJSON
internal import OMSecrets

/// An export. Its text is read in place.
struct BitwardenReader: ~Copyable {
    private let bytes: SecretBytes
    /// The top members, by their names.
    private let members: [String: Range<Int>]

    init(_ bytes: borrowing SecretBytes) throws(InterchangeError) {
        let members = try bytes.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in
            let members = try Self.members(of: bytes)
            guard members["items"] != nil || members["encrypted"] != nil else { throw InterchangeError.otherFormat }
            return members
        }
        self.init(bytes.duplicate(), members)
    }

    private init(_ bytes: consuming SecretBytes, _ members: [String: Range<Int>]) {
        self.bytes = bytes
        self.members = members
    }

    private static func members(of bytes: Span<UInt8>) throws(InterchangeError) -> [String: Range<Int>] {
        try reading { () throws(MalformedJSON) in
            try JSONTokenizer.members(of: ForeignText.markCount(bytes)..<bytes.count, in: bytes)
        }
    }

    /// Runs `body`. Bytes that are no JSON are damage.
    static func reading<R: ~Copyable>(_ body: () throws(MalformedJSON) -> R) throws(InterchangeError) -> R {
        do throws(MalformedJSON) { return try body() } catch {
            throw .damaged("not JSON at byte \(error.position + 1): \(error.problem)")
        }
    }

    var isEncrypted: Bool {
        guard let range = members["encrypted"] else { return false }
        return bytes.withBytes { bytes in range.count == 4 && bytes[range.lowerBound] == UInt8(ascii: "t") }
    }

    func read(
        with key: borrowing ForeignKey, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        guard !isEncrypted else {
            let plain = try bytes.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in
                try BitwardenEncryption.open(members, in: bytes, with: key)
            }
            let inside = try BitwardenReader(plain)
            // Attack: an export inside an export inside an export, each with its own slow key.
            guard !inside.isEncrypted else { throw .damaged("an encrypted export within an encrypted one") }
            return try inside.read(with: key, take)
        }
        return try bytes.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in try read(in: bytes, take) }
    }

    private func read(
        in bytes: Span<UInt8>, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        guard let items = members["items"] else { throw .otherFormat }
        let folders = try names(of: "folders", in: bytes), collections = try names(of: "collections", in: bytes)
        var tokens = JSONTokenizer(items)
        guard try Self.reading({ () throws(MalformedJSON) in try tokens.token(in: bytes) }) == .list else { throw .otherFormat }
        var count = 0
        while let range = try Self.reading({ () throws(MalformedJSON) in try tokens.nextElement(in: bytes) }) {
            count += 1
            guard count <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
            let item = try Self.reading { () throws(MalformedJSON) in try JSONRanges(of: range, in: bytes) }
            try take(BitwardenItem(item, folders: folders, collections: collections).entry(in: bytes))
        }
        let known: Set = ["encrypted", "passwordProtected", "items", "folders", "collections"]
        return ForeignSummary(losses: members.keys.filter { !known.contains($0) }.sorted().map { .member($0) })
    }

    /// The names of folders or collections, by their ids.
    private func names(of member: String, in bytes: Span<UInt8>) throws(InterchangeError) -> [String: String] {
        guard let range = members[member] else { return [:] }
        let list = try Self.reading { () throws(MalformedJSON) in try JSONRanges(of: range, in: bytes) }
        var names: [String: String] = [:]
        for folder in list.elements {
            if let id = folder["id"]?.text(in: bytes), let name = folder["name"]?.text(in: bytes) { names[id] = name }
        }
        return names
    }
}
