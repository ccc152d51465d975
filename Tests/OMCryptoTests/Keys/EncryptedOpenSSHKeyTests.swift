import OMCrypto
import OMSecrets
import Testing

/// Encrypted private files of OpenSSH. `OpenSSHKeyCommandTests` has those of the real `ssh-keygen`, with every cipher.
@Suite struct EncryptedOpenSSHKeyTests {
    private let password = Array("correct horse".utf8)

    /// Of `ssh-keygen -t ed25519 -a 1 -Z chacha20-poly1305@openssh.com`, under ``password``.
    private static let poly1305 = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAAHWNoYWNoYTIwLXBvbHkxMzA1QG9wZW5zc2guY29tAAAABm
        JjcnlwdAAAABgAAAAQhPpOVZ76xiPk5UWi34nhzQAAAAEAAAABAAAAMwAAAAtzc2gtZWQy
        NTUxOQAAACAeNM3x8SrkE7WMhRgyXGEm8rdVzsZPJJE0ecsAcyXF2wAAAIiBbHftq6GxIB
        l+L/V7QCkQOo+hsVMHm7u+c4Lsl/+PshuALZIS8wZUpBlLXS0kfFnV+xrIusSErVJES2/d
        z+mGCaSNO4paNAzwqFv9Xt5XXMx3xTOy0mkjBG4l7wmE+jVfAPrK8OGjnec+9NJdhT/J/Z
        PGEvMY7MNWogcaE0Vfw1kEPjAcn3gNvnPYGZzQNXhTwqb741kd/Q==
        -----END OPENSSH PRIVATE KEY-----
        """

    /// The same with `-Z aes256-gcm@openssh.com`.
    private static let gcm = """
        -----BEGIN OPENSSH PRIVATE KEY-----
        b3BlbnNzaC1rZXktdjEAAAAAFmFlczI1Ni1nY21Ab3BlbnNzaC5jb20AAAAGYmNyeXB0AA
        AAGAAAABAXBZnezpIUg97i1rXjlF0KAAAAAQAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAA
        IMxO4RkOHjQ2DWK3UGvyLJFES+WKO+l8QloIT5OC7aUVAAAAkGVzXLMiSg9gFmhO3cUiYI
        wB2STlyFYyW7QWfiFAgbccMC62yenMl7OdKo8zZENWYbPRXolq4YN9cCRoMlZei/VWGHEI
        zEB2KvQjFD26C6LKr7HV/LtLMFgvLzVpi3eCBPeaa8wKSwvjl4rrBnlQQ/APwz0nLgE4ir
        plHSRk2eF1CdZoth1fpkiFu5yT83tfDSGH8L4ODm/6e0j/JivtVZI=
        -----END OPENSSH PRIVATE KEY-----
        """

    private func error(_ text: [UInt8], _ password: [UInt8]) -> CryptoError? {
        do throws(CryptoError) {
            _ = try KeyFile(secret(text)).privateKey(password: secret(password))
            return nil
        } catch { return error }
    }

    /// The bytes inside a file's text.
    private func inside(_ text: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
        return try Base64.decode(lines.joined())
    }

    private func text(_ inside: [UInt8]) -> [UInt8] { Array(Sample.long("OPENSSH PRIVATE KEY", inside).utf8) }

    @Test("every kind of key is written and read as the same, encrypted and not")
    func written() throws {
        for kind in [KeyKind.rsa(bits: 2048), .ec(.p256), .ec(.p384), .ec(.p521), .ed25519] {
            let key = try PrivateKey.generate(kind)
            let wanted = try key.publicKey().spki()
            let file = try KeyFile(key.encryptedOpenSSH(password: secret(password), comment: "me"))
            #expect(file.format == .openSSHPrivate && file.isEncrypted && file.encryptionName == "bcrypt, aes256-ctr")
            #expect(file.encryptionWork == 24)
            #expect(try file.privateKey(password: secret(password)).publicKey().spki() == wanted)
            #expect(throws: CryptoError.keyPasswordRequired) { try file.privateKey() }
            let plain = try KeyFile(key.unencryptedOpenSSH(comment: "me"))
            #expect(!plain.isEncrypted && plain.encryptionName == nil)
            #expect(try plain.privateKey().publicKey().spki() == wanted)
            #expect(throws: CryptoError.wrongKeyPassword) { try plain.privateKey(password: secret(password)) }
        }
        #expect(throws: CryptoError.wrongKeyType) { try PrivateKey.generate(.x25519).unencryptedOpenSSH() }
    }

    @Test("a file is read with its password only, and its work is refused before it is done")
    func passwords() throws {
        let key = try PrivateKey.generate(.ed25519)
        let file = bytes(try key.encryptedOpenSSH(password: secret(password)))
        #expect(error(file, password) == nil)
        for wrong in [[], [1], password + [0], Array(password.dropLast())] {
            #expect(error(file, wrong) == .wrongKeyPassword)
        }
        var inside = try inside(file)
        // The salt has 16 bytes; the rounds follow it.
        let rounds = 15 + 4 + 10 + 4 + 6 + 4 + 4 + 16
        #expect(Array(inside[rounds..<rounds + 4]) == [0, 0, 0, 24])
        inside.replaceSubrange(rounds..<rounds + 4, with: [0, 0, 1, 245])
        // Required, because a reader without a limit would never come back from the next one.
        try #require(error(text(inside), password) == .workTooHigh)
        inside.replaceSubrange(rounds..<rounds + 4, with: [255, 255, 255, 255])
        #expect(error(text(inside), password) == .workTooHigh)
        inside.replaceSubrange(rounds..<rounds + 4, with: [0, 0, 0, 0])
        #expect(error(text(inside), password) == .malformedKey(.openSSHPrivate))
    }

    @Test("a changed byte of an authenticated file is noticed like a wrong password")
    func authenticated() throws {
        for file in [Self.poly1305, Self.gcm] {
            let file = Array(file.utf8)
            #expect(error(file, password) == nil)
            let inside = try inside(file)
            for index in inside.count - 40..<inside.count {
                var changed = inside
                changed[index] ^= 1
                #expect(error(text(changed), password) == .wrongKeyPassword, "\(index)")
            }
            #expect(error(text(Array(inside.dropLast())), password) == .malformedKey(.openSSHPrivate))
            #expect(error(text(inside + [0]), password) == .malformedKey(.openSSHPrivate))
        }
    }
}
