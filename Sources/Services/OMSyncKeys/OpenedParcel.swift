package import OMRecords
package import OMSecrets

/// What was in the box of a parcel.
package struct OpenedParcel: ~Copyable {
    package enum Kind: UInt8, Hashable, Sendable {
        case item = 0
        case chunk = 3
    }

    package let kind: Kind
    /// The level of the lane that sealed it.
    package let level: ProtectionLevel.Availability
    /// The content of the item or chunk, with the zeros behind it.
    package let content: SecretBytes
}
