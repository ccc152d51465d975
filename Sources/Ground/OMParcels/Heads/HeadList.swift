package import OMRecords

/// Heads that a device keeps in its own folder for others: those of members that have none on this remote, and those that a
/// walk needs. Format: docs/formats/sync.md, "Remote".
package struct HeadList: Hashable, Sendable {
    static let version: UInt8 = 1
    package static let maximumHeads = 4096
    package static let maximumCount = 4 << 20

    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    /// By rising device, then number.
    package let heads: [Head]

    package init(vault: [UInt8], heads: [Head]) {
        precondition(vault.count == 16, "a vault's id has 16 bytes")
        self.vault = vault
        self.heads = heads.sorted { Self.precedes($0, $1) }
    }

    /// A list that a file can have: all of `own` first, then as many of the others as there is room for, the shortest ones first.
    ///
    /// Attack: a member signs heads with long contents for many numbers, so that the list of every device is longer than a file.
    package init(vault: [UInt8], own: [Head], others: [Head]) {
        var room = Self.maximumCount - 32
        var heads: [Head] = []
        func sized(_ heads: [Head]) -> [(head: Head, count: Int)] { heads.map { ($0, $0.encoded.count) } }
        for next in sized(own) + sized(others).sorted(by: { $0.count < $1.count }) {
            room -= 4 + next.count
            guard room >= 0, heads.count < Self.maximumHeads else { break }
            heads.append(next.head)
        }
        self.init(vault: vault, heads: heads)
    }

    private static func precedes(_ one: Head, _ other: Head) -> Bool {
        (one.statement.device, one.statement.number) < (other.statement.device, other.statement.number)
    }

    package var encoded: [UInt8] {
        var bytes = [Self.version] + vault
        bytes.append(number: UInt16(heads.count))
        for head in heads {
            let head = head.encoded
            bytes.append(number: UInt32(head.count))
            bytes += head
        }
        return bytes
    }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard bytes.count <= Self.maximumCount, try cursor.number(UInt8.self, in: span) == Self.version else {
            throw MalformedBytes()
        }
        vault = try cursor.take(16, in: span)
        let count = Int(try cursor.number(UInt16.self, in: span))
        var heads: [Head] = []
        for _ in 0..<count {
            let head = try Head(decoding: try cursor.take(Int(try cursor.number(UInt32.self, in: span)), in: span))
            guard head.statement.vault == vault, heads.last.map({ Self.precedes($0, head) }) ?? true else {
                throw MalformedBytes()
            }
            heads.append(head)
        }
        try cursor.end(in: span)
        guard (1...Self.maximumHeads).contains(count) else { throw MalformedBytes() }
        self.heads = heads
    }
}
