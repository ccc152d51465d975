import OMCrypto
import OMSecrets
import Testing

@Suite struct OpenSSHKeyTests {
    private func string(_ bytes: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private func string(_ text: String) -> [UInt8] { string(Array(text.utf8)) }

    private func line(_ name: String, _ blob: [UInt8], _ comment: String = "") -> String {
        "\(name) \(Base64.encode(blob))\(comment)"
    }

    private var ed: [UInt8] { string("ssh-ed25519") + string(Sample.half) }

    @Test("a public line is read with and without its comment, and written the same")
    func readable() throws {
        for text in [
            line("ssh-ed25519", ed), line("ssh-ed25519", ed) + "\n", line("ssh-ed25519", ed, " a b  c") + "\r\n",
            line("ssh-ed25519", ed, " "),
        ] {
            #expect(problem(text) == nil, "\(text)")
        }
        for box in [Sample.rsa, Sample.p256] {
            let text = try box.key.publicKey().openSSHLine(comment: "me@here")
            #expect(text.hasSuffix(" me@here"))
            #expect(try KeyFile(secret(text)).publicKey().spki() == box.key.publicKey().spki())
        }
        #expect(throws: CryptoError.wrongKeyType) { _ = try PublicKey(x25519: Sample.half).openSSHLine() }
    }

    @Test("a malformed public line is refused with its error")
    func malformed() throws {
        let broken = CryptoError.malformedKey(.openSSHPublic)
        let unsupported = CryptoError.unsupportedKey(.openSSHPublic)
        let point = try Sample.p256.key.publicKey().rawBytes
        let ec: ([UInt8], String) -> [UInt8] = { point, curve in
            self.string("ecdsa-sha2-nistp256") + self.string(curve) + self.string(point)
        }
        let p256 = "ecdsa-sha2-nistp256"
        let modulus: [UInt8] = [0, 0x80] + [UInt8](repeating: 0, count: 126) + [1]
        let rsa: ([UInt8], [UInt8]) -> [UInt8] = { self.string("ssh-rsa") + self.string($0) + self.string($1) }
        let base = Base64.encode(ed)
        let cases: [(String, CryptoError)] = [
            ("ssh-ed25519", broken), ("ssh-ed25519 ", broken), ("ssh-ed25519  \(base)", broken),
            ("ssh-ed25519\t\(base)", broken), ("ssh-ed25519 \(base)\nssh-ed25519 \(base)", broken),
            ("ssh-ed25519 \(base)\n\n", broken), ("ssh-ed25519 \(base.dropLast())", broken),
            ("ssh-ed25519 \(base)=", broken), ("ssh-ed25519 \(base)\u{7F}", broken),
            ("ssh-ed25519 \(base) \u{1B}[2J", broken),
            ("ssh-ed25519 \(base) a\0", broken), (line("ssh-ed25519", []), broken),
            (line("ssh-ed25519", [0, 0, 0]), broken),
            (line("ssh-ed25519", [0, 0, 0, 11]), broken), (line("ssh-ed25519", [0xFF, 0xFF, 0xFF, 0xFF]), broken),
            (line("ssh-ed25519", ed + [0]), broken), (line("ssh-ed25519", Array(ed.dropLast())), broken),
            (line("ssh-ed25519", string("ssh-ed25519")), broken), (line("ssh-rsa", ed), broken),
            (line("ssh-ed25519", string("ssh-ed25519") + string(Sample.half + [0])), broken),
            (line("ssh-dss", ed), unsupported), (line("ssh-ed448", ed), unsupported),
            (line("sk-ssh-ed25519@openssh.com", ed), unsupported),
            (line(p256, ec(point, "nistp384")), broken), (line(p256, ec(Array(point.dropLast()), "nistp256")), broken),
            (line(p256, ec(point.dropLast() + [point[64] ^ 1], "nistp256")), .invalidKey),
            (line(p256, ec([2] + point[1...32], "nistp256")), broken),
            (line("ecdsa-sha2-nistp384", ec(point, "nistp256")), broken),
            (line("ecdsa-sha2-nistp224", ec(point, "nistp224")), unsupported),
            (line("ssh-rsa", rsa([1, 0, 1], [UInt8](modulus.dropFirst()))), broken),
            (line("ssh-rsa", rsa([0, 1, 0, 1], modulus)), broken), (line("ssh-rsa", rsa([], modulus)), broken),
            (line("ssh-rsa", rsa([0], modulus)), broken), (line("ssh-rsa", rsa([1, 0, 1], [0] + modulus)), broken),
            (line("ssh-rsa", rsa([1], modulus)), .invalidKey), (line("ssh-rsa", rsa([1, 0, 1], [3])), .invalidKey),
            (line("ssh-rsa", rsa([1, 0, 1], modulus) + [0]), broken),
        ]
        #expect(cases.count >= 32)
        for (text, error) in cases { #expect(problem(text) == error, "\(text)") }
    }

    private func file(
        cipher: String = "none", kdf: String = "none", options: [UInt8] = [], count: UInt8 = 1, outer: [UInt8]? = nil,
        checks: [UInt8] = [1, 2, 3, 4, 1, 2, 3, 4], name: String = "ssh-ed25519", half: [UInt8] = Sample.half,
        both: [UInt8] = Sample.seed + Sample.half, comment: String = "test", padding: [UInt8]? = nil,
        tail: [UInt8] = [],
        magic: String = "openssh-key-v1\0"
    ) -> String {
        var section = checks + string(name) + string(half) + string(both) + string(comment)
        section += padding ?? (1...8).prefix((8 - section.count % 8) % 8).map { UInt8($0) }
        let bytes =
            Array(magic.utf8) + string(cipher) + string(kdf) + string(options) + [0, 0, 0, count] + string(outer ?? ed)
            + string(section) + tail
        return Sample.long("OPENSSH PRIVATE KEY", bytes)
    }

    @Test("an unencrypted private file is read")
    func privateFile() throws {
        let opened = try KeyFile(secret(file())).privateKey()
        #expect(try opened.rawBytes().array() == Sample.seed)
        // A comment of 5 bytes fills the last block. Then OpenSSH adds nothing, and Python's cryptography adds a block.
        #expect(problem(file(comment: "test1")) == nil)
        #expect(problem(file(comment: "test1", padding: Array(1...8))) == nil)
    }

    @Test("a malformed private file is refused with its error")
    func malformedPrivate() {
        let broken = CryptoError.malformedKey(.openSSHPrivate)
        let unsupported = CryptoError.unsupportedKey(.openSSHPrivate)
        let other = [UInt8](repeating: 9, count: 32)
        let cases: [(String, CryptoError)] = [
            (file(magic: "openssh-key-v2\0"), broken), (file(magic: ""), broken),
            (file(cipher: "aes256-ctr"), unsupported),
            (file(cipher: "aes256-ctr", kdf: "bcrypt"), broken), (file(kdf: "bcrypt"), unsupported),
            (file(cipher: "arcfour", kdf: "bcrypt"), unsupported), (file(cipher: "aes256-ctr", kdf: "scrypt"), unsupported),
            (file(options: [0]), broken), (file(count: 0), broken), (file(count: 2), broken),
            (file(outer: []), broken), (file(outer: string("ssh-ed25519")), broken), (file(outer: ed + [0]), broken),
            (file(outer: string("ssh-ed25519") + string(Sample.seed)), .invalidKey),
            (file(outer: string("ssh-dss") + string(Sample.half)), unsupported),
            (file(checks: [1, 2, 3, 4, 1, 2, 3, 5]), broken), (file(checks: []), broken),
            (file(name: "ssh-rsa"), unsupported),
            (file(name: "ssh-dss"), unsupported), (file(half: other), broken), (file(half: []), broken),
            (file(both: Sample.seed), broken), (file(both: Sample.seed + other), broken),
            (file(both: other + Sample.half), .invalidKey), (file(both: Sample.seed + Sample.half + [0]), broken),
            (file(padding: []), broken), (file(padding: [2]), broken), (file(padding: [1, 2, 3, 4, 5, 6, 7]), broken),
            (file(comment: "test1", padding: [2, 1, 3]), broken), (file(padding: [0, 0, 0, 0]), broken),
            (file(comment: "test1", padding: Array(1...16)), broken), (file(tail: [0]), broken),
            (Sample.pem("OPENSSH PRIVATE KEY", Array("openssh-key-v1\0".utf8)), broken),
            (Sample.pem("OPENSSH PRIVATE KEY", [0]), broken),
        ]
        #expect(cases.count >= 32)
        for (index, (text, error)) in cases.enumerated() { #expect(problem(text) == error, "case \(index)") }
    }
}
