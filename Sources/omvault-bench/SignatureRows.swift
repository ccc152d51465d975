// Signatures a second with one key, beside `openssl speed`, which sets its key up once and hashes nothing.

internal import OMCrypto

enum SignatureRows {
    static func all(_ options: Options) -> [Row] {
        [2048, 3072, 4096].flatMap {
            rows("RSA-\($0)", .rsa(bits: $0), .legacyRSAPKCS1(.sha256), options, "rsa\($0)")
        }
            + rows("ECDSA P-256", .ec(.p256), .ecdsa(.sha256), options, "ecdsap256")
            + rows("ECDSA P-384", .ec(.p384), .ecdsa(.sha384), options, "ecdsap384")
            + rows("Ed25519", .ed25519, .ed25519, options, "ed25519")
    }

    /// - Parameter name: what `openssl speed` calls it; its line ends with signatures and then verifications a second.
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
        let verifier: Verifier
        do { verifier = try Verifier(key.publicKey(), algorithm) } catch { throw BenchError("it does not verify") }
        return try rate(verifier, signature)
    }

    private static func rate(_ verifier: consuming Verifier, _ signature: [UInt8]) throws(BenchError) -> Double {
        try Clock.rate(each: 1) { () throws(BenchError) in
            guard (try? verifier.update(message.span)) != nil, (try? verifier.finish(signature)) != nil else {
                throw BenchError("the signature is not right")
            }
        }
    }

    /// A key, made when the first row asks for it: RSA-4096 takes seconds.
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
