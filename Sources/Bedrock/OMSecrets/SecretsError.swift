/// What the bedrock can refuse. No case carries a secret, nor a hint at which byte was wrong.
@nonexhaustive
public enum SecretsError: Error, Hashable, Sendable {
    /// A box, a wrapped key or a commitment does not belong to this key and this place, or was changed.
    case cannotOpen
    /// Stretching parameters outside the bounds of ``Argon2id/Parameters``.
    case stretchOutOfBounds
    /// More than one lane: read within the bounds, but not computed by this build.
    case lanesUnsupported
    /// The machine has not enough free memory for the stretch that was asked for.
    case outOfMemory
    /// A password of no bytes, or of more than ``Password/maximumCount``.
    case passwordLength
    /// Text that is not strict hex or base64.
    case notCanonical
}
