// Key files from unknown sources.

import OMCrypto
import OMSecrets

enum KeyTargets {
    static let all = [
        // PEM, DER, JWK, OpenSSH, chosen by the bytes.
        FuzzTarget(name: "key-files") { readAndWrite($0) },
        // Only a JSON object, so that all the time goes into its reader.
        FuzzTarget(name: "jwk") { bytes in readAndWrite([UInt8(ascii: "{")] + bytes, as: .jwk) },
        FuzzTarget(name: "openssh-private") { bytes in
            let name = "OPENSSH PRIVATE KEY-----\n"
            let text = "-----BEGIN \(name)\(lines(Base64.encode(bytes)))-----END \(name)"
            readAndWrite(Array(text.utf8), as: .openSSHPrivate)
        },
        // The same with a password, and few rounds.
        FuzzTarget(name: "openssh-encrypted") { bytes in
            let name = "OPENSSH PRIVATE KEY-----\n"
            let text = "-----BEGIN \(name)\(lines(Base64.encode(bytes)))-----END \(name)"
            guard let file = try? KeyFile(SecretBytes(copying: Array(text.utf8))), file.isEncrypted,
                (file.encryptionWork ?? .max) <= 2
            else { return }
            _ = file.encryptionName
            _ = try? file.privateKey(password: SecretBytes(copying: Array("one".utf8)))
        },
        // Only keys that cost almost nothing are derived. A work factor above the cap is refused first.
        FuzzTarget(name: "key-files-encrypted") { bytes in
            guard let file = try? KeyFile(SecretBytes(copying: bytes)), (file.encryptionWork ?? .max) <= 1000 else {
                return
            }
            _ = try? file.privateKey(password: SecretBytes(copying: Array("one".utf8)))
        },
        FuzzTarget(name: "pkcs12") { bytes in
            guard let file = try? PKCS12File(SecretBytes(copying: bytes)), file.macIterations <= 1000 else { return }
            _ = try? file.open(password: SecretBytes(copying: Array("one".utf8)))
        },
        // The part under the MAC, which random bytes never reach.
        FuzzTarget(name: "pkcs12-inside") { bytes in
            _ = try? PKCS12File.contents(
                unauthenticated: bytes, password: SecretBytes(copying: Array("one".utf8)), work: 5000)
        },
        FuzzTarget(name: "certificates") { bytes in
            for certificate in (try? Certificate.all(in: SecretBytes(copying: bytes))) ?? [] {
                _ = certificate.subject
                let description = try? certificate.description()
                for name in description?.names ?? [] {
                    precondition((try? SubjectName(name.text)) == name, "a name is written as another")
                }
            }
        },
        FuzzTarget(name: "subjects") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let name = try? SubjectName(text) {
                precondition((try? SubjectName(name.text)) == name, "a name is written as another")
                _ = try? certificationRequest(Self.key, subject: Self.subject, names: [name])
            }
            guard let subject = try? DistinguishedName(text) else { return }
            precondition((try? DistinguishedName(subject.text)) == subject, "a subject is written as another")
            _ = try? certificationRequest(Self.key, subject: subject, names: [])
        },
        FuzzTarget(name: "signatures") { bytes in
            guard bytes.count > 66, let key = try? PublicKey(.p256, point: [4] + bytes.prefix(64)) else { return }
            _ = try? key.verify(Array(bytes.dropFirst(64)), of: [], .ecdsa(.sha256))
        },
    ]

    private static let key = { () -> PrivateKey in
        guard let key = try? PrivateKey.generate(.ed25519) else { fatalError("no key") }
        return key
    }()
    private static let subject = { () -> DistinguishedName in
        guard let subject = try? DistinguishedName("CN=a") else { fatalError("a valid name") }
        return subject
    }()

    /// A key that is read must be written, and read again as the same key.
    private static func readAndWrite(_ bytes: [UInt8], as wanted: KeyFormat? = nil) {
        guard let file = try? KeyFile(SecretBytes(copying: bytes)), wanted == nil || file.format == wanted else {
            return
        }
        _ = file.encryptionName
        if file.isPrivate {
            guard let key = try? file.privateKey() else { return }
            let mine = try? key.publicKey().spki()
            let again = try? KeyFile(key.unencryptedPKCS8()).privateKey().publicKey().spki()
            precondition(mine != nil && again == mine, "a key that was read is written as another")
            let json = try? KeyFile(key.unencryptedJWK()).privateKey().publicKey().spki()
            precondition(json == mine, "a key is written as another in JSON")
        } else {
            guard let key = try? file.publicKey() else { return }
            let mine = try? key.spki()
            let again = mine.flatMap { try? KeyFile(SecretBytes(copying: $0)).publicKey().spki() }
            precondition(mine != nil && again == mine, "a key that was read is written as another")
            let json = (try? key.jwk()).flatMap { text in
                try? KeyFile(SecretBytes(copying: Array(text.utf8))).publicKey().spki()
            }
            precondition(json == mine, "a key is written as another in JSON")
        }
    }

    /// PEM's lines of 64 characters.
    private static func lines(_ text: String) -> String {
        var (lines, rest) = ("", text[...])
        while !rest.isEmpty {
            lines += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return lines
    }
}
