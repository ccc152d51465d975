/// Why OMSecrets refused something. No case carries a secret or tells which byte was wrong.
@nonexhaustive
public enum SecretsError: Error, Hashable, Sendable {
    /// A box, a wrapped key or a commitment belongs to another key or context, or was changed.
    case cannotOpen
    /// Stretching parameters outside the bounds of ``Argon2id/Parameters``.
    case stretchOutOfBounds
    /// More than one lane. The bounds allow it, but this build does not compute it.
    case lanesUnsupported
    /// The machine has too little free memory for this stretch.
    case outOfMemory
    /// A password of no bytes, or of more than ``Password/maximumCount``.
    case passwordLength
    /// Text that is not strict hex, base64 or base32.
    case notCanonical
}
