// The SDK's twelve ways to protect an offline password. Here a scheme is the inner function of a slot. Argon2id and the
// device key are always the outer one, so the stored value is hard to guess under any scheme.

internal import OMCrypto
internal import OMSecrets

/// The values of `CryptoScheme`, as the SDK spells them.
public enum CryptoScheme: String, CaseIterable, Hashable, Sendable {
    case plainText = "PlainText"
    case aes = "AES"
    case sha1 = "SHA-1"
    case sha224 = "SHA-224"
    case sha256 = "SHA-256"
    case sha384 = "SHA-384"
    case sha512 = "SHA-512"
    case saltedSHA1 = "SaltedSHA-1"
    case saltedSHA224 = "SaltedSHA-224"
    case saltedSHA256 = "SaltedSHA-256"
    case saltedSHA384 = "SaltedSHA-384"
    case saltedSHA512 = "SaltedSHA-512"

    /// The scheme of this name. As in the SDK, case does not count.
    ///
    /// - Returns: nil for any other name. For such a name the SDK used PlainText.
    public init?(named name: String) {
        let wanted = Array(name.lowercased().utf8)
        let found = Self.allCases.first { Array($0.rawValue.lowercased().utf8) == wanted }
        guard let found else { return nil }
        self = found
    }

    /// The SDK's own number, which a row stores.
    var code: UInt8 {
        switch self {
        case .plainText: 0
        case .sha1: 1
        case .sha224: 2
        case .sha256: 3
        case .sha384: 4
        case .sha512: 5
        case .saltedSHA1: 6
        case .saltedSHA224: 7
        case .saltedSHA256: 8
        case .saltedSHA384: 9
        case .saltedSHA512: 10
        case .aes: 11
        }
    }

    init?(code: UInt8) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }

    /// The input of the stretch for `password`. For the hashes it is the SDK's whole string. For PlainText and AES it
    /// is the typed bytes: here these two store nothing recoverable.
    ///
    /// - Parameter salt: Used as upper-case hex digits, and only by the salted schemes.
    func inner(of password: borrowing Password, salt: [UInt8]) throws(AuthError) -> SecretBytes {
        guard let algorithm else { return password.bytes.duplicate() }
        let saltHex = isSalted ? Hex.encode(salt).uppercased() : nil
        do { return try SaltedHash.string(of: password.bytes, algorithm: algorithm, saltHex: saltHex) } catch {
            // A password has 1 byte to 1 MiB, and the salt is hex. So only the algorithm can be missing.
            throw .schemeUnavailable
        }
    }

    private var isSalted: Bool {
        switch self {
        case .saltedSHA1, .saltedSHA224, .saltedSHA256, .saltedSHA384, .saltedSHA512: true
        case .plainText, .aes, .sha1, .sha224, .sha256, .sha384, .sha512: false
        }
    }

    private var algorithm: DigestAlgorithm? {
        switch self {
        case .plainText, .aes: nil
        case .sha1, .saltedSHA1: .insecureSHA1
        case .sha224, .saltedSHA224: .sha224
        case .sha256, .saltedSHA256: .sha256
        case .sha384, .saltedSHA384: .sha384
        case .sha512, .saltedSHA512: .sha512
        }
    }
}
