import OMCrypto
import OMSecrets
import Testing

/// The text of age's keys. The pair is the testkit's, and `age-keygen -y` gives the same recipient (`AgeCommandTests`).
@Suite("age keys") struct AgeKeyTests {
    private static let identity = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
    private static let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"

    private func error(_ text: String) -> CryptoError? {
        do throws(CryptoError) { _ = try KeyFile(secret(text.utf8)).privateKey() } catch { return error }
        return nil
    }

    private func recipientError(_ text: String) -> CryptoError? {
        do throws(CryptoError) { _ = try AgeRecipient(text) } catch { return error }
        return nil
    }

    @Test("an identity and its recipient are read and written as they were")
    func texts() throws {
        let file = try KeyFile(secret("# a comment\r\n\n\(Self.identity)\r\n".utf8))
        #expect(file.format == .ageIdentity && file.isPrivate && !file.isEncrypted)
        let key = try file.privateKey()
        #expect(try bytes(key.unencryptedAgeIdentity()) == Array("# public key: \(Self.recipient)\n\(Self.identity)\n".utf8))
        #expect(try AgeRecipient(key.publicKey()).text == Self.recipient)
        #expect(try AgeRecipient(Self.recipient).text == Self.recipient)
        let half = try KeyFile(secret("\(Self.recipient)\n".utf8))
        #expect(half.format == .ageRecipient && !half.isPrivate)
        #expect(try half.publicKey().spki() == key.publicKey().spki())
    }

    @Test("one changed, missing, added or lower-case character of a key is refused")
    func changes() {
        let characters = Array(Self.identity.utf8)
        for index in 16..<characters.count {
            var changed = characters
            changed[index] = changed[index] == UInt8(ascii: "Q") ? UInt8(ascii: "P") : UInt8(ascii: "Q")
            #expect(error(String(decoding: changed, as: UTF8.self)) == .malformedKey(.ageIdentity), "\(index)")
            changed = characters
            changed[index] |= 0x20
            let isLetter = changed[index] != characters[index]
            #expect((error(String(decoding: changed, as: UTF8.self)) != nil) == isLetter, "\(index)")
            changed.remove(at: index)
            #expect(error(String(decoding: changed, as: UTF8.self)) == .malformedKey(.ageIdentity), "\(index)")
        }
        #expect(error(Self.identity + "Q") == .malformedKey(.ageIdentity))
        #expect(error(Self.identity.lowercased()) == .unknownKeyFormat)
        #expect(recipientError(Self.recipient.uppercased()) == .malformedKey(.ageRecipient))
        #expect(recipientError(String(Self.recipient.dropLast())) == .malformedKey(.ageRecipient))
        #expect(recipientError(" " + Self.recipient) == .malformedKey(.ageRecipient))
        #expect(recipientError(Self.recipient.replacing("mww", with: "mwW")) == .malformedKey(.ageRecipient))
    }

    @Test("a recipient that is no private key's public half is refused, as text and as a key")
    func reduced() throws {
        // The recipient with its highest bit set, 2^255 - 10, and 2^255 - 20, which is the highest number allowed.
        for text in [
            "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mw4q363rzs",
            "age17mlllllllllllllllllllllllllllllllllllllllllllllllalsxajvgg",
        ] {
            #expect(recipientError(text) == .malformedKey(.ageRecipient))
        }
        #expect(recipientError("age1anlllllllllllllllllllllllllllllllllllllllllllllllals4n2t7m") == nil)
        var raw = try KeyFile(secret(Self.recipient.utf8)).publicKey().rawBytes
        raw[31] |= 0x80
        let key = try PublicKey(x25519: raw)
        #expect(throws: CryptoError.unusableAgeRecipient) { try AgeRecipient(key) }
    }

    @Test("keys of other kinds are named as such, and two keys need a list")
    func others() throws {
        #expect(
            error("AGE-SECRET-KEY-PQ-1HZLGZUPT4ETPKDEV8HSGFDCYZ4E522W0A7PU2LHT8EH9W6YLNC3SW78XKG")
                == .unsupportedKey(.ageIdentity))
        #expect(error("AGE-PLUGIN-YUBIKEY-1QQ") == .unsupportedKey(.ageIdentity))
        #expect(
            recipientError("age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t")
                == .unsupportedKey(.ageRecipient))
        #expect(error("\(Self.identity)\n\(Self.identity)\n") == .severalKeys)
        #expect(try AgeIdentity.list(in: secret("\(Self.identity)\n#\n\(Self.identity)\n".utf8)).count == 2)
        let mixed = secret("AGE-PLUGIN-YUBIKEY-1QQ\n\(Self.identity)\n".utf8)
        #expect(throws: CryptoError.unsupportedKey(.ageIdentity)) { try AgeIdentity.list(in: mixed) }
        #expect(try AgeIdentity.list(in: mixed, skipsUnknown: true).count == 1)
        #expect(throws: CryptoError.unsupportedKey(.ageIdentity)) {
            try AgeIdentity.list(in: secret("AGE-PLUGIN-YUBIKEY-1QQ\n".utf8), skipsUnknown: true)
        }
        #expect(throws: CryptoError.unusableAgeRecipient) {
            try AgeIdentity.list(in: secret(String(repeating: "\(Self.identity)\n", count: 65).utf8))
        }
        for kind in [KeyKind.ec(.p256), .ec(.p384)] {
            #expect(throws: CryptoError.unusableAgeRecipient) { try AgeIdentity(PrivateKey.generate(kind)) }
        }
        #expect(throws: CryptoError.unusableAgeRecipient) {
            try AgeIdentity(Insecure.generateRSA(bits: 1024))
        }
    }

    @Test("a list of recipients has comments, lines of OpenSSH, and nothing else")
    func lists() throws {
        let ssh = try PrivateKey.generate(.ed25519).publicKey().openSSHLine(comment: "me at home")
        let list = try AgeRecipient.list(in: secret("# all\n\(Self.recipient)\n\n\(ssh)\n".utf8))
        #expect(list.map(\.text) == [Self.recipient, ssh.replacing(" me at home", with: "")])
        let isList = AgeRecipient.isList(secret("# all\n\(ssh)\n".utf8)), isOther = AgeRecipient.isList(secret("hello\n".utf8))
        #expect(isList && !isOther)
        #expect(throws: CryptoError.malformedKey(.ageRecipient)) {
            try AgeRecipient.list(in: secret("\(Self.recipient)\nhello\n".utf8))
        }
        let faulty = AgeRecipient.faultyLine(in: secret("# all\r\n\(Self.recipient)\n\nhello\n".utf8))
        #expect(faulty == 4)
        #expect(AgeRecipient.faultyLine(in: secret("\(Self.recipient)\n".utf8)) == nil)
        let many = String(repeating: "\(Self.recipient)\n", count: 65)
        #expect(throws: CryptoError.unusableAgeRecipient) { try AgeRecipient.list(in: secret(many.utf8)) }
        #expect(throws: CryptoError.unusableAgeRecipient) { try AgeRecipient.list(in: secret("# none\n".utf8)) }
    }

    @Test("an encrypted identity opens with its password only")
    func encrypted() throws {
        let key = try KeyFile(secret(Self.identity.utf8)).privateKey()
        let password = try Password(secret("correct horse".utf8))
        let text = try key.encryptedAgeIdentity(password: password, logCost: 10)
        let file = try KeyFile(text)
        #expect(file.format == .encryptedAgeIdentity && file.isEncrypted && file.isPrivate)
        #expect(file.encryptionName == "scrypt, ChaCha20-Poly1305" && file.encryptionWork == 8 << 10)
        #expect(throws: CryptoError.keyPasswordRequired) { try file.privateKey() }
        #expect(throws: CryptoError.wrongKeyPassword) { try file.privateKey(password: secret([1])) }
        let again = try file.privateKey(password: secret("correct horse".utf8))
        #expect(try again.publicKey().spki() == key.publicKey().spki())
        // A list is encrypted too. It has several keys, so it is no key file.
        let lines = Array("\(Self.identity)\n# other\n\(Self.identity)\n".utf8)
        let list = try KeyFile(secret(AgeFileTests.sealed(lines, AgeSealer(password: password, logCost: 10))))
        #expect(try list.ageIdentities(password: secret("correct horse".utf8)).count == 2)
        #expect(throws: CryptoError.wrongKeyPassword) { try list.ageIdentities(password: secret([1])) }
        #expect(throws: CryptoError.severalKeys) { try list.privateKey(password: secret("correct horse".utf8)) }
        // Another plaintext is no identity, and a file for a key has no password.
        let other = try AgeFileTests.sealed([1], AgeSealer(password: password, logCost: 10))
        #expect(throws: CryptoError.malformedKey(.encryptedAgeIdentity)) {
            try KeyFile(secret(other)).privateKey(password: secret("correct horse".utf8))
        }
        let forKey = try AgeFileTests.sealed([1], AgeSealer(recipients: [AgeRecipient(Self.recipient)]))
        #expect(throws: CryptoError.unsupportedKey(.encryptedAgeIdentity)) { try KeyFile(secret(forKey)) }
    }
}
