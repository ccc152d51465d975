import OMCrypto
import OMSecrets
import Testing

/// The uses that a JWK names (RFC 7517 sections 4.2 and 4.3), and their enforcement.
@Suite struct KeyUsesTests {
    /// The operations of a key of its kind. Of two halves the other half has no restriction.
    private enum Act: CaseIterable {
        case sign, verify, wrap, wrapPKCS1, unwrap, agree, agreeAsPeer, seal, open, recipient, identity
    }

    private static let message = Array("a message".utf8)

    private func marked(_ jwk: String, _ members: String) -> SecretBytes {
        secret(jwk.dropLast() + (members.isEmpty ? "" : ",") + members + "}")
    }

    /// The operations without this error, among those that the three pairs can do without `members`.
    private func allowed(_ members: String) throws -> Set<Act> {
        let signing = Sample.p256.key.duplicate()
        let wrapping = Sample.rsa.key.duplicate()
        let agreeing = try PrivateKey.generate(.x25519)
        func half(_ key: borrowing PrivateKey) throws -> PublicKey {
            try KeyFile(marked(key.publicKey().jwk(), members)).publicKey()
        }
        func whole(_ key: borrowing PrivateKey) throws -> PrivateKey {
            try KeyFile(marked(key.unencryptedJWK().text(), members)).privateKey()
        }
        func act(_ act: Act) throws {
            switch act {
            case .sign: _ = try whole(signing).sign(Self.message, .ecdsa(.sha256))
            case .verify:
                let signature = try signing.sign(Self.message, .ecdsa(.sha256))
                try half(signing).verify(signature, of: Self.message, .ecdsa(.sha256))
            case .wrap: _ = try half(wrapping).wrap(secret(Self.message))
            case .wrapPKCS1: _ = try Insecure.wrapPKCS1(secret(Self.message), for: half(wrapping))
            case .unwrap: _ = try whole(wrapping).unwrap(wrapping.publicKey().wrap(secret(Self.message)))
            case .agree: _ = try whole(agreeing).agree(with: agreeing.publicKey())
            case .agreeAsPeer: _ = try agreeing.agree(with: half(agreeing))
            case .seal: _ = try half(agreeing).seal(secret(Self.message))
            case .open: _ = try whole(agreeing).open(sealed: agreeing.publicKey().seal(secret(Self.message)))
            case .recipient: _ = try FileRecipient(half(agreeing))
            case .identity:
                let identity = try X25519Identity(whole(agreeing))
                // The key must also do what it names.
                _ = try identity.agree(with: agreeing.publicKey().rawBytes)
            }
        }
        var allowed: Set<Act> = []
        for candidate in Act.allCases {
            do {
                try act(candidate)
                allowed.insert(candidate)
            } catch CryptoError.keyUseNotAllowed {}
        }
        return allowed
    }

    private static let all = Set(Act.allCases)
    /// The permitted uses of the other party's key in an agreement.
    private static let peers: Set<Act> = [.agreeAsPeer, .seal, .recipient]

    @Test("a key does only what its use and its operations name")
    func enforced() throws {
        let cases: [(String, Set<Act>)] = [
            ("", Self.all),
            (#""use":"sig""#, [.sign, .verify]),
            (#""use":"enc""#, Self.all.subtracting([.sign, .verify])),
            (#""key_ops":["sign"]"#, [.sign]),
            (#""key_ops":["verify"]"#, [.verify]),
            (#""key_ops":["encrypt"]"#, [.wrap, .wrapPKCS1, .seal, .recipient]),
            (#""key_ops":["wrapKey"]"#, [.wrap, .wrapPKCS1, .seal, .recipient]),
            (#""key_ops":["decrypt"]"#, [.unwrap, .open, .identity]),
            (#""key_ops":["unwrapKey"]"#, [.unwrap, .open, .identity]),
            (#""key_ops":["deriveKey"]"#, Self.peers.union([.agree, .open, .identity])),
            (#""key_ops":["deriveBits","sign"]"#, Self.peers.union([.agree, .open, .identity, .sign])),
            (#""key_ops":["notarize"]"#, Self.peers),
            (#""key_ops":[]"#, Self.peers),
            (#""use":"sig","key_ops":["verify"]"#, [.verify]),
            (
                #""use":"enc","key_ops":["wrapKey","unwrapKey"]"#,
                [.wrap, .wrapPKCS1, .seal, .recipient, .unwrap, .open, .identity]
            ),
        ]
        for (members, acts) in cases {
            #expect(try allowed(members) == acts, "\(members)")
        }
    }

    @Test("the public half of a private key has the inverse uses, and copies keep their uses")
    func halves() throws {
        let key = try KeyFile(marked(Sample.p256.key.unencryptedJWK().text(), #""key_ops":["sign"]"#)).privateKey()
        let signature = try key.duplicate().sign(Self.message, .ecdsa(.sha256))
        try key.publicKey().verify(signature, of: Self.message, .ecdsa(.sha256))
        let other = try KeyFile(marked(Sample.rsa.key.unencryptedJWK().text(), #""use":"sig""#)).privateKey()
        #expect(throws: CryptoError.keyUseNotAllowed) { _ = try other.duplicate().unwrap([]) }
        #expect(throws: CryptoError.keyUseNotAllowed) { _ = try other.publicKey().wrap(secret("a")) }
        let file = try KeyFile(marked(Sample.rsa.key.unencryptedJWK().text(), #""key_ops":["unwrapKey","decrypt"]"#))
        let wrapped = try file.publicKey().wrap(secret("a"))
        #expect(try file.privateKey().unwrap(wrapped).array() == Array("a".utf8))
    }

    @Test(
        "malformed members make the key malformed in every use",
        arguments: [
            #""use":"both""#, #""use":"SIG""#, #""use":"""#, #""use":null"#, #""use":["sig"]"#, #""use":1"#,
            #""use":"\u0073ig""#, #""use":"sig","use":"sig""#,
            #""key_ops":"sign""#, #""key_ops":null"#, #""key_ops":{}"#, #""key_ops":[1]"#, #""key_ops":["sign",null]"#,
            #""key_ops":[["sign"]]"#, #""key_ops":["sign","sign"]"#, #""key_ops":["x","verify","x"]"#,
            #""key_ops":["\u0073ign"]"#, #""key_ops":["sign",]"#, #""key_ops":["sign"]"# + #","key_ops":[]"#,
            #""use":"sig","key_ops":["encrypt"]"#, #""use":"enc","key_ops":["decrypt","sign"]"#,
        ])
    func malformed(members: String) throws {
        let broken = CryptoError.malformedKey(.jwk)
        for jwk in [try Sample.p256.key.unencryptedJWK().text(), try Sample.p256.key.publicKey().jwk()] {
            #expect(problem(marked(jwk, members).array()) == broken)
        }
        let file = try? KeyFile(marked(Sample.p256.key.unencryptedJWK().text(), members))
        // Another code path reads the public half of a private file.
        if let file { #expect(throws: broken) { _ = try file.publicKey() } }
    }
}
