/// How the last block is filled.
public enum BlockPadding: Hashable, Sendable {
    /// 1 to a block's length of bytes, each of them their number (RFC 5652 section 6.3).
    case pkcs7
    /// None: the message is whole blocks, or any length in CTR.
    case none
}
