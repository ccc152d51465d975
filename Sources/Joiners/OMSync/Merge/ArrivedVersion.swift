/// A version in a parcel of another member.
package struct ArrivedVersion: Hashable, Sendable {
    /// The id of the item: 16 bytes.
    package let id: [UInt8]
    /// The member whose head lists the parcel.
    package let signer: UInt32
    package let version: SyncedVersion

    package init(id: [UInt8], signer: UInt32, _ version: SyncedVersion) {
        (self.id, self.signer, self.version) = (id, signer, version)
    }
}
