import Glibc
import OMCrypto
import OMSecrets
import Testing

@Suite struct PEMTests {
    private let base = Base64.encode(Sample.pkcs8)

    private func block(_ body: String, begin: String = "PRIVATE KEY", end: String? = nil) -> String {
        "-----BEGIN \(begin)-----\n\(body)\n-----END \(end ?? begin)-----\n"
    }

    @Test("a key is read between explanations, after certificates and with either line end")
    func readable() {
        let pem = Sample.pem("PRIVATE KEY", Sample.pkcs8)
        let wrapped = block(String(base.prefix(32)) + "\n" + base.dropFirst(32))
        let certificate = Sample.pem("CERTIFICATE", D.sequence(D.zero))
        for text in [
            pem, pem.replacing("\n", with: "\r\n"), "Bag Attributes\n  localKeyID: 01\n" + pem + "thanks\n", wrapped,
            certificate + pem, pem + certificate, String(pem.dropLast()),
        ] {
            #expect(problem(text) == nil, "\(text)")
        }
    }

    @Test("a key after many certificates is read, and a file of too many blocks is refused fast")
    func blocks() {
        let pem = Sample.pem("PRIVATE KEY", Sample.pkcs8)
        let one = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let certificates = { String(repeating: one, count: $0) }
        #expect(problem(certificates(1023) + pem) == nil)
        #expect(problem(certificates(1024) + pem) == .malformedKey(.pem))
        let start = Self.processorTime()
        #expect(problem(certificates(17_000)) == .malformedKey(.pem))
        #expect(throws: CryptoError.malformedKey(.pem)) { _ = try Certificate.all(in: secret(certificates(17_000))) }
        // Both took 20 s when each block asked for memory as long as the file.
        #expect(Self.processorTime() - start < 5)
    }

    /// Seconds of this thread.
    private static func processorTime() -> Int {
        var time = timespec()
        _ = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec
    }

    @Test("malformed PEM is refused with its error")
    func malformed() {
        let pem = Sample.pem("PRIVATE KEY", Sample.pkcs8)
        let (half, rest) = (String(base.prefix(32)), String(base.dropFirst(32)))
        let broken = CryptoError.malformedKey(.pem)
        let cases: [(String, CryptoError)] = [
            ("", .unknownKeyFormat), ("-----", .unknownKeyFormat), ("PRIVATE KEY", .unknownKeyFormat),
            (base, .unknownKeyFormat), (block(base) + block(base), .severalKeys), (String(pem.dropLast(2)), broken),
            ("-----BEGIN PRIVATE KEY-----\n\(base)\n", broken), ("-----BEGIN PRIVATE KEY-----\n", broken),
            ("\(base)\n-----END PRIVATE KEY-----\n", .unknownKeyFormat),
            ("-----END PRIVATE KEY-----\n" + pem, broken), (pem + "-----END PRIVATE KEY-----\n", broken),
            ("-----begin PRIVATE KEY-----\n\(base)\n-----END PRIVATE KEY-----\n", .unknownKeyFormat),
            (block(base, end: "PUBLIC KEY"), broken), (block(base, begin: "private key"), broken),
            (block(base, begin: "PRIVATE KEY-"), broken), (block(base, begin: ""), broken), (block(""), broken),
            (block(" " + base), broken), (block(base + " "), broken), (block(half + "\n\n" + rest), broken),
            (block(half + "\n" + rest + "\n"), broken), (block(rest + "\n" + half + "A"), broken),
            (block(half + "\t\n" + rest), broken), (block(String(base.dropLast())), broken),
            (block(base + "AAAA"), .malformedKey(.pkcs8)), (block(base.replacing("M", with: "-")), broken),
            (block(base + "===="), broken), (block(base.dropLast() + "\u{E9}"), broken),
            (block(String(repeating: "A", count: 80)), broken), (block(String(repeating: "=", count: 8)), broken),
            (block("Proc-Type: 4,ENCRYPTED\n\n" + base), broken),
            (block("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC\n\n" + base), broken),
            (block("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,zz\n\n" + base), broken),
            (block("Proc-Type: 4,MIC-ONLY\nDEK-Info: AES-256-CBC,00\n\n" + base), broken),
            (block("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n" + base), broken),
            (block("X-Comment: a\n\n" + base), broken),
            (Sample.pem("DSA PRIVATE KEY", Sample.pkcs8), .unsupportedKey(.pem)),
            (Sample.pem("CERTIFICATE", Sample.spki), .certificateInsteadOfKey),
            (Sample.pem("EC PARAMETERS", Sample.spki), broken),
            (pem + Sample.pem("PUBLIC KEY", Sample.spki), .severalKeys),
            (Sample.pem("PUBLIC KEY", Sample.pkcs8), .malformedKey(.spki)),
            (Sample.pem("PRIVATE KEY", Sample.spki), .malformedKey(.pkcs8)),
            (Sample.pem("RSA PRIVATE KEY", Sample.pkcs8), .malformedKey(.pkcs1)),
            (Sample.pem("EC PRIVATE KEY", Sample.pkcs8), .malformedKey(.sec1)),
            (Sample.pem("PRIVATE KEY", Sample.pkcs8 + [0]), .malformedKey(.pkcs8)),
        ]
        #expect(cases.count >= 32)
        for (text, error) in cases { #expect(problem(text) == error, "\(text)") }
    }

    @Test("a private key under the label of a public one is refused")
    func labels() throws {
        let pair = try Sample.rsa.key.unencryptedPKCS1().array()
        let half = try Sample.rsa.key.publicKey().pkcs1()
        #expect(problem(Sample.long("RSA PRIVATE KEY", pair)) == nil)
        #expect(problem(Sample.long("RSA PUBLIC KEY", half)) == nil)
        #expect(problem(Sample.long("RSA PUBLIC KEY", pair)) == .malformedKey(.pkcs1))
        #expect(problem(Sample.long("RSA PRIVATE KEY", half)) == .malformedKey(.pkcs1))
    }
}

extension Sample {
    /// In lines of 64 characters, as a long block needs.
    static func long(_ label: String, _ der: [UInt8]) -> String {
        let text = Array(Base64.encode(der))
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
    }
}
