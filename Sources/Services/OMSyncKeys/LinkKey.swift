package import OMSecrets

/// The constant secret that the devices of a vault share. It names conflict copies and compares values, the same on every
/// device. Format: docs/formats/sync.md, "Summary" and "Merge".
package final class LinkKey: Sendable {
    private let key: Key<Hashing>

    package init(_ key: consuming Key<Hashing>) { self.key = key }

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
}
