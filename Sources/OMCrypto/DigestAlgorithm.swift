// The hash functions by name: FIPS 180-4, and RFC 1321 for the one that only old files still need.

/// A hash function. Those that no longer resist an attacker say so in their name.
public enum DigestAlgorithm: CaseIterable, Hashable, Sendable {
    case insecureMD5
    case insecureSHA1
    case sha224
    case sha256
    case sha384
    case sha512

    /// The algorithm that `name` means: `sha256`, `SHA-256`, whatever the case.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public init(named name: String) throws(CryptoError) {
        let wanted = name.lowercased()
        guard let found = Self.allCases.first(where: { $0.name == wanted || $0.sdkName.lowercased() == wanted }) else {
            throw .unknownAlgorithm
        }
        self = found
    }

    /// The name on the command line and in vector files: `sha256`.
    public var name: String {
        switch self {
        case .insecureMD5: "md5"
        case .insecureSHA1: "sha1"
        case .sha224: "sha224"
        case .sha256: "sha256"
        case .sha384: "sha384"
        case .sha512: "sha512"
        }
    }

    /// The SDK's name, which stands between the braces of its strings: `SHA-256`.
    public var sdkName: String {
        switch self {
        case .insecureMD5: "MD5"
        case .insecureSHA1: "SHA-1"
        case .sha224: "SHA-224"
        case .sha256: "SHA-256"
        case .sha384: "SHA-384"
        case .sha512: "SHA-512"
        }
    }

    /// The digest's length in bytes.
    public var count: Int {
        switch self {
        case .insecureMD5: 16
        case .insecureSHA1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Whether two messages with one digest can be made: a caller that creates with it should say so.
    public var isInsecure: Bool { self == .insecureMD5 || self == .insecureSHA1 }
}
