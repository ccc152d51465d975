import OMCrypto
import OMSecrets

/// One element of DER, its length in the fewest bytes.
func der(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.flatMap { $0 }
    switch content.count {
    case 0..<0x80: return [tag, UInt8(content.count)] + content
    case 0..<0x100: return [tag, 0x81, UInt8(content.count)] + content
    default: return [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
    }
}

/// DER by name, so that a reader sees how a key is malformed.
enum D {
    static func sequence(_ parts: [UInt8]...) -> [UInt8] { der(0x30, parts.flatMap { $0 }) }
    static func octets(_ bytes: [UInt8]) -> [UInt8] { der(0x04, bytes) }
    static func bits(_ bytes: [UInt8], unused: UInt8 = 0) -> [UInt8] { der(0x03, [unused] + bytes) }
    static func integer(_ bytes: UInt8...) -> [UInt8] { der(0x02, bytes) }
    static let null: [UInt8] = [5, 0]
    static let zero = integer(0)
    static let ed25519: [UInt8] = [6, 3, 0x2B, 0x65, 0x70]
    static let x25519: [UInt8] = [6, 3, 0x2B, 0x65, 0x6E]
    static let ed448: [UInt8] = [6, 3, 0x2B, 0x65, 0x71]
    static let rsa: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
    static let ec: [UInt8] = [6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
    static let p256: [UInt8] = [6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
    static let p384: [UInt8] = [6, 5, 0x2B, 0x81, 0x04, 0, 0x22]
    static let secp256k1: [UInt8] = [6, 5, 0x2B, 0x81, 0x04, 0, 0x0A]
    static let pkcs7Data: [UInt8] = [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]
    static let sha256: [UInt8] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]
}

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes) }
func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

extension SecretBytes {
    borrowing func array() -> [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
    borrowing func text() -> String { String(decoding: array(), as: UTF8.self) }
}

/// The result of reading a key file: its error, or nil when its key can be used.
func problem(_ bytes: [UInt8]) -> CryptoError? {
    do throws(CryptoError) {
        let file = try KeyFile(secret(bytes))
        if file.isPrivate { _ = try file.privateKey() } else { _ = try file.publicKey() }
        return nil
    } catch { return error }
}

func problem(_ text: String) -> CryptoError? { problem(Array(text.utf8)) }

/// RFC 8410 section 10.3 and RFC 8032 section 7.1, test 1.
enum Sample {
    static let seed: [UInt8] = [
        0x9D, 0x61, 0xB1, 0x9D, 0xEF, 0xFD, 0x5A, 0x60, 0xBA, 0x84, 0x4A, 0xF4, 0x92, 0xEC, 0x2C, 0xC4, 0x44, 0x49,
        0xC5,
        0x69, 0x7B, 0x32, 0x69, 0x19, 0x70, 0x3B, 0xAC, 0x03, 0x1C, 0xAE, 0x7F, 0x60,
    ]
    static let half: [UInt8] = [
        0xD7, 0x5A, 0x98, 0x01, 0x82, 0xB1, 0x0A, 0xB7, 0xD5, 0x4B, 0xFE, 0xD3, 0xC9, 0x64, 0x07, 0x3A, 0x0E, 0xE1,
        0x72,
        0xF3, 0xDA, 0xA6, 0x23, 0x25, 0xAF, 0x02, 0x1A, 0x68, 0xF7, 0x07, 0x51, 0x1A,
    ]
    static let pkcs8 = D.sequence(D.zero, D.sequence(D.ed25519), D.octets(D.octets(seed)))
    static let spki = D.sequence(D.sequence(D.ed25519), D.bits(half))

    static func pem(_ label: String, _ der: [UInt8]) -> String {
        "-----BEGIN \(label)-----\n\(Base64.encode(der))\n-----END \(label)-----\n"
    }

    /// RSA, 2048 bits, made once.
    static let rsa = KeyBox { try PrivateKey.generate(.rsa(bits: 2048)) }
    static let p256 = KeyBox { try PrivateKey.generate(.ec(.p256)) }
}

/// A key that several tests share. A static variable can hold only a reference.
final class KeyBox: Sendable {
    let key: PrivateKey
    init(_ make: () throws -> PrivateKey) {
        do { key = try make() } catch { fatalError("no key: \(error)") }
    }
}
