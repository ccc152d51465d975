/// Where an item's record is, and what the record must digest to.
struct TreeEntry: Hashable, Sendable {
    /// The item's place: 16 bytes.
    let key: [UInt8]
    /// BLAKE2b-256 of the record.
    let digest: [UInt8]
    /// The record's row.
    let row: Int64
}
