// Keys of X25519 as people hold them: PEM files of the usual kind, or the 32 bytes.

internal import Glibc
internal import OMCrypto
internal import OMSecrets

enum RecipientText {
    /// A file with a PEM public key, or the key in hex or base64.
    static func recipient(_ text: String) throws -> FileRecipient {
        if let bytes = (try? Hex.decode(text)) ?? (try? Base64.decode(text)), bytes.count == 32 {
            return try FileRecipient(publicKey: bytes)
        }
        let pem = try InputFile(text).readWhole(maximum: 1 << 16, hint: "a public key is a short file")
        return try pem.count == 32
            ? FileRecipient(publicKey: pem.withBytes { [UInt8](copying: $0) }) : FileRecipient(pem: pem)
    }

    /// A PEM private key, or its 32 bytes.
    static func identity(_ key: consuming SecretBytes) throws -> X25519Identity {
        key.count == 32 ? try X25519Identity(privateKey: key) : try X25519Identity(pem: key)
    }
}
