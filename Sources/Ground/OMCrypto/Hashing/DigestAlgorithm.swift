// The hash functions by name: FIPS 180-4 (SHA-1, SHA-2), FIPS 202 (SHA-3), RFC 7693 (BLAKE2b), and RFC 1321 (MD5), which only
// old files need.

/// A hash function. ``Insecure/md5`` and ``Insecure/sha1`` no longer resist an attacker.
public struct DigestAlgorithm: CaseIterable, Hashable, Sendable {
    /// The value for a `switch`. It is not public, so the broken functions have one public name each, under ``Insecure``.
    package enum Kind: CaseIterable, Sendable {
        case insecureMD5
        case insecureSHA1
        case sha224
        case sha256
        case sha384
        case sha512
        case sha512_224
        case sha512_256
        case sha3_224
        case sha3_256
        case sha3_384
        case sha3_512
        case blake2b256
        case blake2b512
    }

    package let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    public static let allCases: [DigestAlgorithm] = Kind.allCases.map { DigestAlgorithm($0) }

    package static var insecureMD5: DigestAlgorithm { DigestAlgorithm(.insecureMD5) }
    package static var insecureSHA1: DigestAlgorithm { DigestAlgorithm(.insecureSHA1) }
    public static var sha224: DigestAlgorithm { DigestAlgorithm(.sha224) }
    public static var sha256: DigestAlgorithm { DigestAlgorithm(.sha256) }
    public static var sha384: DigestAlgorithm { DigestAlgorithm(.sha384) }
    public static var sha512: DigestAlgorithm { DigestAlgorithm(.sha512) }
    public static var sha512_224: DigestAlgorithm { DigestAlgorithm(.sha512_224) }
    public static var sha512_256: DigestAlgorithm { DigestAlgorithm(.sha512_256) }
    public static var sha3_224: DigestAlgorithm { DigestAlgorithm(.sha3_224) }
    public static var sha3_256: DigestAlgorithm { DigestAlgorithm(.sha3_256) }
    public static var sha3_384: DigestAlgorithm { DigestAlgorithm(.sha3_384) }
    public static var sha3_512: DigestAlgorithm { DigestAlgorithm(.sha3_512) }
    public static var blake2b256: DigestAlgorithm { DigestAlgorithm(.blake2b256) }
    public static var blake2b512: DigestAlgorithm { DigestAlgorithm(.blake2b512) }

    /// The algorithm that `name` means, in any case: `sha256`, the SDK's `SHA-256`, NIST's `SHA2-256`.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public init(named name: String) throws(CryptoError) {
        guard let found = Self.named[name.lowercased()] else { throw .unknownAlgorithm }
        self = found
    }

    /// The name on the command line and in vector files: `sha256`, `sha3-256`, `blake2b-512`.
    public var name: String {
        switch kind {
        case .insecureMD5: "md5"
        case .insecureSHA1: "sha1"
        case .sha224: "sha224"
        case .sha256: "sha256"
        case .sha384: "sha384"
        case .sha512: "sha512"
        case .sha512_224: "sha512-224"
        case .sha512_256: "sha512-256"
        case .sha3_224: "sha3-224"
        case .sha3_256: "sha3-256"
        case .sha3_384: "sha3-384"
        case .sha3_512: "sha3-512"
        case .blake2b256: "blake2b-256"
        case .blake2b512: "blake2b-512"
        }
    }

    /// The name between the braces of the SDK's strings: `SHA-256`. The SDK stops at SHA-512; the later names are omvault's
    /// own, in the same style.
    public var sdkName: String {
        switch kind {
        case .insecureMD5: "MD5"
        case .insecureSHA1: "SHA-1"
        case .sha224: "SHA-224"
        case .sha256: "SHA-256"
        case .sha384: "SHA-384"
        case .sha512: "SHA-512"
        case .sha512_224: "SHA-512/224"
        case .sha512_256: "SHA-512/256"
        case .sha3_224: "SHA3-224"
        case .sha3_256: "SHA3-256"
        case .sha3_384: "SHA3-384"
        case .sha3_512: "SHA3-512"
        case .blake2b256: "BLAKE2b-256"
        case .blake2b512: "BLAKE2b-512"
        }
    }

    /// The digest's length in bytes.
    public var count: Int {
        switch kind {
        case .insecureMD5: 16
        case .insecureSHA1: 20
        case .sha224, .sha512_224, .sha3_224: 28
        case .sha256, .sha512_256, .sha3_256, .blake2b256: 32
        case .sha384, .sha3_384: 48
        case .sha512, .sha3_512, .blake2b512: 64
        }
    }

    /// Whether an attacker can make two messages with one digest. A caller that creates with such a function should say so.
    public var isInsecure: Bool { self == .insecureMD5 || self == .insecureSHA1 }

    /// Whether signatures can use it: true for the standards' SHA family. Attackers forged MD5 signatures, and no signature
    /// algorithm identifier names BLAKE2b.
    var isForSignatures: Bool {
        switch kind {
        case .insecureMD5, .blake2b256, .blake2b512: false
        case .insecureSHA1, .sha224, .sha256, .sha384, .sha512, .sha512_224, .sha512_256, .sha3_224, .sha3_256,
            .sha3_384, .sha3_512:
            true
        }
    }

    /// The length in bytes of the blocks that the message is cut into. HMAC pads its key to this length.
    var blockCount: Int {
        switch kind {
        case .insecureMD5, .insecureSHA1, .sha224, .sha256: 64
        case .sha384, .sha512, .sha512_224, .sha512_256, .blake2b256, .blake2b512: 128
        case .sha3_224: 144
        case .sha3_256: 136
        case .sha3_384: 104
        case .sha3_512: 72
        }
    }

    /// OpenSSL's name. Nil for BLAKE2b-256, which OpenSSL 3.0 lacks and the bedrock's libsodium has.
    var opensslName: String? {
        switch kind {
        case .insecureMD5: "MD5"
        case .insecureSHA1: "SHA1"
        case .sha224: "SHA2-224"
        case .sha256: "SHA2-256"
        case .sha384: "SHA2-384"
        case .sha512: "SHA2-512"
        case .sha512_224: "SHA2-512/224"
        case .sha512_256: "SHA2-512/256"
        case .sha3_224: "SHA3-224"
        case .sha3_256: "SHA3-256"
        case .sha3_384: "SHA3-384"
        case .sha3_512: "SHA3-512"
        case .blake2b256: nil
        case .blake2b512: "BLAKE2B-512"
        }
    }

    /// The place in ``allCases``, for tables.
    var index: Int {
        switch kind {
        case .insecureMD5: 0
        case .insecureSHA1: 1
        case .sha224: 2
        case .sha256: 3
        case .sha384: 4
        case .sha512: 5
        case .sha512_224: 6
        case .sha512_256: 7
        case .sha3_224: 8
        case .sha3_256: 9
        case .sha3_384: 10
        case .sha3_512: 11
        case .blake2b256: 12
        case .blake2b512: 13
        }
    }

    private static let named: [String: DigestAlgorithm] = {
        var named: [String: DigestAlgorithm] = ["blake2b": .blake2b512, "blake2b512": .blake2b512]
        for algorithm in allCases {
            for name in [algorithm.name, algorithm.sdkName, algorithm.opensslName ?? "blake2b256"] {
                named[name.lowercased()] = algorithm
            }
        }
        return named
    }()
}
