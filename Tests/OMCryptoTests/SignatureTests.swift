import OMCrypto
import OMSecrets
import Testing

@Suite struct SignatureTests {
    private let message = Array("a message".utf8)

    private func problem(
        _ signature: [UInt8], _ key: borrowing PublicKey, _ algorithm: SignatureAlgorithm, _ message: [UInt8]
    ) -> CryptoError? {
        do throws(CryptoError) {
            try key.verify(signature, of: message, algorithm)
            return nil
        } catch { return error }
    }

    private static let rsaWays: [SignatureAlgorithm] =
        [.insecureSHA1, .sha224, .sha256, .sha384, .sha512, .sha3_256].flatMap { hash in
            [
                .rsaPSS(hash), .legacyRSAPKCS1(hash), .rsaPSS(hash, mask: .sha256, salt: .bytes(0)),
                .rsaPSS(hash, salt: .any),
            ]
        } + [.rsaPSS(.sha256, mask: .insecureSHA1, salt: .bytes(100))]

    @Test("every signing method verifies only its own signature")
    func ways() throws {
        let ed = try PrivateKey.generate(.ed25519)
        let p521 = try PrivateKey.generate(.ec(.p521))
        try check(Sample.rsa.key, Self.rsaWays)
        try check(Sample.p256.key, [.ecdsa(.sha256), .ecdsaFixed(.sha256), .ecdsa(.sha512), .ecdsa(.sha3_384)])
        try check(p521, [.ecdsa(.sha512), .ecdsaFixed(.sha512), .ecdsaFixed(.insecureSHA1)])
        try check(ed, [.ed25519])
    }

    private func check(_ key: borrowing PrivateKey, _ ways: [SignatureAlgorithm]) throws {
        let half = try key.publicKey()
        for way in ways {
            let signature = try key.sign(message, way)
            #expect(problem(signature, half, way, message) == nil, "\(way)")
            #expect(problem(signature, half, way, message + [0]) == .badSignature)
            #expect(problem(signature + [0], half, way, message) == .badSignature)
            #expect(problem(Array(signature.dropLast()), half, way, message) == .badSignature)
            #expect(problem([], half, way, message) == .emptySignature)
            for index in stride(from: 0, to: signature.count, by: 7) {
                var changed = signature
                changed[index] ^= 1
                #expect(problem(changed, half, way, message) == .badSignature, "\(way), byte \(index)")
            }
        }
    }

    @Test("a signature made in pieces equals the one made at once")
    func pieces() throws {
        for (box, way) in [(Sample.rsa, SignatureAlgorithm.legacyRSAPKCS1(.sha256))] {
            var signer = try Signer(box.key, way)
            for byte in message { try signer.update([byte].span) }
            #expect(try signer.finish() == box.key.sign(message, way))
        }
        let ed = try PrivateKey(ed25519: secret(Sample.seed))
        var signer = try Signer(ed, .ed25519)
        for byte in message { try signer.update([byte].span) }
        #expect(try signer.finish() == ed.sign(message, .ed25519))
    }

    @Test("one signer signs many messages, and one verifier checks each of them separately")
    func manyMessages() throws {
        let ed = KeyBox { try PrivateKey(ed25519: secret(Sample.seed)) }
        let ways: [(KeyBox, SignatureAlgorithm)] = [
            (Sample.rsa, .rsaPSS()), (Sample.rsa, .legacyRSAPKCS1(.sha512)), (Sample.p256, .ecdsaFixed(.sha256)),
            (ed, .ed25519),
        ]
        for (sample, way) in ways {
            var signer = try Signer(sample.key, way)
            var verifier = try SignatureVerifier(sample.key.publicKey(), way)
            for number in UInt8(0)..<4 {
                let message = [UInt8](repeating: number, count: 100 * Int(number))
                try signer.update(message.span)
                let signature = try signer.finish()
                try sample.key.publicKey().verify(signature, of: message, way)
                // A refused message leaves nothing behind for the next.
                try verifier.update([9].span)
                #expect(throws: CryptoError.badSignature) { try verifier.finish(signature) }
                try verifier.update([9].span)
                #expect(throws: CryptoError.emptySignature) { try verifier.finish([]) }
                try verifier.update(message.span)
                try verifier.finish(signature)
            }
        }
    }

    @Test("a key signs only with its own method")
    func mismatches() throws {
        let ed = try PrivateKey.generate(.ed25519)
        let agreeing = try PrivateKey.generate(.x25519)
        for way in [SignatureAlgorithm.rsaPSS(), .legacyRSAPKCS1(.sha256), .ecdsa(.sha256), .ed25519] {
            #expect(throws: CryptoError.wrongKeyType) { _ = try agreeing.sign(message, way) }
        }
        #expect(throws: CryptoError.wrongKeyType) { _ = try ed.sign(message, .ecdsa(.sha256)) }
        #expect(throws: CryptoError.wrongKeyType) { _ = try Sample.rsa.key.sign(message, .ecdsa(.sha256)) }
        #expect(throws: CryptoError.wrongKeyType) { _ = try Sample.p256.key.sign(message, .rsaPSS()) }
        #expect(throws: CryptoError.wrongKeyType) { _ = try SignatureAlgorithm(default: .x25519) }
    }

    @Test("a hash or a salt that does not fit the key is refused, not replaced")
    func misfits() throws {
        #expect(throws: CryptoError.cannotSign) { _ = try Sample.rsa.key.sign(message, .rsaPSS(salt: .bytes(4096))) }
        #expect(throws: CryptoError.cannotSign) { _ = try Sample.rsa.key.sign(message, .rsaPSS(salt: .bytes(-1))) }
        #expect(throws: CryptoError.cannotSign) { _ = try Sample.rsa.key.sign(message, .rsaPSS(salt: .bytes(223))) }
        #expect(throws: CryptoError.cannotSign) { _ = try Sample.rsa.key.sign(message, .rsaPSS(.blake2b256)) }
        #expect(throws: CryptoError.cannotSign) { _ = try Sample.p256.key.sign(message, .ecdsa(.blake2b256)) }
        #expect(throws: CryptoError.cannotSign) { _ = try Sample.rsa.key.sign(message, .legacyRSAPKCS1(.blake2b512)) }
        let signature = try Sample.rsa.key.sign(message, .rsaPSS(salt: .bytes(20)))
        let half = try Sample.rsa.key.publicKey()
        #expect(problem(signature, half, .rsaPSS(salt: .bytes(20)), message) == nil)
        #expect(problem(signature, half, .rsaPSS(salt: .any), message) == nil)
        #expect(problem(signature, half, .rsaPSS(salt: .bytes(21)), message) == .badSignature)
        #expect(problem(signature, half, .rsaPSS(mask: .sha512, salt: .bytes(20)), message) == .badSignature)
        #expect(problem(signature, half, .rsaPSS(.sha512, salt: .bytes(20)), message) == .badSignature)
    }

    @Test("an ECDSA signature has one spelling, and DER that other readers accept is refused")
    func strictDER() throws {
        let half = try Sample.p256.key.publicKey()
        let way = SignatureAlgorithm.ecdsa(.sha256)
        let signature = try Sample.p256.key.sign(message, way)
        let fixed = try Sample.p256.key.sign(message, .ecdsaFixed(.sha256))
        let (r, s) = (Array(fixed.prefix(32)), Array(fixed.suffix(32)))
        let integer: ([UInt8]) -> [UInt8] = { bytes in
            let digits = Array(bytes.drop { $0 == 0 })
            return der(2, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : digits)
        }
        #expect(problem(D.sequence(integer(r), integer(s)), half, way, message) == nil)
        let body = Array(signature.dropFirst(2))
        for changed in [
            [0x30, 0x81, UInt8(body.count)] + body, [0x30, 0x80] + body + [0, 0],
            D.sequence(der(2, [0, 0] + r), integer(s)), D.sequence(integer(r), integer(s), D.null),
            D.sequence(integer(s), integer(r)), D.sequence(integer(r)), D.sequence(integer(r), integer(s)) + [0],
            D.sequence(D.zero, D.zero), fixed, [0x31] + signature.dropFirst(), D.sequence(integer(r), [2, 0]),
            D.sequence(der(4, r), integer(s)), D.sequence(der(2, [0x81] + r), integer(s)),
        ] {
            #expect(problem(changed, half, way, message) == .badSignature, "\(Hex.encode(changed))")
        }
        #expect(problem(fixed, half, .ecdsaFixed(.sha256), message) == nil)
        #expect(problem([0] + fixed, half, .ecdsaFixed(.sha256), message) == .badSignature)
        #expect(problem(signature, half, .ecdsaFixed(.sha256), message) == .badSignature)
    }

    @Test("known names have their meaning, and unknown names are refused")
    func names() throws {
        let known: [(String, SignatureAlgorithm)] = [
            ("rsa-pss-sha256", .rsaPSS()), ("rsa-pss-sha512", .rsaPSS(.sha512)),
            ("rsa-pkcs1-sha1", .legacyRSAPKCS1(.insecureSHA1)),
            ("ecdsa-sha384", .ecdsa(.sha384)), ("ecdsa-p1363-sha256", .ecdsaFixed(.sha256)), ("ed25519", .ed25519),
            ("Ed25519", .ed25519), ("RSA-PSS-SHA256", .rsaPSS()),
        ]
        for (name, way) in known { #expect(try SignatureAlgorithm(named: name) == way) }
        for name in [
            "", "rsa", "rsa-pss-", "rsa-pss-md5", "rsa-pss-SHA-256", "ecdsa", "ecdsa-p1363-", "rsa-none",
        ] {
            #expect(throws: CryptoError.unknownAlgorithm) { _ = try SignatureAlgorithm(named: name) }
        }
    }

    @Test("PSS uses the requested salt length, and the fixed form of ECDSA has no room for another byte")
    func exactLengths() throws {
        let rsa = try Sample.rsa.key.publicKey()
        let short = try Sample.rsa.key.sign(message, .rsaPSS(salt: .bytes(20)))
        #expect(problem(short, rsa, .rsaPSS(), message) == .badSignature)
        #expect(problem(short, rsa, .rsaPSS(salt: .bytes(32)), message) == .badSignature)
        #expect(problem(short, rsa, .rsaPSS(salt: .bytes(20)), message) == nil)
        #expect(problem(short, rsa, .rsaPSS(salt: .any), message) == nil)
        #expect(problem(try Sample.rsa.key.sign(message, .rsaPSS()), rsa, .rsaPSS(salt: .bytes(32)), message) == nil)
        let curve = try Sample.p256.key.publicKey()
        let signature = try Sample.p256.key.sign(message, .ecdsaFixed(.sha256))
        let longer = Array(signature.prefix(32)) + [0] + signature.suffix(32)
        #expect(problem(longer, curve, .ecdsaFixed(.sha256), message) == .badSignature)
        #expect(problem(Array(longer.dropFirst(2)), curve, .ecdsaFixed(.sha256), message) == .badSignature)
    }
}
