internal import OMItems
internal import OMRecords

/// A value in chunks, as its item's content names it. Format: docs/formats/vault-format.md, "Large values".
struct ChunkedValue: Hashable {
    static let digestCount = SpooledValue.digestCount
    static let idCount = 16

    /// The number of bytes of the value.
    let count: Int
    /// The digest of the whole value.
    let digest: [UInt8]
    /// The ids of its chunks, in their order.
    let ids: [[UInt8]]

    /// digest (32) ‖ ids (16 each)
    var encoded: [UInt8] { digest + ids.joined() }

    /// The bytes that a value of this length takes in its content.
    static func encodedCount(_ count: Int) -> Int { digestCount + idCount * ValueChunk.number(for: count) }

    /// The number of the value's bytes in a chunk.
    func count(ofChunk index: Int) -> Int { min(ValueChunk.valueCount, count - index * ValueChunk.valueCount) }
}
