import OMCrypto
import OMSecrets
import Testing

/// The strings follow the SDK's documented layout over `mypassword`.
@Suite struct SaltedHashTests {
    static let unsalted: [(DigestAlgorithm, String)] = [
        (.insecureSHA1, "{SHA-1}kd/Z3bQZiv/FwZTNjObTOP3kcOI="),
        (.sha224, "{SHA-224}mxzbq4yEENY8qHALEtA7nwv5PTO3k2U8wJg+8w=="),
        (.sha256, "{SHA-256}ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g="),
        (.sha384, "{SHA-384}lbLTsq18J1m/PapTQk4qRyvJMnmNrjC5gmIYM6RJSSiDt66dMdMNMjcvmKvbslau"),
        (
            .sha512,
            "{SHA-512}ozb2cQgPv08qIw8xNWDd8NDBLfzxdB5J6HIqI0ZzA33Ek8qo0pHYAl9xCJ1jzqgJzIrlPlsXBUgGg32+QJnEyg=="
        ),
        (.insecureMD5, "{MD5}NIGde+6ruSYKXIVLyFs+RA=="),
    ]

    static let salted: [(DigestAlgorithm, String, String)] = [
        (.insecureSHA1, "A1B2C3", "{SaltedSHA-1}YhgZFkO+sfVaKi/s3oTDw4JDCKlBMUIyQzM="),
        (.sha224, "A1B2C3", "{SaltedSHA-224}+Hd3XfcTfyT5zYErH+WP569KzGh528bHyT0wCUExQjJDMw=="),
        (.sha256, "A1B2C3", "{SaltedSHA-256}+6yFrxrUQSYO4W2i28knEPzUKoz56uqEqkDL04CuontBMUIyQzM="),
        (
            .sha384, "A1B2C3",
            "{SaltedSHA-384}hJFgOaiWm+z1HFTmIzrZMmo57J+syl0ARSCyjSSRTTboup67d/throLan4qP44bIQTFCMkMz"
        ),
        (
            .sha512, "A1B2C3",
            "{SaltedSHA-512}enscXv8wLkpTO6PAIukKUC31BmdmEwvrndhmFhX3vChmHiGkUptcSjJC6Rg4PTXG9EAUkQ+yiJAzEQOwcT/8okExQjJDMw=="
        ),
        (
            .sha256, "000102030405060708090A0B0C0D0E0F",
            "{SaltedSHA-256}nTbGBsU2tgOybJPXBKLSG5HmS6YjBT59fbpI6QHXttkwMDAxMDIwMzA0MDUwNjA3MDgwOTBBMEIwQzBEMEUwRg=="
        ),
        (
            .sha512, "000102030405060708090A0B0C0D0E0F",
            "{SaltedSHA-512}fcQPIPFfYmLL2V+bYxQ+G2s3iBBuPWAm2r+YBDFbEidt7hgjjpPCrerLxquEyPgr0jQbuix0Ekgh7SWx74D3q"
                + "zAwMDEwMjAzMDQwNTA2MDcwODA5MEEwQjBDMEQwRTBG"
        ),
    ]

    static let android =
        "{SaltedSHA-512}Btj8LRmddOz94/aL/2e2O6UEIzYQlGN2SuPG0/E/JdPhuIYfj86MYWV5+rJSkVUJXNjkYn+MeAKHT4Z0XL9MkgABAgMEBQYH"

    static func password(_ text: String = "mypassword") -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    private func isMatch(_ stored: StoredHash, _ password: String = "mypassword") throws -> Bool {
        try stored.matches(Self.password(password))
    }

    private func string(_ algorithm: DigestAlgorithm, _ salt: String?) throws -> String {
        try SaltedHash.string(of: Self.password(), algorithm: algorithm, saltHex: salt)
            .withBytes { text in String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
    }

    @Test("every string is the SDK's, byte for byte")
    func strings() throws {
        for (algorithm, expected) in Self.unsalted { #expect(try string(algorithm, nil) == expected) }
        for (algorithm, salt, expected) in Self.salted { #expect(try string(algorithm, salt) == expected) }
    }

    @Test("every string of the SDK verifies only its password, in the Android form too")
    func verification() throws {
        for text in Self.unsalted.map(\.1) + Self.salted.map(\.2) + [Self.android] {
            let stored = try StoredHash(parsing: text)
            #expect(try isMatch(stored))
            for other in ["", "mypasswor", "mypassword ", "Mypassword", "mypassword\0"] {
                #expect(try !isMatch(stored, other))
            }
        }
    }

    @Test("names match in any case, and LDAP's names mean the same")
    func names() throws {
        let text = Self.salted[2].2
        for name in ["{saltedsha-256}", "{SSHA256}", "{ssha256}"] {
            let renamed = name + text.dropFirst("{SaltedSHA-256}".count)
            #expect(try isMatch(StoredHash(parsing: renamed)))
        }
        #expect(try StoredHash(parsing: "{SHA}kd/Z3bQZiv/FwZTNjObTOP3kcOI=").algorithm == .insecureSHA1)
    }

    @Test("a malformed string is refused with its error")
    func malformed() {
        let body = String(Self.salted[2].2.dropFirst("{SaltedSHA-256}".count))
        let cases: [(String, CryptoError)] = [
            ("", .notPrefixed), ("mypassword", .notPrefixed), ("{SaltedSHA-256" + body, .notPrefixed),
            (" {SaltedSHA-256}" + body, .notPrefixed), ("{}" + body, .unknownAlgorithm),
            ("{SaltedSHA-257}" + body, .unknownAlgorithm), ("{PlainText}mypassword", .unknownAlgorithm),
            ("{SaltedSHA-256}", .malformedHash), ("{SHA-256}" + body, .malformedHash),
            ("{SaltedSHA-256}" + body + "\n", .malformedHash), ("{SaltedSHA-256}" + body.dropLast(), .malformedHash),
            ("{SaltedSHA-512}" + body, .malformedHash),
            ("{SaltedSHA-256}" + body.replacing("+", with: "-"), .malformedHash),
            ("{SaltedSHA-256}ieAVNqwgcnlAnU3h5SU+AfShdp5pbbDWBiypuPVnZ8g=", .malformedHash),
        ]
        for (text, error) in cases { #expect(throws: error, "\(text)") { try StoredHash(parsing: text) } }
    }

    @Test("a salt has the requested bits, rounded up to whole bytes, in upper-case hex")
    func salts() throws {
        for (bits, digits) in [(4, 2), (8, 2), (12, 4), (24, 6), (128, 32), (1 << 20, 1 << 18)] {
            let salt = try SaltedHash.generateSalt(bits: bits)
            #expect(salt.utf8.count == digits)
            #expect(salt.allSatisfy { "0123456789ABCDEF".contains($0) })
        }
        #expect(try SaltedHash.generateSalt(bits: 128) != SaltedHash.generateSalt(bits: 128))
    }

    @Test("the SDK's rules refuse with the SDK's numbers, in its order")
    func refusals() {
        let salts: [(Int, Int)] = [(.min, 10505), (-4, 10505), (0, 10505), (3, 10505), (5, 10512), (126, 10512)]
        for (bits, code) in salts {
            let error = #expect(throws: CryptoError.self) { try SaltedHash.generateSalt(bits: bits) }
            #expect(error?.sdkCode == code, "\(bits)")
        }
        let strings: [(String, String?, Int)] = [
            ("", nil, 10406), ("", "", 10406), ("x", "", 10513), ("x", "A1B", 10502), ("x", "a1", 10502),
            ("x", "A1 ", 10502), ("x", "G0", 10502),
        ]
        for (data, salt, code) in strings {
            let error = #expect(throws: CryptoError.self) {
                _ = try SaltedHash.string(of: Self.password(data), algorithm: .sha256, saltHex: salt)
            }
            #expect(error?.sdkCode == code, "\(data) \(salt ?? "nil")")
        }
    }
}
