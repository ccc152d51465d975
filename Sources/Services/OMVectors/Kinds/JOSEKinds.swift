// Signed tokens (RFC 7515) under key sets (RFC 7517), and thumbprints of keys (RFC 7638).

internal import OMCrypto
internal import OMSecrets

/// A token under a key set. With the private key, the token is signed again and compared.
struct JWSCheck: VectorCheck {
    let keys: [UInt8]
    let algorithms: Set<JWSAlgorithm>
    let token: [UInt8]
    /// Nil: any payload.
    let payload: [UInt8]?
    /// A JWK. Nil: the token is only verified.
    let signer: [UInt8]?

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let token = SecretBytes(copying: self.token)
            let verified = try JWS(token).verified(by: JWKSet(keys), allowing: algorithms)
            guard let payload else { return .agrees }
            guard verified.payload.isEqual(to: SecretBytes(copying: payload)) else { return .differs("the payload is another") }
            guard let signer else { return .agrees }
            let key = try KeyFile(SecretBytes(copying: signer)).privateKey()
            let again = try JWS.sign(payload, verified.header, with: key)
            return again.isEqual(to: token) ? .agrees : .differs("the token is another")
        }
    }
}

/// The thumbprint of a JWK.
struct JWKThumbprintCheck: VectorCheck {
    let key: [UInt8]
    let thumbprint: String

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let found = try KeyFile(SecretBytes(copying: key)).publicKey().jwkThumbprint()
            return found == thumbprint ? .agrees : .differs("the thumbprint is another")
        }
    }
}

enum JOSEKinds {
    static let all =
        [jws, thumbprint] + ["JsonWebSignature", "JsonWebKey", "JsonWebCrypto"].map { wycheproof($0) }
        + [encryption]

    private static let jws = VectorKind.native(
        "jws", params: ["jwks", "algorithms"], test: ["jws", "payload", "key"]
    ) { (group) throws(UnreadableFile) in
        let keys = Array(try group.parameters.text("jwks").utf8)
        var algorithms: Set<JWSAlgorithm> = []
        for name in try group.parameters.texts("algorithms") {
            guard let algorithm = JWSAlgorithm(rawValue: name) else { return .skip(unsupported(name)) }
            algorithms.insert(algorithm)
        }
        let allowed = algorithms
        return .each(flips: ["jws", "payload"]) { (test, _) throws(UnreadableFile) in
            .run(
                JWSCheck(
                    keys: keys, algorithms: allowed, token: Array(try test.text("jws").utf8),
                    payload: test.isNull("payload") ? nil : try test.bytes("payload"),
                    signer: test.isNull("key") ? nil : Array(try test.text("key").utf8)))
        }
    }

    private static let thumbprint = VectorKind.native(
        "jwk-thumbprint", params: [], test: ["jwk", "thumbprint"]
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["thumbprint"]) { (test, _) throws(UnreadableFile) in
            .run(JWKThumbprintCheck(key: Array(try test.text("jwk").utf8), thumbprint: try test.text("thumbprint")))
        }
    }

    // MARK: Wycheproof

    /// A group has one key or a key set in `public`, and none for a MAC.
    private static func wycheproof(_ type: String) -> VectorKind {
        .wycheproof(type) { (group) throws(UnreadableFile) in
            guard group.parameters.has("public") else { return .skip("MACs of tokens are not supported") }
            let key = try group.parameters.object("public")
            let text = try group.parameters.objectText("public")
            let keys = key.has("keys") ? text : Array("{\"keys\":[".utf8) + text + Array("]}".utf8)
            let comment = group.parameters.has("comment") ? try group.parameters.text("comment") : ""
            guard !comment.contains("roca") else { return .skip("the weakness ROCA of a key is not looked for") }
            return .each(flips: ["jws"]) { (test, expectation) throws(UnreadableFile) in
                guard test.has("jws") else { return .skip("JSON Web Encryption is not supported") }
                let token = Array(try test.text("jws").utf8)
                // A valid token is skipped only for its algorithm. Each invalid one must be refused.
                if expectation == .valid, let name = foreignAlgorithm(token) { return .skip(unsupported(name)) }
                return .run(
                    JWSCheck(keys: keys, algorithms: Set(JWSAlgorithm.allCases), token: token, payload: nil, signer: nil))
            }
        }
    }

    private static let encryption = VectorKind.wycheproof("JsonWebEncryption") { (_) throws(UnreadableFile) in
        .skip("JSON Web Encryption is not supported")
    }

    /// The names that a token's header can have beside those of ``JWSAlgorithm``.
    private static func foreignAlgorithm(_ token: [UInt8]) -> String? {
        let header = token.prefix { $0 != UInt8(ascii: ".") }
        return ["RS384", "RS512", "PS384", "PS512", "ES512", "HS256", "HS384", "HS512"].first { name in
            Base64URL.encode(Array("{\"alg\":\"\(name)\"".utf8)).utf8.prefix(18).elementsEqual(header.prefix(18))
        }
    }

    private static func unsupported(_ name: String) -> String { "the algorithm \(name.prefix(20)) of tokens is not supported" }
}
