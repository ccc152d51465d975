import OMCrypto
import OMSecrets
import Testing

@Suite("Key sets") struct JWKSetTests {
    private func signed(_ box: KeyBox, _ algorithm: JWSAlgorithm, _ keyID: String? = nil) throws -> String {
        try JWS.sign([0x61], JWSHeader(algorithm, keyID: keyID), with: box.key).text()
    }

    @Test("a key that cannot verify is skipped, and the others of its set are used")
    func skipped() throws {
        let small = KeyBox { try Insecure.generateRSA(bits: 1024) }
        let p521 = KeyBox { try PrivateKey.generate(.ec(.p521)) }
        let agreeing = KeyBox { try PrivateKey.generate(.x25519) }
        let long = String(repeating: "k", count: 513)
        let unusable = [
            "{}", "1", "null", "\"key\"", "[]", "{\"kty\":\"oct\",\"k\":\"AAAA\"}", "{\"kty\":\"AKP\",\"alg\":\"ML-DSA-44\"}",
            try jwk(small), try jwk(p521), try jwk(agreeing), try jwk(Sample.p256, "\"use\":\"enc\""),
            try jwk(Sample.p256, "\"use\":\"other\""), try jwk(Sample.p256, "\"key_ops\":[\"sign\"]"),
            try jwk(Sample.p256, "\"key_ops\":[]"), try jwk(Sample.p256, "\"use\":\"enc\",\"key_ops\":[\"verify\"]"),
            try jwk(Sample.p256, "\"kid\":1"), try jwk(Sample.p256, "\"kid\":\"\(long)\""),
            try jwk(Sample.p256, "\"alg\":\"ES512\""), try jwk(Sample.rsa, "\"alg\":\"RSA-OAEP\""),
            try jwk(Sample.p256, "\"alg\":7"), try jwk(Sample.p256).replacing("P-256", with: "P-384"),
            try jwk(Sample.rsa).replacing("\"e\":\"AQAB\"", with: "\"e\":\"AQ\""),
        ]
        for key in unusable { #expect(try keySet(key).count == 0, "\(key)") }
        let all = unusable + [try jwk(Sample.p256), try jwk(TokenKey.ed25519, "\"use\":\"sig\",\"key_ops\":[\"verify\"]")]
        let keys = try JWKSet(Array("{\"other\":[{}],\"keys\":[\(all.joined(separator: ","))]}".utf8))
        #expect(keys.count == 2)
        #expect(try outcome(signed(Sample.p256, .es256), keys) == .success("a"))
        #expect(try outcome(signed(TokenKey.ed25519, .edDSA), keys) == .success("a"))
    }

    @Test("a key with a private member is skipped, because every reader of the set can sign with it")
    func privateMembers() throws {
        for (_, box) in TokenKey.all {
            #expect(try keySet(box.key.unencryptedJWK().text()).count == 0)
            for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "\\u0064"] {
                #expect(try keySet(jwk(box, "\"\(name)\":\"AA\"")).count == 0, "\(name)")
                #expect(try keySet(jwk(box, "\"\(name)\":null")).count == 0, "\(name)")
            }
            #expect(try keySet(jwk(box)).count == 1)
        }
    }

    @Test("a set that is not strict JSON, or is too large, is refused as a whole")
    func malformed() throws {
        let key = try jwk(TokenKey.ed25519)
        let tooMany = Array(repeating: "{}", count: 65).joined(separator: ",")
        for text in [
            "", "[]", "[\(key)]", key, "{}", "{\"keys\":{}}", "{\"keys\":null}", "{\"keys\":\"\"}", "{\"keys\":[\(key),]}",
            "{\"keys\":[\(key)]", "{\"keys\":[\(key)]}x", "{\"keys\":[],\"keys\":[\(key)]}",
            "{\"keys\":[\(key)],\"\\u006beys\":[]}",
            "{\"keys\":[{\"a\":1,\"a\":1},\(key)]}", "\u{FEFF}{\"keys\":[]}", "{\"Keys\":[\(key)]}", "{\"keys\":[\(tooMany)]}",
            "{\"keys\":[\(key)],\"x\":\"\(String(repeating: " ", count: JWKSet.maximumCount))\"}",
        ] {
            #expect(throws: CryptoError.malformedKey(.jwk), "\(text.prefix(100))") { _ = try JWKSet(Array(text.utf8)) }
        }
        #expect(try keySet().count == 0)
        #expect(try JWKSet(Array("{\"keys\":[\(String(tooMany.dropLast(3)))]}".utf8)).count == 0)
    }

    @Test("a kid selects its key and no other, and an unknown kid has its own error")
    func keyIDs() throws {
        let second = KeyBox { try PrivateKey.generate(.ec(.p256)) }
        let keys = try keySet(jwk(Sample.p256, "\"kid\":\"1\""), jwk(second, "\"kid\":\"2\""), jwk(TokenKey.ed25519))
        #expect(try outcome(signed(Sample.p256, .es256, "1"), keys) == .success("a"))
        #expect(try outcome(signed(second, .es256, "2"), keys) == .success("a"))
        // The token names the other key.
        #expect(try outcome(signed(Sample.p256, .es256, "2"), keys) == .failure(.badSignature))
        // One key fits, and another one of the set did sign.
        for unknown in ["3", "", "1 ", "01", "１"] {
            #expect(try outcome(signed(Sample.p256, .es256, unknown), keys) == .failure(.unknownKeyID), "\(unknown)")
            #expect(try outcome(signed(TokenKey.ed25519, .edDSA, unknown), keys) == .failure(.unknownKeyID), "\(unknown)")
        }
        // The kid names a key of another type.
        #expect(try outcome(signed(TokenKey.ed25519, .edDSA, "1"), keys) == .failure(.wrongKeyType))
        // An escaped kid is the same kid, and another form of Unicode is another one.
        let escaped = try keySet(jwk(Sample.p256, "\"kid\":\"\\u00e9\\/\""))
        #expect(try outcome(signed(Sample.p256, .es256, "\u{E9}/"), escaped) == .success("a"))
        #expect(try outcome(signed(Sample.p256, .es256, "e\u{301}/"), escaped) == .failure(.unknownKeyID))
    }

    @Test("of two keys with one kid exactly one must fit")
    func doubleKeyIDs() throws {
        let second = KeyBox { try PrivateKey.generate(.ec(.p256)) }
        let text = try signed(Sample.p256, .es256, "1")
        let other = try jwk(TokenKey.ed25519, "\"kid\":\"1\"")
        #expect(try outcome(text, keySet(jwk(Sample.p256, "\"kid\":\"1\""), other)) == .success("a"))
        let twice = try keySet(jwk(Sample.p256, "\"kid\":\"1\""), jwk(second, "\"kid\":\"1\""))
        #expect(outcome(text, twice) == .failure(.severalKeys))
        #expect(try outcome(signed(second, .es256, "1"), twice) == .failure(.severalKeys))
    }

    @Test("without a kid exactly one key of the set must fit")
    func withoutKeyID() throws {
        let text = try signed(Sample.p256, .es256)
        let second = KeyBox { try PrivateKey.generate(.ec(.p256)) }
        let others = try jwk(Sample.rsa), key = try jwk(Sample.p256, "\"kid\":\"1\"")
        #expect(try outcome(text, keySet(others, key)) == .success("a"))
        #expect(try outcome(text, keySet(others, key, jwk(second))) == .failure(.severalKeys))
        #expect(try outcome(text, keySet(others, key, jwk(second, "\"use\":\"enc\""))) == .success("a"))
        #expect(try outcome(text, keySet(others)) == .failure(.wrongKeyType))
        #expect(try outcome(text, keySet()) == .failure(.wrongKeyType))
        #expect(try outcome(text, keySet(jwk(second))) == .failure(.badSignature))
    }

    @Test("a key's alg must be the token's, and a key without alg takes each that fits")
    func keyAlgorithms() throws {
        let plain = try keySet(jwk(Sample.rsa)), pss = try keySet(jwk(Sample.rsa, "\"alg\":\"PS256\""))
        #expect(try outcome(signed(Sample.rsa, .rs256), plain) == .success("a"))
        #expect(try outcome(signed(Sample.rsa, .ps256), plain) == .success("a"))
        #expect(try outcome(signed(Sample.rsa, .ps256), pss) == .success("a"))
        #expect(try outcome(signed(Sample.rsa, .rs256), pss) == .failure(.wrongKeyType))
        // Of two keys the one with the token's alg is taken.
        let both = try keySet(jwk(Sample.rsa, "\"alg\":\"PS256\""), jwk(Sample.rsa, "\"alg\":\"RS256\""))
        #expect(try outcome(signed(Sample.rsa, .rs256), both) == .success("a"))
    }

    @Test("only the algorithms that the caller allows are accepted")
    func allowed() throws {
        let keys = try keySet(jwk(Sample.rsa), jwk(Sample.p256))
        let text = try signed(Sample.rsa, .rs256)
        #expect(outcome(text, keys, allowing: [.rs256, .es256]) == .success("a"))
        #expect(outcome(text, keys, allowing: [.ps256, .es256]) == .failure(.algorithmNotAllowed))
        #expect(outcome(text, keys, allowing: []) == .failure(.algorithmNotAllowed))
    }

    @Test("a thumbprint is that of RFC 7638 and RFC 8037, and other members of the key do not change it")
    func thumbprints() throws {
        // RFC 8037 appendices A.2 and A.3.
        let octets = "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\",\"kid\":\"a\"}"
        #expect(
            try KeyFile(secret(octets)).publicKey().jwkThumbprint() == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        for (_, box) in TokenKey.all {
            let plain = try box.key.publicKey().jwkThumbprint()
            let more = try KeyFile(secret(jwk(box, "\"use\":\"sig\",\"kid\":\"1\""))).publicKey()
            #expect(try more.jwkThumbprint() == plain)
            #expect(try KeyFile(secret(box.key.publicKey().spki())).publicKey().jwkThumbprint() == plain)
        }
    }
}
