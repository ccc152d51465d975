// An item as it is stored: sealed and padded. Only the facts that sync needs are in clear.
// Format: docs/formats/vault-format.md, "Record".

/// One version of one item, sealed.
package struct Record: Hashable, Sendable {
    /// The part of a record that everyone can read. It is the associated data of the box, so no change of it goes unnoticed.
    package struct Header: Hashable, Sendable {
        package static let count = 80
        static let version: UInt8 = 1
        /// XChaCha20-Poly1305 under a key that HKDF-SHA-256 derives for each version.
        static let suite: UInt8 = 1

        package let level: ProtectionLevel
        package let isDeleted: Bool
        /// 16 random bytes, the same for every version of an item.
        package let id: [UInt8]
        /// 1 for the first version.
        package let revision: UInt64
        /// The number of the root key whose class keys seal this record. A rekey raises it.
        package let epoch: UInt32
        /// The digest of the previous version, or zeros: 32 bytes.
        package var parent: [UInt8]
        /// 16 random bytes, so that this version has its own key.
        package let salt: [UInt8]

        package init(
            level: ProtectionLevel, isDeleted: Bool, id: [UInt8], revision: UInt64, epoch: UInt32, parent: [UInt8]?,
            salt: [UInt8]
        ) {
            precondition(id.count == 16 && salt.count == 16 && (parent?.count ?? 32) == 32, "fixed sizes")
            (self.level, self.isDeleted, self.id) = (level, isDeleted, id)
            (self.revision, self.epoch, self.salt) = (revision, epoch, salt)
            self.parent = parent ?? [UInt8](repeating: 0, count: 32)
        }

        /// version ‖ suite ‖ level ‖ flags ‖ id (16) ‖ revision (8) ‖ epoch (4) ‖ parent (32) ‖ salt (16)
        package var encoded: [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(Self.count)
            bytes += [Self.version, Self.suite, level.code, isDeleted ? 1 : 0]
            bytes += id
            bytes.append(number: revision)
            bytes.append(number: epoch)
            bytes += parent
            bytes += salt
            return bytes
        }
    }

    /// Sealed content comes in steps of this many bytes, so that its length reveals little.
    package static let step = 256
    /// The bytes that the box adds: nonce and tag.
    package static let boxOverhead = 40

    package let header: Header
    package let box: [UInt8]

    package init(header: Header, box: [UInt8]) { (self.header, self.box) = (header, box) }

    /// The bytes in this device's own vault, and in a whole backup of it. For another device there is
    /// ``PortableRecord``; code outside this package has no other encoding.
    package var stored: [UInt8] { header.encoded + box }

    package init(decoding bytes: [UInt8]) throws(MalformedBytes) {
        let parts = try Self.parts(of: bytes.span)
        (header, box) = (parts.header, Array(bytes[parts.box]))
    }

    /// The header, and the place of the box in the bytes.
    package static func parts(of span: Span<UInt8>) throws(MalformedBytes) -> (header: Header, box: Range<Int>) {
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Header.version,
            try cursor.number(UInt8.self, in: span) == Header.suite,
            let level = ProtectionLevel(code: try cursor.number(in: span))
        else { throw MalformedBytes() }
        let flags: UInt8 = try cursor.number(in: span)
        guard flags & 0xfe == 0 else { throw MalformedBytes() }
        let header = Header(
            level: level, isDeleted: flags == 1, id: try cursor.take(16, in: span),
            revision: try cursor.number(in: span), epoch: try cursor.number(in: span),
            parent: try cursor.take(32, in: span), salt: try cursor.take(16, in: span))
        let sealed = span.count - cursor.offset - Self.boxOverhead
        guard sealed > 0, sealed % Self.step == 0, (1..<UInt64(Int64.max)).contains(header.revision) else {
            throw MalformedBytes()
        }
        return (header, try cursor.skip(sealed + Self.boxOverhead, in: span))
    }
}
