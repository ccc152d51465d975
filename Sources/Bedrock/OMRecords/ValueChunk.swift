// A part of a large value as it is stored: sealed and padded. Format: docs/formats/vault-format.md, "Large values".

/// One chunk of one value, sealed.
package struct ValueChunk: Hashable, Sendable {
    /// The part of a chunk that everyone can read. It is the associated data of the box.
    package struct Header: Hashable, Sendable {
        package static let count = 56
        static let version: UInt8 = 1
        /// XChaCha20-Poly1305 under a key that HKDF-SHA-256 derives for each sealing of a chunk.
        static let suite: UInt8 = 1

        package let level: ProtectionLevel
        /// The id of the item: 16 bytes.
        package let item: [UInt8]
        /// 16 random bytes, the same through every change of level and keys.
        package let id: [UInt8]
        package let epoch: UInt32
        /// 16 random bytes, so that each sealing has its own key.
        package let salt: [UInt8]

        package init(level: ProtectionLevel, item: [UInt8], id: [UInt8], epoch: UInt32, salt: [UInt8]) {
            precondition(item.count == 16 && id.count == 16 && salt.count == 16, "fixed sizes")
            (self.level, self.item, self.id, self.epoch, self.salt) = (level, item, id, epoch, salt)
        }

        /// version ‖ suite ‖ level ‖ flags ‖ item id (16) ‖ chunk id (16) ‖ epoch (4) ‖ salt (16)
        package var encoded: [UInt8] {
            var bytes = [Self.version, Self.suite, level.code, 0] + item + id
            bytes.append(number: epoch)
            return bytes + salt
        }
    }

    /// The bytes of a value in one chunk. Its last chunk has the rest. With head and box that fits into 256 KiB, which sync
    /// carries.
    package static let valueCount = 261_888
    /// The longest stored chunk.
    package static let maximumStoredCount = Header.count + Record.boxOverhead + valueCount

    package let header: Header
    package let box: [UInt8]

    package init(header: Header, box: [UInt8]) { (self.header, self.box) = (header, box) }

    package var stored: [UInt8] { header.encoded + box }

    /// The row of a chunk with this id: the id's first 8 bytes as a signed number.
    package static func row(_ id: [UInt8]) -> Int64 {
        Int64(bitPattern: id.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    }

    /// How many chunks a value of `count` bytes has.
    package static func number(for count: Int) -> Int { (count + valueCount - 1) / valueCount }

    /// The bytes of a chunk's content with its padding.
    package static func paddedCount(_ count: Int) -> Int { (count + Record.step - 1) / Record.step * Record.step }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Header.version,
            try cursor.number(UInt8.self, in: span) == Header.suite,
            let level = ProtectionLevel(code: try cursor.number(in: span)), try cursor.number(UInt8.self, in: span) == 0
        else { throw MalformedBytes() }
        header = Header(
            level: level, item: try cursor.take(16, in: span), id: try cursor.take(16, in: span),
            epoch: try cursor.number(in: span), salt: try cursor.take(16, in: span))
        let sealed = span.count - cursor.offset - Record.boxOverhead
        guard (1...Self.valueCount).contains(sealed), sealed % Record.step == 0 else { throw MalformedBytes() }
        box = try cursor.take(sealed + Record.boxOverhead, in: span)
    }
}
