import OMSecrets
import Testing

@testable import OMAuth

@Suite struct SchemeTests {
    private static let passwords: [(name: String, bytes: [UInt8])] = [
        ("1 byte", [0x61]), ("NUL inside", Array("a\u{0}b".utf8)), ("not UTF-8", [0xFF, 0xFE, 0x80]),
        ("NFC", Array("\u{E9}".utf8)), ("NFD", Array("e\u{301}".utf8)),
        ("1 MiB", [UInt8](repeating: 0x78, count: Password.maximumCount)),
    ]

    private func work(_ scheme: CryptoScheme) throws -> Profile {
        try Profile(
            ProfileName("work"),
            values: [
                "OfflineAuthAllowed": .bool(true), "MaxLoginAttempts": .number("1000"),
                "CryptoScheme": .text(scheme.rawValue),
            ])
    }

    @Test("R50 every scheme accepts exactly the enrolled bytes", arguments: CryptoScheme.allCases)
    func roundTrip(_ scheme: CryptoScheme) throws {
        let home = try Home(), profile = try work(scheme)
        for (number, password) in Self.passwords.enumerated() {
            let user = try UserName("user \(number)")
            _ = try home.authenticator().enroll(user, profile, password: Password(bytes: password.bytes))
            for other in Self.passwords {
                let refusal = refusal { () throws(AuthError) in
                    _ = try home.authenticator().check(user, profile, password: Password(bytes: other.bytes))
                }
                let isRight = other.bytes == password.bytes
                #expect(isRight ? refusal == nil : isWrong(refusal), "\(other.name) for \(password.name)")
            }
        }
    }

    private func isWrong(_ refusal: AuthError?) -> Bool {
        if case .wrongPassword = refusal { return true }
        return false
    }

    @Test("R49 a password that looks like a stored hash matches only itself")
    func prefixes() throws {
        let home = try Home(), profile = try work(.plainText)
        let hash = try CryptoScheme.sha1.inner(of: Password("x"), salt: [])
        let text = hash.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        #expect(text.hasPrefix("{SHA-1}"))
        try home.enroll(profile, password: text)
        #expect(home.check(text, profile) == nil)
        #expect(isWrong(home.check("x", profile)))
        // Knowing the scheme's output does not help if the scheme is a hash.
        let hashed = try work(.sha1), bob = try UserName("bob")
        try home.enroll(hashed, user: bob, password: "x")
        #expect(isWrong(home.check(text, hashed, user: bob)))
    }

    @Test("the inner function is the SDK's own string")
    func sdkStrings() throws {
        func inner(_ scheme: CryptoScheme, _ salt: [UInt8]) throws -> String {
            try scheme.inner(of: Password("mypassword"), salt: salt).withBytes { bytes in
                String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
        }
        let salt = [UInt8](0..<16)
        #expect(try inner(.plainText, salt) == "mypassword")
        #expect(try inner(.aes, salt) == "mypassword")
        // printf mypassword | openssl dgst -sha1 -binary | base64
        #expect(try inner(.sha1, salt) == "{SHA-1}kd/Z3bQZiv/FwZTNjObTOP3kcOI=")
        let salted = try inner(.saltedSHA512, salt)
        #expect(salted.hasPrefix("{SaltedSHA-512}"))
        let decoded = try Base64.decode(String(salted.dropFirst("{SaltedSHA-512}".count)))
        #expect(decoded.count == 64 + 32)
        #expect(decoded.suffix(32).elementsEqual("000102030405060708090A0B0C0D0E0F".utf8))
    }

    @Test("codes are the SDK's, and names have the SDK's spellings in any case")
    func names() {
        #expect(CryptoScheme.allCases.count == 12)
        #expect(Set(CryptoScheme.allCases.map(\.code)) == Set(0...11))
        for scheme in CryptoScheme.allCases {
            #expect(CryptoScheme(named: scheme.rawValue.uppercased()) == scheme)
            #expect(CryptoScheme(code: scheme.code) == scheme)
        }
        #expect(CryptoScheme(named: "bcrypt") == nil && CryptoScheme(code: 12) == nil)
        #expect(CryptoScheme.saltedSHA512.code == 10 && CryptoScheme.aes.code == 11)
    }
}
