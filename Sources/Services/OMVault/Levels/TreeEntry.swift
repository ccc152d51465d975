/// The place of an item's record, and the digest that the record must have.
struct TreeEntry: Hashable, Sendable {
    /// The key in the level's tree: 16 bytes.
    let key: [UInt8]
    /// BLAKE2b-256 of the record.
    let digest: [UInt8]
    /// The record's row.
    let row: Int64
}
