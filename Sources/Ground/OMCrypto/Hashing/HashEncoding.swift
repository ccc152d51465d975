// The text forms of a stored hash, by name, and the check of each.

/// The text forms of a hash.
public enum HashEncoding: String, CaseIterable, Hashable, Sendable {
    /// The bare digest in lower-case hex.
    case hex
    /// The bare digest in base64.
    case base64
    /// `{SHA-256}` or `{SaltedSHA-256}` + base64(digest ‖ salt); the salt is upper-case hex text, as on iOS.
    case sdk
    /// The same names with a salt of any bytes, as on Android.
    case sdkAndroid = "sdk-android"
    /// `{SHA}`, `{SSHA}`, `{SHA256}`, `{SSHA256}` … + base64(digest ‖ salt), RFC 2307 and OpenLDAP's pw-sha2.
    case ldap
    /// `$salted-sha256$salt$digest`, base64 without padding: a PHC string. It always has a salt.
    case phc

    /// The form of the scheme's name. Nil for the encodings without a name.
    var form: HashScheme.Form? {
        switch self {
        case .hex, .base64: nil
        case .sdk, .sdkAndroid: .sdk
        case .ldap: .ldap
        case .phc: .phc
        }
    }

    /// Whether the salt is stored in the string.
    public var holdsSalt: Bool { form != nil }

    /// - Throws: ``CryptoError/noSuchForm``, ``CryptoError/malformedHash``.
    func check(_ scheme: HashScheme, _ salt: [UInt8]) throws(CryptoError) {
        // {MD5} is LDAP's name as well as the SDK's.
        let isShared = scheme.algorithm == .insecureMD5 && !scheme.isSalted && self == .ldap
        guard scheme.form == form || isShared else { throw .noSuchForm }
        if self == .sdk, scheme.isSalted, !SaltedHash.isSaltText(salt) { throw .malformedHash }
    }
}
