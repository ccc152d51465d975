/// The length of a PSS signature's salt.
public enum PSSSaltLength: Hashable, Sendable {
    /// As long as the digest.
    case ofDigest
    case bytes(Int)
    /// Whatever the signature says, when verifying; as much as fits, when signing.
    case any
}
