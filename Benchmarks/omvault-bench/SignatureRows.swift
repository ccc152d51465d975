// Signatures per second with one key, compared with `openssl speed`, which sets its key up once and does not hash.

internal import COpenSSL
internal import OMCrypto

enum SignatureRows {
    static func all(_ options: Options) -> [Row] {
        [2048, 3072, 4096].flatMap {
            rows("RSA-\($0)", .rsa(bits: $0), .legacyRSAPKCS1(.sha256), options, "rsa\($0)")
        }
            + rows("ECDSA P-256", .ec(.p256), .ecdsa(.sha256), options, "ecdsap256")
            + rows("ECDSA P-384", .ec(.p384), .ecdsa(.sha384), options, "ecdsap384")
            + rows("Ed25519", .ed25519, .ed25519, options, "ed25519")
            // The time of a digest is noticeable beside a P-256 signature, so these peers hash the message, as ours does.
            + [("P-256", "SHA2-256", EllipticCurve.p256, DigestAlgorithm.sha256), ("P-384", "SHA2-384", .p384, .sha384)]
            .flatMap { messages($0.0, $0.1, .ec($0.2), .ecdsa($0.3)) }
    }

    /// - Parameter name: The name for `openssl speed`, whose line ends with signatures per second, then verifications per
    ///   second.
    private static func rows(
        _ title: String, _ kind: KeyKind, _ algorithm: SignatureAlgorithm, _ options: Options, _ name: String
    ) -> [Row] {
        let pair = Pair(kind)
        return [
            Row(
                name: "\(title), sign", unit: .rate(""), asked: .ratio(0.95),
                ours: .init(label: "Signer") { () throws(BenchError) in try sign(pair.key(), algorithm) },
                peer: .init(label: "openssl speed") { () throws(BenchError) in
                    try OpenSSLSpeed(options).rate([name], field: 1)
                }),
            Row(
                name: "\(title), verify", unit: .rate(""), asked: .ratio(0.95),
                ours: .init(label: "Verifier") { () throws(BenchError) in try verify(pair.key(), algorithm) },
                peer: .init(label: "openssl speed") { () throws(BenchError) in
                    try OpenSSLSpeed(options).rate([name])
                }),
        ]
    }

    private static func messages(
        _ curve: String, _ digest: String, _ kind: KeyKind, _ algorithm: SignatureAlgorithm
    ) -> [Row] {
        let pair = Pair(kind)
        return [
            Row(
                name: "ECDSA \(curve), sign messages", unit: .rate(""), asked: .ratio(0.95),
                ours: .init(label: "Signer") { () throws(BenchError) in try sign(pair.key(), algorithm) },
                peer: .init(label: "EVP_PKEY_sign") { () throws(BenchError) in
                    try BareSignature(curve, digest).rate(message, isSigning: true)
                }),
            Row(
                name: "ECDSA \(curve), verify messages", unit: .rate(""), asked: .ratio(0.95),
                ours: .init(label: "Verifier") { () throws(BenchError) in try verify(pair.key(), algorithm) },
                peer: .init(label: "EVP_PKEY_verify") { () throws(BenchError) in
                    try BareSignature(curve, digest).rate(message, isSigning: false)
                }),
        ]
    }

    private static let message = [UInt8](repeating: 0x5A, count: 32)

    private static func sign(
        _ key: borrowing PrivateKey, _ algorithm: SignatureAlgorithm
    ) throws(BenchError) -> Double {
        guard var signer = try? Signer(key, algorithm) else { throw BenchError("OpenSSL does not sign") }
        return try Clock.rate(each: 1) { () throws(BenchError) in
            guard (try? signer.update(message.span)) != nil, (try? signer.finish()) != nil else {
                throw BenchError("it does not sign")
            }
        }
    }

    private static func verify(
        _ key: borrowing PrivateKey, _ algorithm: SignatureAlgorithm
    ) throws(BenchError) -> Double {
        guard let signature = try? key.sign(message, algorithm) else { throw BenchError("it does not sign") }
        let verifier: SignatureVerifier
        do { verifier = try SignatureVerifier(key.publicKey(), algorithm) } catch { throw BenchError("it does not verify") }
        return try rate(verifier, signature)
    }

    private static func rate(_ verifier: consuming SignatureVerifier, _ signature: [UInt8]) throws(BenchError) -> Double {
        try Clock.rate(each: 1) { () throws(BenchError) in
            guard (try? verifier.update(message.span)) != nil, (try? verifier.finish(signature)) != nil else {
                throw BenchError("the signature is not right")
            }
        }
    }

    /// A key pair. It is made when the first row asks for it, because RSA-4096 takes seconds.
    private final class Pair {
        private let kind: KeyKind
        private var made: PrivateKey?

        init(_ kind: KeyKind) { self.kind = kind }

        func key() throws(BenchError) -> PrivateKey {
            do throws(CryptoError) {
                if made == nil { made = try PrivateKey.generate(kind) }
                if let key = made?.duplicate() { return key }
            } catch {}
            throw BenchError("OpenSSL makes no \(kind.name) key")
        }
    }
}

/// OpenSSL's ECDSA without our types, for the peers' sides: the digest of a message, then its signature.
struct BareSignature: ~Copyable {
    private let key: OpaquePointer
    private let function: OpaquePointer
    private let digest: OpaquePointer

    init(_ curve: String, _ digestName: String) throws(BenchError) {
        var key: OpaquePointer?
        let maker = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(maker) }
        guard EVP_PKEY_keygen_init(maker) == 1, EVP_PKEY_CTX_set_group_name(maker, curve) == 1,
            EVP_PKEY_generate(maker, &key) == 1, let key
        else { throw BenchError("OpenSSL makes no key of \(curve)") }
        guard let function = EVP_MD_fetch(nil, digestName, nil), let digest = EVP_MD_CTX_new() else {
            throw BenchError("OpenSSL has no \(digestName)")
        }
        (self.key, self.function, self.digest) = (key, function, digest)
    }

    deinit {
        EVP_PKEY_free(key)
        EVP_MD_free(function)
        EVP_MD_CTX_free(digest)
    }

    /// Messages per second. Each message is hashed.
    borrowing func rate(_ message: [UInt8], isSigning: Bool) throws(BenchError) -> Double {
        let (signer, verifier) = (EVP_PKEY_CTX_new_from_pkey(nil, key, nil), EVP_PKEY_CTX_new_from_pkey(nil, key, nil))
        defer {
            EVP_PKEY_CTX_free(signer)
            EVP_PKEY_CTX_free(verifier)
        }
        guard EVP_PKEY_sign_init(signer) == 1, EVP_PKEY_verify_init(verifier) == 1 else {
            throw BenchError("OpenSSL sets up no signature")
        }
        var (hash, hashCount) = ([UInt8](repeating: 0, count: 64), UInt32(0))
        var (signature, count) = ([UInt8](repeating: 0, count: 160), 160)
        func hashed() -> Bool {
            EVP_DigestInit_ex2(digest, function, nil) == 1 && EVP_DigestUpdate(digest, message, message.count) == 1
                && EVP_DigestFinal_ex(digest, &hash, &hashCount) == 1
        }
        guard hashed(), EVP_PKEY_sign(signer, &signature, &count, hash, Int(hashCount)) == 1 else {
            throw BenchError("it does not sign")
        }
        return try Clock.rate(each: 1) { () throws(BenchError) in
            guard hashed() else { throw BenchError("it does not hash") }
            if isSigning {
                count = 160
                guard EVP_PKEY_sign(signer, &signature, &count, hash, Int(hashCount)) == 1 else {
                    throw BenchError("it does not sign")
                }
            } else {
                guard EVP_PKEY_verify(verifier, signature, count, hash, Int(hashCount)) == 1 else {
                    throw BenchError("the signature is not right")
                }
            }
        }
    }
}
