import OMCrypto
import OMSecrets
import Testing

@Suite struct PKCS12Tests {
    private func problem(_ bytes: [UInt8], _ password: String = "secret", limit: WorkLimit = .standard) -> CryptoError? {
        do throws(CryptoError) {
            _ = try PKCS12File(secret(bytes)).open(password: secret(password), limit: limit)
            return nil
        } catch { return error }
    }

    private static let made = { () -> [UInt8] in
        do {
            return try PKCS12File.make(Sample.p256.key, name: "n\u{E4}me \u{1F511}", password: secret("secret")).array()
        } catch { fatalError("\(error)") }
    }()

    private let rounds: [UInt8] = [2, 1, 1]

    /// The file around an authenticated safe. Its MAC does not matter here.
    private func file(
        version: [UInt8] = D.integer(3), type: [UInt8] = D.pkcs7Data, safe: [UInt8]? = nil, mac: [UInt8]? = nil,
        tail: [UInt8] = []
    ) -> [UInt8] {
        let content = safe ?? D.octets(D.sequence())
        return D.sequence(version, D.sequence(type, der(0xA0, content)), mac ?? self.mac(), tail)
    }

    private func mac(
        hash: [UInt8] = D.sha256, tag: Int = 32, salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8], rounds: [UInt8]? = nil,
        tail: [UInt8] = []
    ) -> [UInt8] {
        let info = D.sequence(D.sequence(hash, D.null), D.octets([UInt8](repeating: 0, count: tag)))
        return D.sequence(info, D.octets(salt), rounds ?? self.rounds, tail)
    }

    @Test("a written file opens only with its password, and keeps its name")
    func roundTrip() throws {
        let contents = try PKCS12File(secret(Self.made)).open(password: secret("secret"))
        let identity = try #require(contents.identities.first)
        #expect(contents.identities.count == 1 && contents.certificates.isEmpty && identity.certificate == nil)
        #expect(identity.name == "n\u{E4}me \u{1F511}")
        #expect(try identity.key.publicKey().spki() == Sample.p256.key.publicKey().spki())
        #expect(problem(Self.made, "") == .wrongKeyPassword)
        #expect(problem(Self.made, "Secret") == .wrongKeyPassword)
    }

    @Test("a certificate of another key is refused beside a key")
    func foreignCertificate() throws {
        let other = try PrivateKey.generate(.ec(.p256)).publicKey().spki()
        let names = [D.sequence(), D.sequence(), D.sequence(), D.sequence()].flatMap { $0 }
        let body = D.sequence(D.integer(1), names, other)
        let certificate = try Certificate(der: D.sequence(body, D.sequence(), D.bits([0])))
        #expect(certificate.spki == other)
        #expect(certificate.subject == nil)
        #expect(throws: CryptoError.foreignCertificate) {
            _ = try PKCS12File.make(Sample.p256.key, certificates: [certificate], name: "", password: secret("x"))
        }
    }

    @Test("a malformed file is refused with its error")
    func malformed() {
        let broken = CryptoError.malformedKey(.pkcs12)
        let unsupported = CryptoError.unsupportedKey(.pkcs12)
        let made = Self.made
        let signed: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]
        let md5: [UInt8] = [6, 8, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, 5]
        let cases: [([UInt8], CryptoError)] = [
            ([], broken), ([0x30], broken), ([0x30, 0], broken), ([0x30, 0x80, 0, 0], broken),
            (D.sequence(D.integer(3)), broken),
            (file(), .wrongKeyPassword), (file() + [0], broken), (file(tail: D.null), broken),
            (file(version: D.integer(2)), broken),
            (file(version: [2, 2, 0, 3]), broken), (file(version: []), broken), (file(type: signed), unsupported),
            (file(type: []), broken), (file(safe: []), broken), (file(safe: D.sequence()), broken),
            (file(safe: D.octets([]) + D.octets([])), broken), (file(mac: []), unsupported),
            (file(mac: D.null), broken),
            (file(mac: D.sequence()), broken), (file(mac: mac(hash: md5)), unsupported),
            (file(mac: mac(tag: 31)), broken),
            (file(mac: mac(tag: 0)), broken), (file(mac: mac(salt: [])), broken),
            (file(mac: mac(salt: [UInt8](repeating: 0, count: 1025))), broken),
            (file(mac: mac(rounds: D.zero)), broken),
            (file(mac: mac(rounds: D.integer(0x80))), broken), (file(mac: mac(rounds: [2, 2, 0, 1])), broken),
            (file(mac: mac(rounds: [])), .wrongKeyPassword), (file(mac: mac(rounds: D.null)), broken),
            (file(mac: mac(rounds: D.integer(0x7F, 0xFF, 0xFF, 0xFF))), .workTooHigh),
            (file(mac: mac(rounds: D.integer(1, 0, 0, 0, 0))), broken), (file(mac: mac(tail: D.null)), broken),
            (Array(made.dropLast()), broken), (Array(made.prefix(made.count / 2)), broken), (made + [0], broken),
            ([0x31] + made.dropFirst(), broken), (Sample.pkcs8, broken), (Sample.spki, broken),
        ]
        #expect(cases.count >= 32)
        for (bytes, error) in cases { #expect(problem(bytes) == error, "\(Hex.encode(Array(bytes.prefix(80))))") }
    }

    @Test("a file with a right MAC is still read strictly")
    func inside() {
        // Under the password "secret", one round. Anyone with the password can sign the content.
        let broken = CryptoError.malformedKey(.pkcs12)
        let unsupported = CryptoError.unsupportedKey(.pkcs12)
        let encrypted: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 6]
        let enveloped: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 3]
        let bagOf: (UInt8) -> [UInt8] = { [6, 11, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 10, 1, $0] }
        let info: ([UInt8]) -> [UInt8] = { D.sequence(D.pkcs7Data, der(0xA0, D.octets($0))) }
        let bag: (UInt8, [UInt8]) -> [UInt8] = { D.sequence(D.sequence(bagOf($0), der(0xA0, $1))) }
        let name: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 20]
        let attribute: ([UInt8]) -> [UInt8] = { D.sequence(name, der(0x31, $0)) }
        let named: ([UInt8]) -> [UInt8] = {
            D.sequence(D.sequence(bagOf(1), der(0xA0, Sample.pkcs8), der(0x31, $0)))
        }
        let many = der(0x30, [[UInt8]](repeating: info(D.sequence()), count: 65).joined().map { $0 })
        let cases: [([UInt8], CryptoError?)] = [
            (D.sequence(), nil), (D.sequence(info(D.sequence())), nil), (D.sequence(info(bag(1, Sample.pkcs8))), nil),
            (D.sequence(info(named(attribute(der(0x1E, [0, 0x61]))))), nil), ([], broken), (D.null, broken),
            (D.sequence() + [0], broken), (D.sequence(D.null), broken), (D.sequence(info([])), broken),
            (D.sequence(info(D.sequence() + [0])), broken), (D.sequence(D.sequence(D.pkcs7Data)), broken),
            (D.sequence(D.sequence(enveloped, der(0xA0, D.sequence()))), unsupported),
            (D.sequence(D.sequence(encrypted, der(0xA0, D.sequence()))), broken),
            (D.sequence(D.sequence(encrypted, der(0xA0, D.sequence(D.zero, D.sequence(D.pkcs7Data))))), broken),
            (D.sequence(D.sequence(encrypted, der(0xA0, D.sequence(D.integer(2), D.sequence(D.pkcs7Data))))), broken),
            (D.sequence(D.sequence(encrypted, der(0xA0, D.sequence(D.zero, D.sequence(enveloped))))), unsupported),
            (D.sequence(info(bag(1, Sample.pkcs8 + [0]))), broken), (D.sequence(info(bag(1, D.sequence()))), broken),
            (D.sequence(info(bag(4, D.sequence()))), unsupported),
            (D.sequence(info(bag(6, D.sequence()))), unsupported),
            (D.sequence(info(bag(5, D.sequence(name, der(0xA0, D.octets([1])))))), nil),
            (D.sequence(info(bag(5, D.null))), broken), (D.sequence(info(bag(5, D.sequence() + D.null))), broken),
            (D.sequence(info(bag(3, D.sequence()))), broken), (D.sequence(info(bag(3, D.sequence(name)))), unsupported),
            (D.sequence(info(bag(2, D.sequence()))), broken), (D.sequence(info(bag(2, Sample.pkcs8))), broken),
            (D.sequence(info(named(attribute(der(0x1E, [0]))))), broken),
            (D.sequence(info(named(attribute(D.null)))), broken),
            (D.sequence(info(named(attribute([])))), broken), (D.sequence(info(named(D.null))), broken),
            (D.sequence(info(named(attribute(der(0x1E, [])) + attribute(der(0x1E, []))))), broken),
            (D.sequence(info(named(attribute(der(0x1E, []) + der(0x1E, []))))), broken),
            (D.sequence(info(D.sequence(D.sequence(bagOf(1))))), broken),
            (D.sequence(info(D.sequence(D.sequence(bagOf(1), der(0xA0, Sample.pkcs8), D.null)))), broken),
            (many, broken),
        ]
        #expect(cases.count >= 32)
        for (safe, error) in cases {
            #expect(problem(Sealed.file(safe)) == error, "\(Hex.encode(Array(safe.prefix(80))))")
        }
    }

    @Test("all derivations of a file together stay within the caller's work limit")
    func work() {
        // The file above needs work for its MAC, and once more for the key, but none for certificates: 1,200,000 in all.
        #expect(problem(Self.made) == nil)
        let costly = Sealed.file(D.sequence(), rounds: D.integer(0, 0x98, 0x96, 0x81))
        #expect(problem(costly) == .workTooHigh)
        // One round for the MAC: 9,999,999 are left.
        #expect(problem(Sealed.file(D.sequence(info(shrouded(D.integer(0, 0x98, 0x96, 0x80)))))) == .workTooHigh)
    }

    @Test("the work of one part of a file reduces the limit for the next")
    func workOfParts() throws {
        // 1 for the MAC and 600,000 for a key that opens leave 9,399,999. The next key asks for one more.
        let first = try bag(Sample.p256.key.encryptedPKCS8(password: secret("secret")).array())
        let next = shrouded(D.integer(0, 0x8F, 0x6E, 0xC0))
        #expect(problem(Sealed.file(D.sequence(info(D.sequence(first))))) == nil)
        #expect(problem(Sealed.file(D.sequence(info(D.sequence(first)), info(next)))) == .workTooHigh)
    }

    private func info(_ bags: [UInt8]) -> [UInt8] { D.sequence(D.pkcs7Data, der(0xA0, D.octets(bags))) }

    private func bag(_ key: [UInt8]) -> [UInt8] {
        D.sequence([6, 11, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 10, 1, 2], der(0xA0, key))
    }

    /// Bags of one key, encrypted by PBES2 with this many rounds of SHA-256. No password opens them.
    private func shrouded(_ rounds: [UInt8]) -> [UInt8] {
        let pbes2: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 13]
        let pbkdf2: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 12]
        let hmac: [UInt8] = [6, 8, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, 9]
        let aes256: [UInt8] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42]
        let function = D.sequence(pbkdf2, D.sequence(D.octets([1]), rounds, D.sequence(hmac, D.null)))
        let cipher = D.sequence(aes256, D.octets([UInt8](repeating: 0, count: 16)))
        let zeros = D.octets([UInt8](repeating: 0, count: 64))
        return D.sequence(bag(D.sequence(D.sequence(pbes2, D.sequence(function, cipher)), zeros)))
    }

    @Test("secrets other than keys are skipped and counted")
    func otherSecrets() throws {
        let secretBag: [UInt8] = [6, 11, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 10, 1, 5]
        let bags = D.sequence(D.sequence(secretBag, der(0xA0, D.sequence(D.null))))
        let contents = try PKCS12File(secret(Sealed.file(D.sequence(info(bags))))).open(password: secret("secret"))
        #expect(contents.otherSecrets == 1 && contents.identities.isEmpty)
    }
}

/// A PKCS#12 file around any bytes, sealed with SHA-256 and the password "secret". The MAC is computed by RFC 7292
/// appendix B, step by step and for one block, so that the test does not depend on the code under test.
private enum Sealed {
    static func file(_ safe: [UInt8], rounds: [UInt8] = D.integer(1)) -> [UInt8] {
        let salt = [UInt8](repeating: 0x5A, count: 8)
        let tag = hmac(key: key("secret", salt), safe)
        let mac = D.sequence(D.sequence(D.sequence(D.sha256, D.null), D.octets(tag)), D.octets(salt), rounds)
        return D.sequence(D.integer(3), D.sequence(D.pkcs7Data, der(0xA0, D.octets(safe))), mac)
    }

    /// One round, purpose 3: H(D ‖ S ‖ P), each repeated to whole blocks of 64.
    private static func key(_ password: String, _ salt: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        for unit in password.utf16 { text += [UInt8(unit >> 8), UInt8(unit & 0xFF)] }
        text += [0, 0]
        let filled: ([UInt8]) -> [UInt8] = { bytes in (0..<64).map { bytes[$0 % bytes.count] } }
        return sha256([UInt8](repeating: 3, count: 64) + filled(salt) + filled(text))
    }

    private static func hmac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        let block = key + [UInt8](repeating: 0, count: 64 - key.count)
        return sha256(block.map { $0 ^ 0x5C } + sha256(block.map { $0 ^ 0x36 } + message))
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        do { return try Digest.of(bytes, .sha256) } catch { fatalError("\(error)") }
    }
}
