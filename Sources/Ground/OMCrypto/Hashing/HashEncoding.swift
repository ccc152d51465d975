// How a hash is spelled, by name, and the one place that spells it.

public import OMSecrets

/// The spellings of a hash.
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
    /// `$salted-sha256$salt$digest`, base64 without padding: a PHC string; there is no unsalted one.
    case phc

    /// The form of the names; nil for the encodings without one.
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

/// The string of a hash, computed from data that arrives piece by piece.
///
///     var hash = try HashString(.sha256, .ldap, salt: Random.bytes(16))
///     hash.update(password)
///     let text = hash.finish()
public struct HashString: ~Copyable {
    private let encoding: HashEncoding
    private let salt: [UInt8]
    private var digest: Digest
    private let prefix: String
    private let switches: SDKSwitches

    /// - Parameters:
    ///   - salt: The bytes that follow the data into the hash; empty for the unsalted form. For ``HashEncoding/sdk`` the
    ///     text itself. For hex and base64 it is hashed too, but not stored.
    ///   - switches: the SDK's, for its two encodings only.
    /// - Throws: ``CryptoError/noSuchForm`` where the encoding has no name for it, ``CryptoError/saltNotHex``,
    ///   ``CryptoError/unknownAlgorithm``.
    public init(
        _ algorithm: DigestAlgorithm, _ encoding: HashEncoding, salt: [UInt8] = [],
        switches: SDKSwitches = SDKSwitches()
    ) throws(CryptoError) {
        guard switches == SDKSwitches() || encoding.form == .sdk else { throw .noSuchForm }
        if encoding == .sdk, !salt.isEmpty, !SaltedHash.isSaltText(salt) { throw .saltNotHex }
        let prefix = try Self.prefix(algorithm, encoding, isSalted: !salt.isEmpty)
        let digest = try Digest(algorithm)
        self.prefix = prefix
        self.encoding = encoding
        self.salt = salt
        self.switches = switches
        self.digest = digest
    }

    private static func prefix(
        _ algorithm: DigestAlgorithm, _ encoding: HashEncoding, isSalted: Bool
    ) throws(CryptoError) -> String {
        guard let form = encoding.form else { return "" }
        let name = try HashScheme(form, algorithm, isSalted: isSalted).name
        return form == .phc ? "$\(name)$" : "{\(name)}"
    }

    public mutating func update(_ bytes: Span<UInt8>) { digest.update(bytes) }
    public mutating func update(_ secret: borrowing SecretBytes) { digest.update(secret) }

    /// The string of everything since the start or the last `finish`, with the same salt.
    public mutating func finish() -> SecretBytes {
        let salt = salt
        digest.update(salt.span)
        let digest = self.digest.finishSecret()
        switch encoding {
        case .hex: return Hex.encode(digest)
        case .base64: return Base64.encode(digest)
        case .sdk, .sdkAndroid, .ldap: return switches.text(digest, salt: salt, prefix: prefix)
        case .phc:
            var text = SecretBuffer()
            text.append(prefix.utf8Span.span)
            text.append(Base64.encode(SecretBytes(copying: salt), .unpadded))
            text.append(UInt8(ascii: "$"))
            text.append(Base64.encode(digest, .unpadded))
            return text.finish()
        }
    }
}

/// The three switches of the SDK's call. With base64 off the other two are ignored without an error, as the SDK does;
/// with it on they are independent of each other.
public struct SDKSwitches: Hashable, Sendable {
    public var appendsSalt: Bool
    public var usesBase64: Bool
    public var hasPrefix: Bool

    public init(appendsSalt: Bool = true, usesBase64: Bool = true, hasPrefix: Bool = true) {
        (self.appendsSalt, self.usesBase64, self.hasPrefix) = (appendsSalt, usesBase64, hasPrefix)
    }

    func text(_ digest: borrowing SecretBytes, salt: [UInt8], prefix: String) -> SecretBytes {
        guard usesBase64 else { return digest.duplicate() }
        var body = SecretBuffer(capacity: digest.count + salt.count)
        body.append(digest)
        if appendsSalt { body.append(salt.span) }
        var text = SecretBuffer()
        if hasPrefix { text.append(prefix.utf8Span.span) }
        text.append(Base64.encode(body.finish()))
        return text.finish()
    }
}
