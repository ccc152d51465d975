/// The padding of the last block.
public enum BlockPadding: Hashable, Sendable {
    /// From 1 byte up to a whole block. Each byte is the number of these bytes (RFC 5652 section 6.3).
    case pkcs7
    /// None: the message is whole blocks, or any length in CTR.
    case none
}
