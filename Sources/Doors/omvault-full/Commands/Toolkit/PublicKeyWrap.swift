// Wrapping with a public key, for `crypto wrap` and `crypto unwrap`.

internal import OMCrypto
internal import OMSecrets
internal import OMShell

enum PublicKeyWrap {
    /// RSA-OAEP with its hash. The mask uses the same hash, unless --mgf names another.
    case oaep(DigestAlgorithm)
    /// RSA PKCS#1 v1.5.
    case pkcs1
    /// X25519, libsodium's sealed box.
    case sealedBox

    static let all =
        DigestAlgorithm.allCases.filter { $0 != .blake2b256 }.map { PublicKeyWrap.oaep($0) }
        + [.pkcs1, .sealedBox]

    /// `rsa-oaep-sha256`, `rsa-pkcs1`, `x25519`.
    var name: String {
        switch self {
        case .oaep(let hash): "rsa-oaep-\(hash.name)"
        case .pkcs1: "rsa-pkcs1"
        case .sealedBox: "x25519"
        }
    }

    var needsInsecure: Bool { if case .pkcs1 = self { true } else { hash == .insecureMD5 } }

    /// The hashes of OAEP.
    var hash: DigestAlgorithm? { if case .oaep(let hash) = self { hash } else { nil } }

    /// - Throws: ``CryptoError/unknownAlgorithm``.
    init(named name: String) throws(CryptoError) {
        guard let found = Self.all.first(where: { $0.name == name.lowercased() }) else { throw .unknownAlgorithm }
        self = found
    }

    /// The hashes of the message and of the mask.
    func hashes(_ options: PublicKeyWrapOptions) throws(CryptoError) -> [DigestAlgorithm] {
        guard let hash else { return [] }
        return [hash] + (try options.oaep(hash).mask.map { [$0] } ?? [])
    }

    func requireInsecure(_ isAllowed: Bool) throws(Failure) {
        guard !isAllowed else { return }
        try hash.map(InsecureCheck.check)
        guard needsInsecure else { return }
        throw Failure(
            .unsafeAlgorithm,
            "PKCS#1 v1.5 encryption is not safe: an attacker who can test if messages are well formed can decrypt them",
            hint: "--alg rsa-oaep-sha256, or add --insecure for interoperability")
    }

    func wrap(
        _ key: borrowing SecretBytes, under holder: borrowing PublicKey, _ options: PublicKeyWrapOptions
    ) throws -> [UInt8] {
        switch self {
        case .oaep(let hash): try holder.wrap(key, options.oaep(hash))
        case .pkcs1: try Insecure.wrapPKCS1(key, for: holder)
        case .sealedBox: try holder.seal(key)
        }
    }

    func unwrap(
        _ wrapped: [UInt8], under holder: borrowing PrivateKey, _ options: PublicKeyWrapOptions
    ) throws -> SecretBytes {
        switch self {
        case .oaep(let hash): try holder.unwrap(wrapped, options.oaep(hash))
        case .pkcs1: try holder.unwrapPKCS1(unauthenticated: wrapped)
        case .sealedBox: try holder.open(sealed: wrapped)
        }
    }
}
