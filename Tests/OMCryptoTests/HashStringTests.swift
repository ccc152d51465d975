import OMCrypto
import OMSecrets
import Testing

/// Every spelling of a hash, written, read and refused.
@Suite struct HashStringTests {
    static let password = Array("mypassword".utf8)

    static func text(_ secret: borrowing SecretBytes) -> String {
        secret.withBytes { text in String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
    }

    private func write(_ algorithm: DigestAlgorithm, _ encoding: HashEncoding, _ salt: [UInt8]) throws -> String {
        var hash = try HashString(algorithm, encoding, salt: salt)
        hash.update(Self.password.span)
        return Self.text(hash.finish())
    }

    @Test("the written string is read again, verifies only its value, and names the same scheme")
    func roundTrip() throws {
        var written = 0
        for algorithm in DigestAlgorithm.allCases {
            for encoding in [HashEncoding.sdk, .sdkAndroid, .ldap, .phc] {
                for salt in [[], Array("A1B2C3".utf8), [0, 1, 0xFF]] as [[UInt8]] {
                    guard let text = try? write(algorithm, encoding, salt) else { continue }
                    let stored = try StoredHash(parsing: text, as: encoding)
                    #expect(stored.algorithm == algorithm)
                    #expect(stored.salt == salt)
                    #expect(try stored.matches(SecretBytes(copying: Self.password)))
                    #expect(try !stored.matches(SecretBytes(copying: Self.password + [0])))
                    written += 1
                }
            }
            for encoding in [HashEncoding.hex, .base64] {
                let text = try write(algorithm, encoding, [1, 2])
                let stored = try StoredHash(bare: text, as: encoding, algorithm, salt: [1, 2])
                #expect(try stored.matches(SecretBytes(copying: Self.password)))
            }
        }
        // SDK 14 × 2, Android 14 × 3, LDAP 6 × 3, PHC 14 × 2.
        #expect(written == 28 + 42 + 18 + 28)
    }

    @Test("a form refuses an algorithm that it has no name for")
    func forms() {
        let refused: [(DigestAlgorithm, HashEncoding, [UInt8], CryptoError)] = [
            (.sha3_256, .ldap, [1], .noSuchForm), (.sha512_256, .ldap, [], .noSuchForm),
            (.sha256, .phc, [], .noSuchForm), (.sha256, .sdk, [1], .saltNotHex),
            (.sha256, .sdk, Array("a1".utf8), .saltNotHex), (.sha256, .sdk, Array("A1B".utf8), .saltNotHex),
        ]
        for (algorithm, encoding, salt, error) in refused {
            #expect(throws: error, "\(algorithm) \(encoding)") { try write(algorithm, encoding, salt) }
        }
        #expect(throws: CryptoError.noSuchForm) {
            _ = try HashString(.sha256, .ldap, switches: SDKHashOptions(hasPrefix: false))
        }
    }

    @Test("a named form refuses strings of another form, and sdk refuses a salt that is not hex")
    func named() throws {
        let sdk = try write(.sha256, .sdk, Array("A1B2".utf8))
        let android = try write(.sha256, .sdkAndroid, [1, 2])
        let ldap = try write(.sha256, .ldap, [1, 2])
        let phc = try write(.sha256, .phc, [1, 2])
        for (text, good) in [(sdk, [.sdk, .sdkAndroid]), (android, [.sdkAndroid]), (ldap, [.ldap]), (phc, [.phc])]
            as [(String, [HashEncoding])]
        {
            for encoding in HashEncoding.allCases {
                let isRead = (try? StoredHash(parsing: text, as: encoding)) != nil
                #expect(isRead == good.contains(encoding), "\(text) as \(encoding)")
            }
        }
    }

    @Test("the caller gives what the SDK's switches leave out of the string, and every form is read")
    func written() throws {
        for encoding in [HashEncoding.sdk, .sdkAndroid] {
            for salt in [[], encoding == .sdk ? Array("A1B2".utf8) : [1, 2, 3]] as [[UInt8]] {
                for bits in 0..<8 {
                    let switches = SDKHashOptions(
                        appendsSalt: bits & 1 > 0, usesBase64: bits & 2 > 0, hasPrefix: bits & 4 > 0)
                    var hash = try HashString(.sha384, encoding, salt: salt, switches: switches)
                    hash.update(Self.password.span)
                    let text = hash.finish().withBytes { bytes in bytes.indices.map { bytes[$0] } }
                    let read = try StoredHash(
                        written: text, as: encoding, switches, algorithm: .sha384, salt: salt)
                    #expect(try read.matches(SecretBytes(copying: Self.password)))
                    #expect(try !read.matches(SecretBytes(copying: Array("other".utf8))))
                    #expect(read.scheme?.isSalted == !salt.isEmpty)
                    #expect(throws: CryptoError.self) {
                        _ = try StoredHash(
                            written: text.dropLast(), as: encoding, switches, algorithm: .sha384, salt: salt)
                    }
                }
            }
        }
    }

    @Test("a string that contradicts the caller's parameters is refused")
    func contradictions() throws {
        let noSalt = SDKHashOptions(appendsSalt: false)
        let named = Array("{SaltedSHA-256}ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g=".utf8)
        let plain = Array("{SHA-256}ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g=".utf8)
        let bare = Array("ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g=".utf8)
        let cases: [([UInt8], SDKHashOptions, DigestAlgorithm?, [UInt8], CryptoError)] = [
            (named, noSalt, nil, [], .saltRequired), (plain, noSalt, nil, [1], .saltNotSupported),
            (named, SDKHashOptions(), nil, [], .malformedHash), (named, noSalt, .sha512, [1], .noSuchForm),
            (bare, SDKHashOptions(), .sha256, [], .notPrefixed),
            (bare, SDKHashOptions(hasPrefix: false), nil, [], .noSuchForm),
            (bare, SDKHashOptions(hasPrefix: false), .sha512, [], .malformedHash),
            (bare, SDKHashOptions(appendsSalt: false, hasPrefix: false), .insecureSHA1, [], .malformedHash),
            (bare, SDKHashOptions(usesBase64: false), .sha256, [], .malformedHash),
            (Array("{SSHA256}".utf8) + bare.dropFirst(0), noSalt, nil, [1], .noSuchForm),
            (Array("{SHA-257}".utf8) + bare, noSalt, nil, [], .unknownAlgorithm),
        ]
        for (text, switches, algorithm, salt, error) in cases {
            #expect(throws: error, "\(String(decoding: text, as: UTF8.self))") {
                _ = try StoredHash(written: text, as: .sdkAndroid, switches, algorithm: algorithm, salt: salt)
            }
        }
        #expect(throws: CryptoError.noSuchForm) {
            _ = try StoredHash(written: plain, as: .ldap, SDKHashOptions(), algorithm: nil)
        }
    }

    @Test("all malformed strings are refused with an error")
    func malformed() throws {
        let braced = try write(.sha256, .ldap, [1, 2, 3])
        let phc = try write(.sha256, .phc, [1, 2, 3, 4])
        let fields = phc.split(separator: "$").map(String.init)
        let texts =
            [
                "", "{", "}", "{}", "{}AA==", "{SSHA256", "{SSHA256}", "SSHA256}" + braced.dropFirst(9), " " + braced,
                braced + " ", braced + "\n", braced + "\0", braced + "=", String(braced.dropLast()),
                braced.replacing("{SSHA256}", with: "{SHA256}"),
                braced.replacing("{SSHA256}", with: "{SSHA512}"), braced.replacing("{SSHA256}", with: "{SSHA-256}"),
                braced.replacing("{SSHA256}", with: "{{SSHA256}}"), "{" + String(repeating: "S", count: 100) + "}AAAA",
                braced.replacing("=", with: ""), "{SSHA256}" + String(repeating: "!", count: 48),
                "{SSHA256}" + String(repeating: "A", count: 43) + "=", "$", "$$", "$salted-sha256", "$salted-sha256$",
                "$salted-sha256$\(fields[1])", "$salted-sha256$\(fields[1])$", "$salted-sha256$$\(fields[2])",
                phc + "=", phc + "$", phc + "$AAAA", String(phc.dropLast()), phc.uppercased(), String(phc.dropFirst()),
                "$salted-sha256$v=1$\(fields[1])$\(fields[2])", "$salted-sha256$i=1$\(fields[1])$\(fields[2])",
                "$salted-sha257$\(fields[1])$\(fields[2])", "$sha256$\(fields[1])$\(fields[2])",
                "$salted-sha512$\(fields[1])$\(fields[2])", "$" + String(repeating: "A", count: 5000),
            ] as [String]
        #expect(texts.count >= 40)
        for text in texts {
            #expect(throws: CryptoError.self, "\(text.debugDescription)") { try StoredHash(parsing: text) }
            var checker = HashChecker(schemes: try HashSchemes(list: "all"))
            let answer = checker.check(Array(text.utf8).span, Self.password.span)
            guard case .refused = answer else {
                Issue.record("\(text.debugDescription): \(answer)")
                continue
            }
        }
    }

    @Test("noise in a good string gives an answer and no crash")
    func noise() throws {
        var random = SystemRandomNumberGenerator()
        let strings = [
            try write(.sha256, .ldap, [1, 2, 3]), try write(.sha512, .sdk, Array("A1B2".utf8)),
            try write(.sha3_256, .phc, [1, 2, 3]), "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAAAAAA",
            "$scrypt$ln=1,r=1,p=1$c29tZXNhbHQ$AAAAAAAA", "$pbkdf2-sha256$i=1,l=6$c29tZXNhbHQ$AAAAAAAA",
            "$2b$04$" + String(repeating: "a", count: 53),
        ].map { Array($0.utf8) }
        var checker = HashChecker(schemes: try HashSchemes(list: "all"))
        for round in 0..<4000 {
            var text = strings[round % strings.count]
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let place = Int.random(in: 0..<text.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: text[place] = UInt8.random(in: 0...255, using: &random)
                case 1: text.remove(at: place)
                case 2: text.insert(UInt8.random(in: 0...127, using: &random), at: place)
                default: text.append(contentsOf: text.prefix(place))
                }
                if text.isEmpty { text = [0] }
            }
            // Another digit may ask for more work than a test should do.
            let isCheap = !text.starts(with: "$a".utf8) && !text.starts(with: "$2".utf8)
            if isCheap { _ = checker.check(text.span, Self.password.span) }
            _ = try? PasswordHash(parsing: String(decoding: text, as: UTF8.self))
            _ = try? StoredHash(parsing: String(decoding: text, as: UTF8.self))
        }
    }
}

/// The SDK's full-control call.
@Suite struct SDKHashTests {
    private static let sha256 = SDKHashAlgorithm(named: "SHA-256")
    private static let salted = SDKHashAlgorithm(named: "SaltedSHA-256")

    private func call(
        _ data: String, _ salt: String?, _ algorithm: SDKHashAlgorithm, _ append: Bool, _ base64: Bool, _ prefix: Bool
    ) throws -> [UInt8] {
        try SaltedHash.hash(
            SecretBytes(copying: Array(data.utf8)), salt: salt.map { Array($0.utf8) }, algorithm: algorithm,
            appendSaltToOutput: append, base64Encode: base64, prefixOutputWithAlgorithmName: prefix
        ).withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    @Test("the three switches are independent, and with base64 off the other two are ignored")
    func switches() throws {
        let digest = try Digest.of(Array("mypasswordA1B2C3".utf8), .sha256)
        let both = Base64.encode(digest + Array("A1B2C3".utf8))
        #expect(both == "+6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04CuontBMUIyQzM=")
        for (append, prefix, expected) in [
            (true, true, "{SaltedSHA-256}" + both), (true, false, both),
            (false, true, "{SaltedSHA-256}" + Base64.encode(digest)), (false, false, Base64.encode(digest)),
        ] {
            #expect(try call("mypassword", "A1B2C3", Self.salted, append, true, prefix) == Array(expected.utf8))
            #expect(try call("mypassword", "A1B2C3", Self.salted, append, false, prefix) == digest)
        }
        // The device fingerprint: base64 without a prefix.
        let plain = try call("mypassword", nil, Self.sha256, false, true, false)
        #expect(String(decoding: plain, as: UTF8.self) == "ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g=")
        // Without base64 there is no place to append to, so there is no error.
        #expect(try call("mypassword", nil, Self.sha256, true, false, true).count == 32)
    }

    @Test("the first failure wins, in the SDK's order and with its numbers")
    func order() {
        let unknown = SDKHashAlgorithm(named: "AES")
        let cases: [(String, String?, SDKHashAlgorithm, Bool, Bool, Int)] = [
            ("", "A1", Self.sha256, true, true, 10406), ("", nil, Self.salted, true, true, 10406),
            ("", nil, unknown, true, true, 10406), ("x", "A1", Self.sha256, true, true, 10514),
            ("x", nil, Self.salted, true, true, 10513), ("x", "", Self.salted, false, false, 10513),
            ("x", nil, Self.sha256, true, true, 10515), ("x", "", unknown, true, true, 10515),
            ("x", nil, unknown, false, true, 10506), ("x", "A1", unknown, true, true, 10506),
            ("x", nil, SDKHashAlgorithm(named: "SSHA256"), false, true, 10506),
            ("x", nil, SDKHashAlgorithm(named: ""), false, true, 10506),
        ]
        for (data, salt, algorithm, append, base64, code) in cases {
            let error = #expect(throws: CryptoError.self) {
                _ = try call(data, salt, algorithm, append, base64, true)
            }
            #expect(error?.sdkCode == code, "\(data) \(salt ?? "nil") \(algorithm)")
        }
    }

    @Test("a new salt comes with its string, 0 bits mean no salt, and its errors come first")
    func tierTwo() throws {
        let secret = SecretBytes(copying: Array("mypassword".utf8))
        let made = try SaltedHash.make(of: secret, algorithm: .sha512, saltBits: 128)
        let salt = made.saltHex ?? ""
        #expect(salt.utf8.count == 32)
        let again = try SaltedHash.string(of: secret, algorithm: .sha512, saltHex: salt)
        #expect(HashStringTests.text(again) == HashStringTests.text(made.text))
        let unsalted = try SaltedHash.make(of: secret, algorithm: .sha256, saltBits: 0)
        #expect(unsalted.saltHex == nil)
        #expect(HashStringTests.text(unsalted.text) == "{SHA-256}ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g=")
        let nothing = SecretBytes(copying: [])
        for (bits, code) in [(2, 10505), (6, 10512), (0, 10406), (8, 10406)] {
            let error = #expect(throws: CryptoError.self) {
                _ = try SaltedHash.make(of: nothing, algorithm: .sha256, saltBits: bits)
            }
            #expect(error?.sdkCode == code)
        }
    }

    @Test("the SDK's PBKDF2 accepts only its salted names, and gives the key of the iOS and Android PIN")
    func pbkdf2() throws {
        let pin = SecretBytes(copying: Array("1234".utf8))
        let key = try Insecure.SDKCipher.pbkdf2Key(
            passphrase: pin, salt: "A1B2", algorithm: Self.salted, iterations: 1000, count: 32)
        #expect(
            HashStringTests.text(Hex.encode(key)) == "738c20b60a6640727588a3c632d852b95f75865a3a05f70835bf1124787e2c03")
        let android = try KeyDerivation.pbkdf2(.insecureSHA1, pin, salt: Array(0..<16), iterations: 2000, count: 32)
        #expect(
            HashStringTests.text(Hex.encode(android))
                == "3c84228b2e663877ce893f4200e862098250406c7ccbef2edbf9ea0f67e4e356")
        let nothing = SecretBytes(copying: [])
        for (name, salt, code) in [
            ("SHA-256", "A1", 10506), ("SaltedMD5", "A1", 10506), ("SaltedSHA3-256", "A1", 10506),
            ("SaltedBLAKE2b-256", "A1", 10506), ("SaltedSHA-256", "", 10513),
        ] {
            let error = #expect(throws: CryptoError.self) {
                _ = try Insecure.SDKCipher.pbkdf2Key(
                    passphrase: pin, salt: salt, algorithm: SDKHashAlgorithm(named: name), iterations: 1, count: 16)
            }
            #expect(error?.sdkCode == code)
        }
        #expect(throws: CryptoError.emptyInput) {
            _ = try Insecure.SDKCipher.pbkdf2Key(
                passphrase: nothing, salt: "", algorithm: Self.sha256, iterations: 1, count: 16)
        }
    }
}
