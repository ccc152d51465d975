/// The length of a PSS signature's salt.
public enum PSSSaltLength: Hashable, Sendable {
    /// As long as the digest.
    case ofDigest
    case bytes(Int)
    /// For verifying, the length that the signature has; for signing, the longest that fits.
    case any
}
