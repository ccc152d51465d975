import OMSecrets
import Testing

@testable import OMCrypto

@Suite struct HashCheckerTests {
    private static let value = Array("mypassword".utf8)

    private func stored(_ algorithm: DigestAlgorithm, _ encoding: HashEncoding, _ salt: [UInt8]) throws -> String {
        var hash = try HashString(algorithm, encoding, salt: salt)
        hash.update(Self.value.span)
        return HashStringTests.text(hash.finish())
    }

    @Test("the checker computes only the schemes on its list, by the name in the string")
    func schemes() throws {
        let salted = try stored(.sha256, .ldap, [1, 2])
        let sdk = try stored(.sha256, .sdkAndroid, [1, 2])
        let phc = try stored(.sha256, .phc, [1, 2])
        let plain = try stored(.sha256, .sdk, [])
        let slow = try PasswordHash.make(
            SecretBytes(copying: Self.value), .pbkdf2(.sha512, iterations: 10)
        ).text
        let bcrypt = try PasswordHash.make(SecretBytes(copying: Self.value), .bcrypt(cost: 4)).text
        let all = [salted, sdk, phc, plain, slow, bcrypt]
        let lists: [(String?, [Bool])] = [
            (nil, [true, true, true, false, true, true]), ("all", [true, true, true, true, true, true]),
            ("SSHA256", [true, false, false, false, false, false]),
            ("saltedsha-256,PBKDF2", [false, true, false, false, true, false]),
            ("salted", [true, true, true, false, false, false]),
            ("unsalted,bcrypt", [false, false, false, true, false, true]),
            ("password", [false, false, false, false, true, true]),
            ("salted-sha256,pbkdf2-sha512", [false, false, true, false, true, false]),
            ("argon2id", [false, false, false, false, false, false]),
            (" SSHA256 , bcrypt", [true, false, false, false, false, true]),
        ]
        for (list, expected) in lists {
            var checker = HashChecker(schemes: try list.map { try HashSchemes(list: $0) } ?? .standard)
            for (text, isAllowed) in zip(all, expected) {
                let answer = checker.check(Array(text.utf8).span, Self.value.span)
                #expect(answer == (isAllowed ? .match : .refused(.schemeNotAllowed)), "\(list ?? "nil"): \(text)")
            }
        }
        for list in ["", "salted,", "SSHA257", "sha256,", "ssha256,  ,md5", "argon2"] {
            #expect(throws: CryptoError.unknownAlgorithm, "\(list)") { try HashSchemes(list: list) }
        }
    }

    @Test("a batch answers line by line, whatever the lines contain, and keeps neighbouring schemes apart")
    func batch() throws {
        var lines = ""
        var expected: [HashChecker.Answer] = []
        for round in 0..<3 {
            for algorithm in DigestAlgorithm.allCases {
                let text = try stored(algorithm, .sdkAndroid, [UInt8(round + 1)])
                lines += "\(text)\tmypassword\n\(text)\tmypasswore\n\(text)\tmypassword\r\n"
                expected += [.match, .mismatch, .mismatch]
            }
            lines += "\nno tab\n\tvalue\n{SSHA256\tx\n"
            expected += [.refused(.malformedHash), .refused(.malformedHash), .refused(.notPrefixed)]
            expected.append(.refused(.notPrefixed))
        }
        let text = try stored(.sha256, .ldap, [9])
        lines += "\(text)\tmypassword"
        expected.append(.match)
        var checker = HashChecker()
        #expect(checker.check(pairs: Array(lines.utf8).span) == expected)
        #expect(checker.check(pairs: [UInt8]().span) == [])
    }

    @Test("a hash of another kind is a scheme that is not allowed, and any other text is malformed")
    func foreign() throws {
        var checker = HashChecker(schemes: try HashSchemes(list: "all"))
        for text in [
            "{CRYPT}$2b$12$abc", "{FOO}x", "{SSHA-256}AAAA", "$1$salt$hash", "$gy$j9T$salt$hash",
            "$2x$04$" + String(repeating: "a", count: 53), "$pbkdf2-foo$i=1,l=4$c2FsdHNhbHQ$AAAAAA",
        ] {
            #expect(checker.check(Array(text.utf8).span, Self.value.span) == .refused(.schemeNotAllowed), "\(text)")
            #expect(throws: CryptoError.self, "\(text)") { _ = try HashSchemes.standard.hash(parsing: text) }
        }
        for text in [
            "", "x", "{}AAAA", "{SSHA256}!", "{CRYPT", "$", "$$", "$argon2id$", "$2b$", "$6$", "$6$salt$hash", "$y$j9T$salt$hash",
        ] {
            let answer = checker.check(Array(text.utf8).span, Self.value.span)
            #expect([.refused(.malformedHash), .refused(.notPrefixed)].contains(answer), "\(text): \(answer)")
        }
    }

    @Test("data in pieces is compared with the allowed hashes, and with no password's hash")
    func pieces() throws {
        let text = try stored(.sha512, .ldap, [1, 2])
        var comparison = try HashComparison(HashSchemes(list: "SSHA512").hash(parsing: text))
        for _ in 0..<2 {
            for byte in Self.value { comparison.update([byte].span) }
            let isSame = comparison.finish()
            comparison.update([1].span)
            let isOther = !comparison.finish()
            #expect(isSame && isOther)
        }
        #expect(throws: CryptoError.schemeNotAllowed) { _ = try HashSchemes(list: "SSHA256").hash(parsing: text) }
        let slow = try PasswordHash.make(SecretBytes(copying: Self.value), .pbkdf2(.sha256, iterations: 2)).text
        #expect(throws: CryptoError.noSuchForm) { _ = try HashSchemes.standard.hash(parsing: slow) }
        #expect(throws: CryptoError.noSuchForm) { _ = try HashSchemes.standard.hash(parsing: text, as: .phc) }
    }

    @Test("a value may contain tabs and any bytes, and the hash may be long")
    func values() throws {
        let value: [UInt8] = [0x09, 0xFF, 0x00, 0x09]
        var hash = try HashString(.sha256, .ldap, salt: [UInt8](repeating: 7, count: 5000))
        hash.update(value.span)
        let line = Array(HashStringTests.text(hash.finish()).utf8) + [0x09] + value + [0x0A]
        var checker = HashChecker()
        #expect(checker.check(pairs: line.span) == [.match])
    }

    @Test("data and salt together have at most 2^32 − 1 bytes, checked before the algorithm's name")
    func longest() {
        let salted = SDKHashAlgorithm(named: "SaltedSHA-256")
        let unknown = SDKHashAlgorithm(named: "SaltedSHA-257")
        let most = Int(UInt32.max)
        #expect(throws: Never.self) {
            try SaltedHash.validate(dataCount: most - 6, saltCount: 6, salted, appends: true)
        }
        for algorithm in [salted, unknown] {
            let error = #expect(throws: CryptoError.self) {
                try SaltedHash.validate(dataCount: most - 5, saltCount: 6, algorithm, appends: true)
            }
            #expect(error?.sdkCode == 10519)
        }
    }

    @Test("the fast base64 decoder and the decoder of the bedrock agree on every text")
    func base64() throws {
        var random = SystemRandomNumberGenerator()
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_ \n".utf8)
        var accepted = 0
        for round in 0..<20_000 {
            var text = Array(Base64.encode(Random.bytes(round % 40)).utf8)
            if round % 3 > 0, !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &random)
                text[round % 2 == 0 ? place : text.count - 1 - place % 3 % text.count] =
                    digits.randomElement(using: &random) ?? 0
            }
            let expected = try? Base64.decode(String(decoding: text, as: UTF8.self))
            var target = [UInt8](repeating: 0, count: 64)
            var span = target.mutableSpan
            let count = StrictBase64.decode(text.span, into: &span)
            #expect(count.map { Array(target.prefix($0)) } == expected, "\(text)")
            accepted += count == nil ? 0 : 1
        }
        #expect((8_000..<19_000).contains(accepted))
    }

    @Test("every byte outside the alphabet is refused in every place")
    func foreignBytes() {
        let good = Array("AAAAAAAA".utf8)
        let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
            for place in good.indices where byte != UInt8(ascii: "=") || place != 7 {
                var text = good
                text[place] = byte
                var target = [UInt8](repeating: 0, count: 6)
                var span = target.mutableSpan
                #expect(StrictBase64.decode(text.span, into: &span) == nil)
            }
        }
    }

    @Test("a stored hash that differs in any byte does not match, in every kind of check")
    func wholeDigests() throws {
        let secret = SecretBytes(copying: Self.value)
        let ldap = try stored(.sha256, .ldap, [1, 2])
        let slow = try PasswordHash.make(secret, .pbkdf2(.sha256, iterations: 2)).text
        // The characters with 252 of the digest's 256 bits, so that every exchange is still base64.
        for (text, start) in [(ldap, ldap.utf8.count - 48), (slow, slow.utf8.count - 43)] {
            var checker = HashChecker(schemes: .standard)
            #expect(checker.check(Array(text.utf8).span, Self.value.span) == .match)
            for index in start..<start + 42 {
                var changed = Array(text.utf8)
                changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                #expect(checker.check(changed.span, Self.value.span) == .mismatch, "\(text), \(index)")
                let string = String(decoding: changed, as: UTF8.self)
                if text == ldap { #expect(try !StoredHash(parsing: string).matches(secret), "\(index)") }
            }
        }
    }
}
