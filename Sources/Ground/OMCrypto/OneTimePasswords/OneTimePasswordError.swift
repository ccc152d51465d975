/// Why a one-time password, or its URI, was refused. No case carries a part of the URI, which is a secret.
@nonexhaustive
public enum OneTimePasswordError: Error, Hashable, Sendable {
    /// Text that does not begin with `otpauth://`.
    case notAURI
    /// A URI of another type than `totp` and `hotp`.
    case unknownType
    /// A broken percent escape, a character that no URI has, or a parameter without a value.
    case malformed
    /// A URI without this parameter.
    case missing(OTPAuthURI.Parameter)
    /// A parameter that is there twice.
    case doubled(OTPAuthURI.Parameter)
    /// The secret is not base32, or was cut.
    case secretNotBase32
    /// The secret has no bytes.
    case emptySecret
    /// Another hash function than SHA1, SHA256 and SHA512.
    case unknownHash
    /// Fewer or more digits than are allowed.
    case digitsOutOfRange
    /// A period of no seconds, or of more than a day.
    case periodOutOfRange
    /// The counter is not a number below 2^64.
    case counterOutOfRange
    /// The counter has reached its last value, so there is no next code.
    case counterUsedUp
    /// An issuer or an account that is not text, or has a colon where the format has none.
    case unusableLabel
    /// Text longer than ``OTPAuthURI/maximumCount``.
    case tooLong
}
