// Key files, as they come from anybody.

import OMCrypto
import OMSecrets

enum KeyTargets {
    static let all = [
        // PEM, DER, JWK, OpenSSH: whatever the bytes look like. What is read must be written, and read again as the same key.
        FuzzTarget(name: "key-files") { bytes in
            guard let file = try? KeyFile(SecretBytes(copying: bytes)) else { return }
            _ = file.encryptionName
            if file.isPrivate {
                guard let key = try? file.privateKey() else { return }
                let again = try? KeyFile(key.unencryptedPKCS8()).privateKey().publicKey().spki()
                let mine = try? key.publicKey().spki()
                precondition(mine != nil && again == mine, "a key that was read is written as another")
            } else {
                guard let key = try? file.publicKey() else { return }
                let mine = try? key.spki()
                let again = mine.flatMap { try? KeyFile(SecretBytes(copying: $0)).publicKey().spki() }
                precondition(mine != nil && again == mine, "a key that was read is written as another")
            }
        },
        // Only what costs next to nothing is derived: a work factor above the cap is refused before it is.
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
        // What stands behind the MAC, which noise never gets past.
        FuzzTarget(name: "pkcs12-inside") { bytes in
            _ = try? PKCS12File.contents(
                unauthenticated: bytes, password: SecretBytes(copying: Array("one".utf8)), work: 5000)
        },
        FuzzTarget(name: "certificates") { bytes in
            for certificate in (try? Certificate.all(in: SecretBytes(copying: bytes))) ?? [] { _ = certificate.subject }
        },
        FuzzTarget(name: "signatures") { bytes in
            guard bytes.count > 66, let key = try? PublicKey(.p256, point: [4] + bytes.prefix(64)) else { return }
            _ = try? key.verify(Array(bytes.dropFirst(64)), of: [], .ecdsa(.sha256))
        },
    ]
}
