import OMCrypto
import OMSecrets
import Testing

@Suite("The SDK's encryptData: and decryptData:") struct SDKCipherTests {
    private let message = Array("secret message".utf8)

    private func key(_ count: Int) -> SecretBytes { secret((0..<count).map { UInt8($0) }) }

    private func encrypt(
        _ message: [UInt8]? = nil, keyCount: Int = 32, iv: [UInt8]? = nil, algorithm: String = "AES",
        padding: Insecure.SDKCipher.Padding = .pkcs7, mode: Insecure.SDKCipher.Mode = .cbc, base64: Bool = true,
        prefix: Bool = true
    ) throws -> Insecure.SDKCipher.Form {
        try Insecure.SDKCipher.encrypt(
            unauthenticated: secret(message ?? self.message), key: key(keyCount), iv: iv, algorithm: algorithm,
            padding: padding, mode: mode, base64: base64, prefix: prefix)
    }

    private func decrypt(
        _ input: Insecure.SDKCipher.Form, keyCount: Int = 32, iv: [UInt8]? = nil, algorithm: String = "AES",
        padding: Insecure.SDKCipher.Padding = .pkcs7, mode: Insecure.SDKCipher.Mode = .cbc, prefixed: Bool = true,
        base64: Bool = true
    ) throws -> [UInt8] {
        try bytes(
            Insecure.SDKCipher.decrypt(
                unauthenticated: input, key: key(keyCount), iv: iv, algorithm: algorithm, padding: padding, mode: mode,
                prefixed: prefixed, base64: base64))
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as? CryptoError)?.sdkCode }
    }

    @Test("its strings are written and read byte for byte")
    func strings() throws {
        for (algorithm, count, text) in [
            ("AES", 24, "{AES}LdUajhLon9cUytt6Ts795g=="), ("AES", 32, "{AES}98M4sUT7o/PVXeZB2MKFTw=="),
            ("3DES", 24, "{3DES}k6HcLD9Pc7kSmNDaKOdBDg=="), ("DES", 8, "{DES}t6t7H5+AWX0jiTYZlfE+gg=="),
        ] {
            #expect(try encrypt(keyCount: count, algorithm: algorithm) == .text(text))
            #expect(try decrypt(.text(text), keyCount: count, algorithm: algorithm) == message)
            let bare = String(text.drop { $0 != "}" }.dropFirst())
            #expect(try encrypt(keyCount: count, algorithm: algorithm, prefix: false) == .text(bare))
            let raw = Insecure.SDKCipher.Form.data(try Base64.decode(bare))
            // Without base64 the prefix is ignored, both ways.
            #expect(try encrypt(keyCount: count, algorithm: algorithm, base64: false) == raw)
            #expect(try decrypt(raw, keyCount: count, algorithm: algorithm, base64: false) == message)
        }
        #expect(
            try Insecure.SDKCipher.encryptWithZeroIV(unauthenticated: secret(message), key: key(24))
                == Base64.decode("LdUajhLon9cUytt6Ts795g=="))
    }

    @Test("the first of several errors is the SDK's first, by its number")
    func order() {
        let longIV = pattern(17)
        #expect(code { _ = try encrypt([], keyCount: 0, iv: longIV, algorithm: "X", padding: .oaep) } == 10406)
        #expect(code { _ = try encrypt(keyCount: 0, iv: longIV, algorithm: "X", padding: .oaep) } == 10501)
        #expect(code { _ = try encrypt(keyCount: 15, iv: longIV, padding: .oaep) } == 10507)
        #expect(code { _ = try encrypt(keyCount: 32, iv: longIV, algorithm: "SHA-256", padding: .oaep) } == 10506)
        #expect(code { _ = try encrypt(iv: longIV, padding: .none) } == 10508)
        #expect(code { _ = try encrypt(iv: longIV, mode: .ecb) } == 10508)
        #expect(code { _ = try encrypt(padding: .none) } == 10509)
        #expect(code { _ = try encrypt(padding: .oaep) } == 10510)
        #expect(code { _ = try encrypt(keyCount: 16, algorithm: "3DES") } == 10507)
        #expect(code { _ = try decrypt(.data([1]), keyCount: 0) } == 10517)
        #expect(code { _ = try decrypt(.text("x"), keyCount: 0, base64: false) } == 10518)
        #expect(code { _ = try decrypt(.text("{DES}AAAA"), keyCount: 0) } == 10516)
        #expect(code { _ = try decrypt(.text("{AES}"), keyCount: 0) } == 10406)
        #expect(code { _ = try decrypt(.data([]), keyCount: 0, base64: false) } == 10406)
        #expect(code { _ = try decrypt(.text("{AES}AAAA"), keyCount: 0) } == 10501)
        #expect(code { _ = try decrypt(.text("{AES}AAAA"), keyCount: 1) } == 10507)
        #expect(code { _ = try decrypt(.text("{AES}AAAA"), padding: .none) } == 10509)
        #expect(code { _ = try decrypt(.text("{AES}AAAA"), padding: .pkcs1) } == 10510)
        #expect(code { _ = try decrypt(.text("{AES}98M4sUT7o/PVXeZB2MKFTx==")) } == 10518)
        #expect(code { _ = try decrypt(.text("{AES}98M4sUT7o/PVXeZB2MKFUw==")) } == 10511)
    }

    @Test("keys from passphrases are the SDK's own")
    func passphrases() throws {
        let pin = secret("1234".utf8)
        let ios = try Insecure.SDKCipher.pbkdf2Key(
            passphrase: pin, salt: "A1B2", algorithm: SDKHashAlgorithm(.sha256, isSalted: true), iterations: 1000,
            count: 32)
        #expect(Hex.encode(bytes(ios)) == "738c20b60a6640727588a3c632d852b95f75865a3a05f70835bf1124787e2c03")
        let hashed = try Insecure.SDKCipher.hashedKey(passphrase: pin, deviceIdentifier: "id")
        #expect(try bytes(hashed) == Digest.of(Array("1234id".utf8), .sha256))
        let refused = { (passphrase: String, salt: String, scheme: String, iterations: Int) in
            code {
                _ = try Insecure.SDKCipher.pbkdf2Key(
                    passphrase: secret(passphrase.utf8), salt: salt, algorithm: SDKHashAlgorithm(named: scheme),
                    iterations: iterations, count: 32)
            }
        }
        #expect(refused("", "", "X", 1) == 10406)
        #expect(refused("p", "", "X", 1) == 10513)
        #expect(refused("p", "A1", "SHA-256", 1) == 10506)
        #expect(refused("p", "A1", "SaltedSHA-256", 0) == 10502)
        #expect(code { _ = try Insecure.SDKCipher.generateSymmetricKey(count: 0) } == 10501)
        #expect(try Insecure.SDKCipher.generateSymmetricKey(count: 5).count == 5)
    }

    @Test("the Android names in braces are read in every spelling and written in one")
    func transformations() throws {
        for (text, name) in [
            ("AES/CBC/PKCS5Padding", "AES/CBC/PKCS5Padding"), ("aes/cbc/pkcs7padding", "AES/CBC/PKCS5Padding"),
            ("AES", "AES/ECB/PKCS5Padding"), ("DESede/ECB/NoPadding", "DESede/ECB/NoPadding"),
            ("3DES/CBC/PKCS5Padding", "DESede/CBC/PKCS5Padding"), ("AES/CTR/NoPadding", "AES/CTR/NoPadding"),
        ] {
            let (transformation, rest) = try Transformation.split("{\(text)}QUJD")
            #expect(transformation.text == name)
            #expect(rest == "QUJD")
        }
        let malformed = [
            "", "{", "}", "AES/CBC/PKCS5Padding", "AES}", " {AES}", "{}", "{/}", "{//}", "{AES/}", "{AES//}",
            "{AES/CBC}", "{AES/CBC/}",
            "{/CBC/PKCS5Padding}", "{AES/CBC/PKCS5Padding/}", "{AES/CBC/PKCS5Padding/x}", "{AES/GCM/NoPadding}",
            "{AES/CBC/OAEPPadding}",
            "{AES/OFB/NoPadding}", "{RSA/ECB/PKCS1Padding}", "{RSA}", "{AES-256/CBC/PKCS5Padding}",
            "{ AES/CBC/PKCS5Padding}", "{AES /CBC/PKCS5Padding}",
            "{AES/CBC/PKCS5Padding ", "{AES\u{0}}", "{AES/CTR/PKCS5Padding}", "{{AES}", "{SaltedSHA-256}",
            "{AES/CBC/PKCS5Padding\n}", "{AÉS}", "{3DES/CBC}",
        ]
        #expect(malformed.count >= 32)
        for text in malformed { #expect(throws: CryptoError.self, "\(text)") { _ = try Transformation.split(text) } }
    }
}
