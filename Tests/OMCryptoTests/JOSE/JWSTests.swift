import OMCrypto
import OMSecrets
import Testing

@Suite("Signed tokens") struct JWSTests {
    @Test("a token of each algorithm is verified by its key and gives its payload, and no other key verifies it")
    func roundTrip() throws {
        let claims = "{\"sub\":\"ä\"}"
        for (algorithm, box) in TokenKey.all {
            let header = JWSHeader(algorithm, keyID: "a \"1\"", type: "JWT")
            let bytes = try JWS.sign(Array(claims.utf8), header, with: box.key)
            let parsed = try JWS(bytes)
            #expect(parsed.header == header)
            let verified = try parsed.verified(by: box.key.publicKey(), as: algorithm)
            #expect(verified.payload.text() == claims && verified.header == header)
            let other = try PrivateKey.generate(box.key.kind).publicKey()
            #expect(throws: CryptoError.badSignature) { _ = try parsed.verified(by: other, as: algorithm) }
        }
        #expect(TokenKey.all.count == JWSAlgorithm.allCases.count)
    }

    @Test("a payload of no bytes is signed and verified")
    func empty() throws {
        let text = try JWS.sign([], JWSHeader(.edDSA), with: TokenKey.ed25519.key).text()
        #expect(text.contains(".."))
        #expect(outcome(text, TokenKey.ed25519, as: .edDSA) == .success(""))
    }

    @Test("each changed character of a token is noticed")
    func flips() throws {
        let text = try JWS.sign(Array("{\"sub\":1}".utf8), JWSHeader(.edDSA, keyID: "k"), with: TokenKey.ed25519.key).text()
        for index in text.utf8.indices {
            var changed = Array(text.utf8)
            changed[text.utf8.distance(from: text.utf8.startIndex, to: index)] ^= 1
            let result = outcome(String(decoding: changed, as: UTF8.self), TokenKey.ed25519, as: .edDSA)
            #expect((try? result.get()) == nil, "\(index)")
        }
    }

    @Test("a token in any other form than the strict one is refused, even if its signature is right")
    func malformed() throws {
        let key = TokenKey.ed25519
        func signed(_ header: String) throws -> String { try token(header) { try key.key.sign($0, .ed25519) } }
        let good = try signed("{\"alg\":\"EdDSA\"}")
        #expect(outcome(good, key, as: .edDSA) == .success("{}"))
        let parts = good.split(separator: ".").map(String.init)
        let headers = [
            "", "[]", "\"EdDSA\"", "{}", "{\"alg\":null}", "{\"alg\":[\"EdDSA\"]}", "{\"alg\":\"EdDSA\"",
            "{\"alg\":\"EdDSA\"}x", "{\"alg\":\"EdDSA\",\"alg\":\"EdDSA\"}", "{\"alg\":\"none\",\"\\u0061lg\":\"EdDSA\"}",
            "\u{FEFF}{\"alg\":\"EdDSA\"}", "{\"alg\":\"EdDSA\",\"kid\":1}", "{\"alg\":\"EdDSA\",\"typ\":null}",
            "{\"alg\":\"EdDSA\",\"kid\":\"\(String(repeating: "k", count: 513))\"}",
            "{\"alg\":\"EdDSA\",\"a\":\(String(repeating: "[", count: 40))\(String(repeating: "]", count: 40))}",
        ]
        let forms = [
            "", ".", "..", "...", parts[0], "\(parts[0]).\(parts[1])", "\(parts[0]).\(parts[1]).", ".\(parts[1]).\(parts[2])",
            "\(good).", "\(good).\(parts[2])", ".\(good)", "\(good)\n", " \(good)", "\(good)=", "\(good)==",
            "\(parts[0])=.\(parts[1]).\(parts[2])", "\(parts[0]).e30=.\(parts[2])", "\(parts[0]).e31.\(parts[2])",
            "\(parts[0]).e3.\(parts[2])", "\(parts[0]).e.\(parts[2])", "\(parts[0]).e3 0.\(parts[2])",
            "\(parts[0]).+_8.\(parts[2])", "\(parts[0]).-/8.\(parts[2])", "\(good)é", "{\"payload\":\"\(parts[1])\"}",
            "\(parts[0]).\(String(repeating: "A", count: JWS.maximumCount)).\(parts[2])",
        ]
        for text in try headers.map(signed) + forms {
            #expect(throws: CryptoError.malformedJWS, "\(text.prefix(200))") { _ = try JWS(secret(text)) }
        }
        #expect(throws: CryptoError.malformedJWS) { _ = try JWS(secret(Array("eyJ".utf8) + [0xFF, 0x2E, 0x2E, 0x41])) }
        let longest = try signed("{\"alg\":\"EdDSA\",\"kid\":\"\(String(repeating: "k", count: 512))\",\"x\":[1]}")
        #expect(outcome(longest, key, as: .edDSA) == .success("{}"))
    }

    @Test("crit and b64 are refused, even if the signature is right")
    func extensions() throws {
        for member in ["\"crit\":[\"exp\"]", "\"crit\":[]", "\"crit\":null", "\"b64\":false", "\"b64\":true,\"crit\":[\"b64\"]"] {
            let text = try token("{\"alg\":\"EdDSA\",\(member)}") { try TokenKey.ed25519.key.sign($0, .ed25519) }
            #expect(throws: CryptoError.malformedJWS, "\(member)") { _ = try JWS(secret(text)) }
        }
    }

    @Test("alg none and MACs are refused, also a MAC whose key is the public key")
    func forbiddenAlgorithms() throws {
        let spki = try Sample.rsa.key.publicKey().spki()
        let none = token("{\"alg\":\"none\"}") { _ in [] }
        #expect(throws: CryptoError.malformedJWS) { _ = try JWS(secret(none)) }
        for key in [spki, Array(KeyText.pem(spki: spki).utf8), Array(try Sample.rsa.key.publicKey().jwk().utf8)] {
            let forged = try token("{\"alg\":\"HS256\"}") { message in
                try HMAC.tag(of: message.span, .sha256, key: SecretBytes(copying: key)).array()
            }
            #expect(throws: CryptoError.algorithmNotAllowed) { _ = try JWS(secret(forged)) }
        }
        for name in [
            "none", "None", "NONE", "", "HS256", "HS384", "HS512", "rs256", "RS256 ", "RS384", "PS512", "ES512", "ES256K",
            "Ed25519", "RSA-OAEP", "dir",
        ] {
            let text = try token("{\"alg\":\"\(name)\"}") { try Sample.rsa.key.sign($0, .legacyRSAPKCS1(.sha256)) }
            #expect(throws: CryptoError.algorithmNotAllowed, "\(name)") { _ = try JWS(secret(text)) }
        }
    }

    @Test("the header chooses neither another algorithm than the caller's nor an algorithm that does not fit the key")
    func swaps() throws {
        for (algorithm, box) in TokenKey.all {
            let text = try JWS.sign([1], JWSHeader(algorithm), with: box.key).text()
            for other in JWSAlgorithm.allCases where other != algorithm {
                #expect(outcome(text, box, as: other) == .failure(.algorithmNotAllowed))
                // The header is exchanged, and the caller asks for that algorithm.
                let swapped = try token("{\"alg\":\"\(other.rawValue)\"}") { try box.key.sign($0, signature(algorithm)) }
                let fits = other.fits(box.key.kind)
                #expect(outcome(swapped, box, as: other) == .failure(fits ? .badSignature : .wrongKeyType), "\(other)")
            }
        }
    }

    private func signature(_ algorithm: JWSAlgorithm) -> SignatureAlgorithm {
        switch algorithm {
        case .rs256: .legacyRSAPKCS1(.sha256)
        case .ps256: .rsaPSS(.sha256)
        case .es256: .ecdsaFixed(.sha256)
        case .es384: .ecdsaFixed(.sha384)
        case .edDSA: .ed25519
        }
    }

    @Test("a signature in another form, or with another hash or salt, is refused")
    func signatureForms() throws {
        let others: [(JWSAlgorithm, KeyBox, SignatureAlgorithm)] = [
            (.es256, Sample.p256, .ecdsa(.sha256)), (.es256, Sample.p256, .ecdsaFixed(.sha384)),
            (.es384, TokenKey.p384, .ecdsaFixed(.sha256)), (.ps256, Sample.rsa, .rsaPSS(.sha256, salt: .bytes(0))),
            (.ps256, Sample.rsa, .rsaPSS(.sha256, salt: .any)), (.ps256, Sample.rsa, .rsaPSS(.sha384)),
            (.ps256, Sample.rsa, .rsaPSS(.sha256, mask: .sha384)), (.rs256, Sample.rsa, .legacyRSAPKCS1(.sha512)),
        ]
        for (algorithm, box, other) in others {
            let text = try token("{\"alg\":\"\(algorithm.rawValue)\"}") { try box.key.sign($0, other) }
            #expect(outcome(text, box, as: algorithm) == .failure(.badSignature), "\(other)")
        }
        // ECDSA of 0 ‖ 0, and one coordinate too few.
        for count in [64, 32, 63, 65] {
            let text = token("{\"alg\":\"ES256\"}") { _ in [UInt8](repeating: 0, count: count) }
            #expect(outcome(text, Sample.p256, as: .es256) == .failure(.badSignature), "\(count)")
        }
    }

    @Test("a key that the token brings along is never used")
    func foreignKeys() throws {
        let attacker = KeyBox { try PrivateKey.generate(.ed25519) }
        let members = [
            "\"jwk\":\(try jwk(attacker))", "\"jku\":\"https://attacker.test/jwks\"", "\"x5u\":\"https://attacker.test/c\"",
            "\"x5c\":[\"AAAA\"]",
        ]
        for member in members {
            let header = "{\"alg\":\"EdDSA\",\(member)}"
            let forged = try token(header) { try attacker.key.sign($0, .ed25519) }
            #expect(outcome(forged, TokenKey.ed25519, as: .edDSA) == .failure(.badSignature), "\(member)")
            #expect(try outcome(forged, keySet(jwk(TokenKey.ed25519))) == .failure(.badSignature), "\(member)")
            let honest = try token(header) { try TokenKey.ed25519.key.sign($0, .ed25519) }
            #expect(outcome(honest, TokenKey.ed25519, as: .edDSA) == .success("{}"), "\(member)")
        }
    }

    @Test("a signed token can have the public key in its header, and only the public key")
    func embedding() throws {
        for (algorithm, box) in TokenKey.all {
            let header = JWSHeader(algorithm, type: "dpop+jwt")
            let text = try JWS.sign([], header, with: box.key, embedsKey: true).text()
            let json = "{\"alg\":\"\(algorithm.rawValue)\",\"typ\":\"dpop+jwt\",\"jwk\":\(try jwk(box))}"
            #expect(text.hasPrefix(Base64URL.encode(Array(json.utf8)) + "."))
            #expect(outcome(text, box, as: algorithm) == .success(""))
        }
    }

    @Test("a key of another kind, size or use neither signs nor verifies")
    func unfit() throws {
        let small = KeyBox { try Insecure.generateRSA(bits: 1024) }
        let p521 = KeyBox { try PrivateKey.generate(.ec(.p521)) }
        let agreeing = KeyBox { try PrivateKey.generate(.x25519) }
        for algorithm in JWSAlgorithm.allCases {
            for box in [small, p521, agreeing] {
                #expect(throws: CryptoError.wrongKeyType) { _ = try JWS.sign([], JWSHeader(algorithm), with: box.key) }
            }
        }
        let text = try token("{\"alg\":\"RS256\"}") { try small.key.sign($0, .legacyRSAPKCS1(.sha256)) }
        #expect(outcome(text, small, as: .rs256) == .failure(.wrongKeyType))
        let pair = try TokenKey.ed25519.key.unencryptedJWK().text().dropLast() + ",\"use\":\"enc\"}"
        let encrypting = KeyBox { try KeyFile(secret(String(pair))).privateKey() }
        #expect(throws: CryptoError.keyUseNotAllowed) { _ = try JWS.sign([], JWSHeader(.edDSA), with: encrypting.key) }
        let signed = try JWS.sign([], JWSHeader(.edDSA), with: TokenKey.ed25519.key).text()
        #expect(outcome(signed, encrypting, as: .edDSA) == .failure(.keyUseNotAllowed))
    }

    @Test("no token is made that its reader would refuse")
    func limits() throws {
        let key = TokenKey.ed25519
        func sign(_ count: Int, _ header: JWSHeader) throws -> Int {
            let bytes = try JWS.sign([UInt8](repeating: 0x20, count: count), header, with: key.key)
            _ = try JWS(bytes)
            return bytes.count
        }
        // 20 bytes of header, 86 of signature, two dots.
        #expect(try sign(49071, JWSHeader(.edDSA)) == JWS.maximumCount)
        #expect(throws: CryptoError.inputTooLong) { _ = try sign(49072, JWSHeader(.edDSA)) }
        #expect(throws: CryptoError.inputTooLong) { _ = try sign(1 << 20, JWSHeader(.edDSA)) }
        _ = try sign(0, JWSHeader(.edDSA, keyID: String(repeating: "k", count: 512)))
        #expect(throws: CryptoError.inputTooLong) {
            _ = try sign(0, JWSHeader(.edDSA, keyID: String(repeating: "k", count: 513)))
        }
    }
}
