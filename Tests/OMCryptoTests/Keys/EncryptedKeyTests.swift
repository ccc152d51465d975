import OMCrypto
import OMSecrets
import Testing

@Suite struct EncryptedKeyTests {
    private func open(_ der: [UInt8], _ password: String = "secret", limit: WorkLimit = .standard) -> CryptoError? {
        do throws(CryptoError) {
            _ = try KeyFile(secret(der)).privateKey(password: secret(password), limit: limit)
            return nil
        } catch { return error }
    }

    private let pbes2: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 13]
    private let pbkdf2: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 12]
    private let scrypt: [UInt8] = [6, 9, 0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 4, 0x0B]
    private let hmacSHA256: [UInt8] = [6, 8, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, 9]
    private let aes256: [UInt8] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42]
    private let salt = D.octets([UInt8](repeating: 7, count: 16))

    private func file(
        _ function: [UInt8], cipher: [UInt8]? = nil, body: [UInt8] = [UInt8](repeating: 0, count: 64)
    ) -> [UInt8] {
        let cipher = cipher ?? D.sequence(aes256, D.octets([UInt8](repeating: 1, count: 16)))
        return D.sequence(D.sequence(pbes2, D.sequence(function, cipher)), D.octets(body))
    }

    private func kdf(_ parts: [UInt8]...) -> [UInt8] { D.sequence(pbkdf2, D.sequence(parts.flatMap { $0 })) }

    @Test("an encrypted key opens only with its password")
    func roundTrip() throws {
        for box in [Sample.rsa, Sample.p256] {
            let der = try box.key.encryptedPKCS8(password: secret("pass word"))
            let file = try KeyFile(der)
            #expect(file.isEncrypted && file.isPrivate && file.format == .encryptedPKCS8)
            #expect(file.encryptionName == "PBKDF2-SHA-256, AES-256-CBC")
            #expect(file.encryptionWork == 600_000)
            let opened = try file.privateKey(password: secret("pass word"))
            #expect(try opened.publicKey().fingerprint() == box.key.publicKey().fingerprint())
            #expect(throws: CryptoError.keyPasswordRequired) { _ = try file.privateKey() }
            for wrong in ["", "pass", "pass word ", "Pass word"] {
                #expect(throws: CryptoError.wrongKeyPassword) { _ = try file.privateKey(password: secret(wrong)) }
            }
        }
    }

    @Test("a file that is not encrypted accepts no password")
    func plain() throws {
        #expect(open(Sample.pkcs8) == .wrongKeyPassword)
    }

    @Test("malformed encryption is refused with its error, before any work is done")
    func malformed() {
        let broken = CryptoError.malformedKey(.encryptedPKCS8)
        let unsupported = CryptoError.unsupportedKey(.encryptedPKCS8)
        let rounds: [UInt8] = [2, 2, 8, 0]
        let prf = D.sequence(hmacSHA256, D.null)
        let good = kdf(salt, rounds, prf)
        let iv = D.octets([UInt8](repeating: 1, count: 16))
        let pbes1: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 3]
        let sha1RC4: [UInt8] = [6, 10, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1, 1]
        let sha1DES3: [UInt8] = [6, 10, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1, 3]
        let body = D.octets([UInt8](repeating: 0, count: 64))
        let cases: [([UInt8], CryptoError)] = [
            (file(good), .wrongKeyPassword), (file(good, body: []), .wrongKeyPassword),
            (file(good, body: [0]), .wrongKeyPassword), (file(good) + [0], .unknownKeyFormat),
            (D.sequence(D.sequence(pbes2, D.sequence(good)), body), broken),
            (D.sequence(D.sequence(pbes2), body), broken), (D.sequence(D.sequence(), body), broken),
            (D.sequence(D.sequence(pbes2, D.sequence(good, D.sequence(aes256, iv), D.null)), body), broken),
            (D.sequence(D.sequence(pbes2, D.sequence(good, D.sequence(aes256, iv)), D.null), body), broken),
            (D.sequence(D.sequence(pbes2, D.sequence(good, D.sequence(aes256, iv))), body, D.null), broken),
            (D.sequence(D.sequence(pbes1, D.sequence(salt, rounds)), body), unsupported),
            (D.sequence(D.sequence(sha1RC4, D.sequence(salt, rounds)), body), unsupported),
            (D.sequence(D.sequence(sha1DES3, D.sequence(salt)), body), broken),
            (D.sequence(D.sequence(sha1DES3, D.sequence(salt, rounds, D.null)), body), broken),
            (D.sequence(D.sequence(sha1DES3, D.sequence(salt, rounds)), body), .wrongKeyPassword),
            (file(good, cipher: D.sequence(aes256, D.octets([1]))), broken),
            (file(good, cipher: D.sequence(aes256)), broken),
            (file(good, cipher: D.sequence(aes256, iv, D.null)), broken),
            (file(good, cipher: D.sequence(hmacSHA256, iv)), unsupported), (file(D.sequence(hmacSHA256)), unsupported),
            (file(kdf(rounds, prf)), broken), (file(kdf(D.octets([]), rounds, prf)), broken),
            (file(kdf(D.octets([UInt8](repeating: 0, count: 1025)), rounds, prf)), broken),
            (file(kdf(salt, D.zero, prf)), broken), (file(kdf(salt, D.integer(0x80), prf)), broken),
            (file(kdf(salt, D.integer(0, 1), prf)), broken), (file(kdf(salt, prf)), broken),
            (file(kdf(salt, rounds, D.integer(16), prf)), broken),
            (file(kdf(salt, rounds, D.integer(32), prf)), .wrongKeyPassword),
            (file(kdf(salt, rounds, D.sequence(aes256, D.null))), unsupported),
            (file(kdf(salt, rounds, D.sequence(hmacSHA256))), broken), (file(kdf(salt, rounds, prf, D.null)), broken),
            (file(kdf(salt, D.integer(0x7F, 0xFF, 0xFF, 0xFF), prf)), .workTooHigh),
            (file(kdf(salt, [2, 5, 1, 0, 0, 0, 0], prf)), broken),
            (file(D.sequence(scrypt, D.sequence(salt, D.integer(3), D.integer(8), D.integer(1)))), broken),
            (file(D.sequence(scrypt, D.sequence(salt, D.integer(1), D.integer(8), D.integer(1)))), broken),
            (file(D.sequence(scrypt, D.sequence(salt, D.integer(16), D.integer(8)))), broken),
            (file(D.sequence(scrypt, D.sequence(salt, D.integer(16), D.integer(8), D.zero))), broken),
            (file(D.sequence(scrypt, D.sequence(salt, D.integer(16), D.integer(8), D.integer(1)))), .wrongKeyPassword),
            (
                file(D.sequence(scrypt, D.sequence(salt, D.integer(0x40, 0, 0, 0), D.integer(8), D.integer(1)))),
                .workTooHigh
            ),
        ]
        #expect(cases.count >= 32)
        for (bytes, error) in cases { #expect(open(bytes) == error, "\(Hex.encode(bytes))") }
    }

    @Test("more work is done only when the caller allows it")
    func work() {
        // 10,000,001 rounds.
        let costly = file(kdf(salt, D.integer(0, 0x98, 0x96, 0x81), D.sequence(hmacSHA256, D.null)))
        #expect(open(costly) == .workTooHigh)
        #expect(open(costly, limit: WorkLimit(factor: 2)) == .wrongKeyPassword)
    }

    @Test("work is counted by its cost: blocks, slow hashes, scrypt's lanes and its memory")
    func cost() {
        let hmac: (UInt8) -> [UInt8] = { D.sequence([6, 8, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, $0], D.null) }
        let sha1DES3: [UInt8] = [6, 10, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1, 3]
        let fiveMillionAndOne = D.integer(0x4C, 0x4B, 0x41)
        // SHA-512 counts twice, and SHA-1 needs two blocks for 32 bytes.
        #expect(open(file(kdf(salt, fiveMillionAndOne, hmac(11)))) == .workTooHigh)
        #expect(open(file(kdf(salt, fiveMillionAndOne, hmac(7)))) == .workTooHigh)
        // PKCS#12's key of 24 bytes takes two blocks and its IV one: 3,333,334 rounds three times.
        let old = D.sequence(sha1DES3, D.sequence(salt, D.integer(0x32, 0xDC, 0xD6)))
        #expect(open(D.sequence(old, D.octets([UInt8](repeating: 0, count: 64)))) == .workTooHigh)
        let mixed: ([UInt8], [UInt8], [UInt8]) -> CryptoError? = { cost, blockSize, lanes in
            self.open(self.file(D.sequence(self.scrypt, D.sequence(self.salt, cost, blockSize, lanes))))
        }
        // N · r · p is 9,961,472 for each of the first two, and took 27 s. The third fills 1.2 GB.
        #expect(mixed(D.integer(2), D.integer(0, 152), D.integer(0, 0x80, 0)) == .workTooHigh)
        #expect(mixed(D.integer(2), D.integer(0x4B, 0xFF), D.integer(1, 0)) == .workTooHigh)
        #expect(mixed(D.integer(0x10, 0, 0), D.integer(9), D.integer(1)) == .workTooHigh)
    }
}
