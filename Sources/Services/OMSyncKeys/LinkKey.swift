package import OMParcels
package import OMSecrets

/// The secret that the devices of a vault share, and that only a rekey changes. It names conflict copies and compares values, the same on every
/// device. Format: docs/formats/sync.md, "Summary" and "Merge".
package final class LinkKey: Sendable {
    private let key: Key<Hashing>
    /// The same bytes. HMAC and BLAKE2b give values that have nothing to do with each other.
    private let source: Key<Deriving>

    package init(_ key: consuming Key<Deriving>) {
        self.key = key.forHashing()
        source = key
    }

    /// A new link.
    package static func random() -> LinkKey { LinkKey(.random()) }

    /// Lends the key to the one caller that stores it or wraps it for a member.
    package func withKey<R: ~Copyable, E: Error>(_ body: (borrowing Key<Deriving>) throws(E) -> R) throws(E) -> R {
        try body(source)
    }

    /// The id of a conflict copy: 16 bytes.
    ///
    /// - Parameters:
    ///   - item: The id of the item: 16 bytes.
    ///   - causes: What the copy is made of: ``SyncedVersion/causes``.
    package func copyID(of item: [UInt8], causes: [UInt8]) -> [UInt8] {
        Array(KeyedHash.hash(causes, using: key, context: Context(.syncCopy, .bytes(item))).prefix(16))
    }

    /// 16 bytes, whose digits are in the new name of an item that loses its name.
    ///
    /// Attack: a thief computes the new name and takes it first. He cannot without the link.
    package func nameDigits(of item: [UInt8], name: [UInt8]) -> [UInt8] {
        Array(KeyedHash.hash(name, using: key, context: Context(.syncName, .bytes(item))).prefix(16))
    }

    /// The hash that a summary has in the place of a value: 32 bytes.
    ///
    /// - Parameter digest: The digest of the value: 32 bytes.
    package func valueHash(ofDigest digest: [UInt8]) -> [UInt8] {
        KeyedHash.hash(digest, using: key, context: Context(.syncValue))
    }

    /// The id of a chunk of a conflict copy: 16 bytes.
    ///
    /// - Parameters:
    ///   - chunk: The id of the chunk in the item: 16 bytes.
    ///   - copy: The id of the copy: 16 bytes.
    package func copyChunkID(of chunk: [UInt8], in copy: [UInt8]) -> [UInt8] {
        Array(KeyedHash.hash(chunk, using: key, context: Context(.syncCopyChunk, .bytes(copy))).prefix(16))
    }

    // MARK: - Names of devices

    /// - Parameters:
    ///   - member: The number of the device.
    ///   - vault: The vault's id: 16 bytes.
    package func seal(_ name: DeviceName, of member: UInt32, vault: [UInt8]) -> [UInt8] {
        let context = Self.context(member, vault)
        return AEAD.seal(SecretBytes(copying: name.padded), using: source.derive(context), context: context).bytes
    }

    /// The name of a member of the roll. Nil for a box that does not open or has no name: the device is shown by its number.
    package func name(of member: RollMember, vault: [UInt8]) -> DeviceName? {
        let context = Self.context(member.number, vault)
        guard let opened = try? AEAD.open(SealedBox(stored: member.nameBox), using: source.derive(context), context: context)
        else { return nil }
        return opened.withBytes { try? DeviceName(decodingPadded: $0) }
    }

    private static func context(_ member: UInt32, _ vault: [UInt8]) -> Context {
        Context(.syncDeviceName, .bytes(vault), .number(UInt64(member)))
    }
}
