import Foundation
import OMCrypto
import OMSecrets
import Testing

@Suite struct PasswordHashTests {
    static func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

    /// Quick work factors.
    static let functions: [PasswordFunction] = [
        .argon2(.argon2id, .init(memoryKiB: 64, passes: 1, lanes: 1)),
        .argon2(.argon2i, .init(memoryKiB: 64, passes: 2, lanes: 3)),
        .argon2(.argon2d, .init(memoryKiB: 64, passes: 1, lanes: 2)),
        .scrypt(logCost: 4, blockSize: 8, parallelism: 2), .pbkdf2(.sha256, iterations: 10),
        .pbkdf2(.sha3_512, iterations: 3), .bcrypt(cost: 4),
        .crypt(.sha256crypt, cost: 1000), .crypt(.sha512crypt, cost: 1001), .crypt(.yescrypt, cost: 1),
    ]

    @Test("a hash string is read with its parameters, and verifies only its password")
    func roundTrip() throws {
        for function in Self.functions {
            let made = try PasswordHash.make(Self.secret("correct horse"), function)
            let read = try PasswordHash(parsing: made.text)
            #expect(read == made)
            #expect(read.function == function)
            #expect(try read.matches(Self.secret("correct horse")))
            for other in ["", "correct horsf", "correct horse "] { #expect(try !read.matches(Self.secret(other))) }
            #expect(try PasswordHash.make(Self.secret("correct horse"), function).text != made.text)
        }
    }

    @Test("the short call is Argon2id with 64 MiB and 3 passes")
    func standard() throws {
        let made = try PasswordHash.make(Self.secret("x"))
        #expect(made.text.hasPrefix("$argon2id$v=19$m=65536,t=3,p=1$"))
        for family in PasswordFunction.Family.allCases { #expect(!PasswordFunction.standard(family).isWeak) }
        for function in Self.functions { #expect(function.isWeak) }
    }

    @Test("Argon2's secret and associated data both count, and other functions refuse them")
    func secretAndData() throws {
        let function = PasswordFunction.argon2(.argon2id, .init(memoryKiB: 64, passes: 1, lanes: 1))
        let made = try PasswordHash.make(
            Self.secret("pw"), function, secret: Self.secret("key"), associatedData: [1, 2, 3])
        #expect(made.text.contains(",data=AQID$"))
        let read = try PasswordHash(parsing: made.text)
        #expect(try read.matches(Self.secret("pw"), secret: Self.secret("key")))
        #expect(try !read.matches(Self.secret("pw")))
        #expect(try !read.matches(Self.secret("pw"), secret: Self.secret("kez")))
        let other = made.text.replacing("data=AQID", with: "data=AQIE")
        #expect(try !PasswordHash(parsing: other).matches(Self.secret("pw"), secret: Self.secret("key")))
        for function in Self.functions.dropFirst(3) {
            #expect(throws: CryptoError.noSuchForm) {
                try PasswordHash.make(Self.secret("pw"), function, secret: Self.secret("key"))
            }
            let plain = try PasswordHash.make(Self.secret("pw"), function)
            #expect(throws: CryptoError.noSuchForm) {
                try plain.matches(Self.secret("pw"), secret: Self.secret("key"))
            }
        }
    }

    @Test("malformed strings are refused before any computation")
    func malformed() {
        let salt = "c29tZXNhbHRzb21lc2FsdA"
        let hash = "xJ0kE8g7bYyD0v4p3bq2XJ3Q1c0m7wq9h2b8n5s4t1A"
        let texts = [
            "", "$", "$$", "$argon2id", "$argon2id$v=19$m=64,t=1,p=1", "$argon2id$v=19$m=64,t=1,p=1$\(salt)",
            "$argon2id$v=19$m=64,t=1,p=1$\(salt)$", "$argon2id$v=19$m=64,t=1$\(salt)$\(hash)",
            "$argon2id$v=19$t=1,m=64,p=1$\(salt)$\(hash)", "$argon2id$v=19$m=64,t=1,p=1,x=1$\(salt)$\(hash)",
            "$argon2id$v=18$m=64,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=019$m=64,t=1,p=1$\(salt)$\(hash)",
            "$argon2id$v=19$m=064,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=19$m=+64,t=1,p=1$\(salt)$\(hash)",
            "$argon2id$v=19$m=-64,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=19$m=64,t=0,p=1$\(salt)$\(hash)",
            "$argon2id$v=19$m=64,t=1,p=0$\(salt)$\(hash)", "$argon2id$v=19$m=7,t=1,p=1$\(salt)$\(hash)",
            "$argon2id$v=19$m=64,t=1,p=9$\(salt)$\(hash)", "$argon2id$v=19$m=64,t=1,p=1$c29tZXM$\(hash)",
            "$argon2id$v=19$m=99999999999,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=19$m=64,t=1,p=1$\(salt)=$\(hash)",
            "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)$", "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)\0",
            "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)\n", "$argon2ID$v=19$m=64,t=1,p=1$\(salt)$\(hash)",
            "$argon2id$v=19$m=64,t=1,p=1,data=$\(salt)$\(hash)", "$argon2id$v=19$m=64,,t=1,p=1$\(salt)$\(hash)",
            "$argon2x$v=19$m=64,t=1,p=1$\(salt)$\(hash)", "$scrypt$ln=4,r=8$\(salt)$\(hash)",
            "$scrypt$ln=0,r=8,p=1$\(salt)$\(hash)", "$scrypt$ln=64,r=8,p=1$\(salt)$\(hash)",
            "$scrypt$v=1$ln=4,r=8,p=1$\(salt)$\(hash)", "$scrypt$ln=4,r=0,p=1$\(salt)$\(hash)",
            "$pbkdf2-sha256$i=1$\(salt)$\(hash)", "$pbkdf2-sha256$i=1,l=31$\(salt)$\(hash)",
            "$pbkdf2-sha-256$i=1,l=32$\(salt)$\(hash)", "$pbkdf2-sha256$i=0,l=32$\(salt)$\(hash)",
            "$pbkdf2-sha256$01$\(salt)$\(hash)", "$pbkdf2-sha256$1$\(salt)+$\(hash)", "$pbkdf2$\(salt)$\(hash)",
            "$2b$", "$2b$04$", "$2b$04$abc", "$2b$03$" + String(repeating: "a", count: 53),
            "$2b$32$" + String(repeating: "a", count: 53), "$2b$4$" + String(repeating: "a", count: 54),
            "$2b$04$" + String(repeating: "a", count: 52) + "*", "$2b$04$" + String(repeating: "a", count: 54),
            "$2c$04$" + String(repeating: "a", count: 53), "$2x$04$" + String(repeating: "a", count: 53),
            "$6$salt$hash", "$5$", "$6$", "$y$", "$y$j9T", "$6$rounds=5000",
            "$6$rounds=$salt$" + String(repeating: "a", count: 86),
            "$6$salt:$" + String(repeating: "a", count: 86), "$6$saltsaltsaltsalts$" + String(repeating: "a", count: 86),
            "$5$salt$" + String(repeating: "a", count: 42), "$5$rounds=+5000$salt$" + String(repeating: "a", count: 43),
            "$5$rounds=1000000000$salt$" + String(repeating: "a", count: 43), "$y$j9T$salt$" + String(repeating: "a", count: 44),
            "$y$j9T/$salt$" + String(repeating: "a", count: 43), "$y$jzT$salt$" + String(repeating: "a", count: 43),
            "$" + String(repeating: "a", count: 5000),
        ]
        for text in texts {
            #expect(throws: CryptoError.self, "\(text.debugDescription)") { try PasswordHash(parsing: text) }
        }
    }

    @Test("work above the limit is refused before any computation, and a higher limit allows it")
    func limits() throws {
        let salt = "c29tZXNhbHRzb21lc2FsdA"
        let hash = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        let texts = [
            ("$argon2id$v=19$m=2097152,t=1,p=1$\(salt)$\(hash)", 2),
            ("$argon2id$v=19$m=1048576,t=5,p=1$\(salt)$\(hash)", 2),
            ("$argon2id$v=19$m=4294967295,t=4294967295,p=1$\(salt)$\(hash)", nil),
            ("$argon2id$v=19$m=8,t=4194304,p=1$\(salt)$\(hash)", 8), ("$scrypt$ln=21,r=8,p=1$\(salt)$\(hash)", 2),
            ("$scrypt$ln=63,r=8,p=1$\(salt)$\(hash)", nil),
            ("$scrypt$ln=1,r=9999999999,p=9999999999$\(salt)$\(hash)", nil),
            // A buffer of 128 · r · p bytes beside a small buffer of 128 · r · N; lanes that cost no memory; an output of many
            // digests.
            ("$scrypt$ln=1,r=1048576,p=15$\(salt)$\(hash)", 240), ("$scrypt$ln=1,r=1,p=65537$\(salt)$\(hash)", 2),
            ("$argon2id$v=19$m=1048576,t=4,p=131072$\(salt)$\(hash)", 2048),
            ("$argon2id$v=19$m=65536,t=1,p=65$\(salt)$\(hash)", 2),
            ("$pbkdf2-sha256$i=10000000,l=33$\(salt)$\(hash)A", 2),
            ("$pbkdf2-sha256$i=1000000,l=2900$\(salt)$" + String(repeating: "A", count: 3866) + "A", 10),
            ("$pbkdf2-sha256$i=10000001,l=32$\(salt)$\(hash)", 2), ("$2b$17$" + String(repeating: "a", count: 53), 2),
            ("$2b$31$" + String(repeating: "a", count: 53), 1 << 15),
        ]
        for (text, factor) in texts as [(String, Int?)] {
            #expect(throws: CryptoError.workTooHigh, "\(text)") { try PasswordHash(parsing: text) }
            guard let factor else {
                #expect(throws: CryptoError.workTooHigh, "\(text)") {
                    try PasswordHash(parsing: text, limit: WorkLimit(factor: 1 << 20))
                }
                continue
            }
            #expect(try PasswordHash(parsing: text, limit: WorkLimit(factor: factor)).text == text)
        }
        #expect(throws: CryptoError.workTooHigh) {
            try PasswordHash.make(Self.secret("x"), .pbkdf2(.sha256, iterations: 10_000_001))
        }
    }

    @Test("work factors of any size are graded as weak or too high without a crash")
    func extremes() {
        let numbers = [Int.min, -1, 0, 1, 7 << 10, 1 << 20, 1 << 31, 1 << 40, .max - 1, .max]
        for one in numbers {
            for other in numbers {
                let functions: [PasswordFunction] = [
                    .argon2(.argon2id, .init(memoryKiB: one, passes: other, lanes: one)),
                    .scrypt(logCost: 40, blockSize: one, parallelism: other),
                    .scrypt(logCost: one, blockSize: other, parallelism: one),
                    .pbkdf2(.sha256, iterations: one), .bcrypt(cost: one), .crypt(.sha512crypt, cost: one),
                    .crypt(.yescrypt, cost: one),
                ]
                for function in functions {
                    let isWeak = function.isWeak
                    let isAllowed = (try? WorkLimit.standard.check(function, count: other)) != nil
                    #expect(
                        isWeak || one > 0 && other > 0 || function == .pbkdf2(.sha256, iterations: one)
                            || [.bcrypt(cost: one), .crypt(.sha512crypt, cost: one), .crypt(.yescrypt, cost: one)]
                                .contains(function)
                    )
                    if one == .max { #expect(!isAllowed, "\(function)") }
                }
            }
        }
        #expect(!PasswordFunction.argon2(.argon2id, .init(memoryKiB: .max, passes: .max, lanes: 1)).isWeak)
        #expect(PasswordFunction.pbkdf2(.insecureMD5, iterations: .max).isWeak)
    }

    @Test("many lanes with little memory need no thread each, and give the same result in time")
    func lanes() throws {
        let before = try Self.waits()
        let key = try KeyDerivation.argon2(
            .argon2id, Self.secret("pw"), salt: Array("saltsalt".utf8),
            .init(memoryKiB: 512, passes: 1000, lanes: 64), count: 16)
        #expect(key.count == 16)
        // With threads there would be a quarter of a million of them, and a wait for most of them.
        #expect(try Self.waits() - before < 10_000)
    }

    /// How often this thread has waited for another.
    private static func waits() throws -> Int {
        let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") })
        return try #require(line.split(separator: "\t").last.flatMap { Int($0) })
    }

    @Test("bcrypt accepts 72 bytes without NUL, and refuses a longer password instead of cutting it")
    func bcryptPasswords() throws {
        let longest = String(repeating: "p", count: 72)
        let made = try PasswordHash.make(Self.secret(longest), .bcrypt(cost: 4))
        #expect(try made.matches(Self.secret(longest)))
        #expect(try !made.matches(Self.secret(String(longest.dropLast()))))
        for text in [longest + "p", "a\0b"] {
            #expect(throws: CryptoError.passwordNotSupported) {
                try PasswordHash.make(Self.secret(text), .bcrypt(cost: 4))
            }
        }
        #expect(throws: CryptoError.passwordNotSupported) { try made.matches(Self.secret("a\0b")) }
    }

    @Test("parameters outside a function's definition are an error, never a crash")
    func ranges() {
        let password = Self.secret("pw")
        let salt = [UInt8](repeating: 1, count: 16)
        for (memory, passes, lanes, saltCount, count) in [
            (7, 1, 1, 16, 32), (8, 0, 1, 16, 32), (8, 1, 0, 16, 32), (15, 1, 2, 16, 32), (8, 1, 1, 7, 32),
            (8, 1, 1, 16, 3), (.max, 1, 1, 16, 32), (8, .max, 1, 16, 32), (.max, 1, 1 << 24, 16, 32),
            (-8, 1, 1, 16, 32),
        ] {
            #expect(throws: CryptoError.parameterOutOfRange) {
                _ = try KeyDerivation.argon2(
                    .argon2id, password, salt: Array(salt.prefix(saltCount)),
                    .init(memoryKiB: memory, passes: passes, lanes: lanes), count: count)
            }
        }
        for (cost, size, parallelism, count) in [
            (0, 8, 1, 32), (1, 8, 1, 32), (3, 8, 1, 32), (16, 0, 1, 32), (16, 8, 0, 32), (16, 8, 1, 0),
            (-16, 8, 1, 32), (1 << 16, 1, 1, 32), (16, .max, .max, 32),
        ] {
            #expect(throws: CryptoError.parameterOutOfRange) {
                _ = try KeyDerivation.scrypt(
                    password, salt: salt, cost: cost, blockSize: size, parallelism: parallelism, count: count)
            }
        }
        for (iterations, count) in [(0, 32), (-1, 32), (.max, 32), (1, 0), (1, .max)] {
            #expect(throws: CryptoError.parameterOutOfRange) {
                _ = try KeyDerivation.pbkdf2(.sha256, password, salt: salt, iterations: iterations, count: count)
            }
        }
        for count in [-1, 255 * 32 + 1, .max] {
            #expect(throws: CryptoError.parameterOutOfRange) {
                _ = try KeyDerivation.hkdf(.sha256, password, salt: [], info: [], count: count)
            }
        }
        #expect(throws: CryptoError.unknownAlgorithm) {
            _ = try KeyDerivation.pbkdf2(.blake2b256, password, salt: salt, iterations: 1, count: 16)
        }
    }
}

@Suite struct HMACTests {
    @Test("a message has one MAC, in pieces or whole, with one key for many messages")
    func pieces() throws {
        for algorithm in DigestAlgorithm.allCases {
            for keyCount in [0, 1, 64, 200] {
                let key = SecretBytes(copying: [UInt8](repeating: 0x5A, count: keyCount))
                var mac = try HMAC(algorithm, key: key)
                for count in [0, 1, 200, 1000] {
                    let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
                    for start in stride(from: 0, to: count, by: 17) {
                        mac.update(Array(message[start..<min(start + 17, count)]).span)
                    }
                    let whole = try HMAC.tag(of: message.span, algorithm, key: key)
                    let isSame = mac.finish().isEqual(to: whole)
                    #expect(isSame)
                    #expect(whole.count == algorithm.count)
                }
            }
        }
    }

    @Test("a tag has its whole length or at least half of it, never a few bytes or none")
    func truncation() throws {
        let key = SecretBytes(copying: [1, 2, 3])
        let message = Array("message".utf8)
        let tag = try HMAC.tag(of: message.span, .sha256, key: key).withBytes { tag in tag.indices.map { tag[$0] } }
        for count in 0...32 {
            let isTag = try HMAC.isTag(tag.span.extracting(0..<count), of: message.span, .sha256, key: key)
            #expect(isTag == (count >= 16), "\(count)")
        }
        for index in tag.indices {
            var wrong = tag
            wrong[index] ^= 1
            #expect(try !HMAC.isTag(wrong.span, of: message.span, .sha256, key: key))
        }
        #expect(try !HMAC.isTag((tag + [0]).span, of: message.span, .sha256, key: key))
    }
}
