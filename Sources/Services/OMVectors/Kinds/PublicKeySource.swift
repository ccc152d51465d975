internal import OMCrypto
internal import OMSecrets

/// The source of a check's public key. It can be copied, and a key cannot.
enum PublicKeySource: Sendable {
    case rsa(modulus: [UInt8], exponent: [UInt8])
    case point(EllipticCurve, [UInt8])
    /// Coordinates as the file has them. They can be larger than the field.
    case coordinates(EllipticCurve, x: [UInt8], y: [UInt8])
    case ed25519([UInt8])
    case x25519([UInt8])
    case file([UInt8])

    func key() throws(CryptoError) -> PublicKey {
        switch self {
        case .rsa(let modulus, let exponent): return try PublicKey(rsaModulus: modulus, exponent: exponent)
        case .point(let curve, let point): return try PublicKey(curve, point: point)
        case .coordinates(let curve, let x, let y):
            guard let x = KeyChecks.padded(x, to: curve.count), let y = KeyChecks.padded(y, to: curve.count) else {
                throw .invalidKey
            }
            return try PublicKey(curve, point: [4] + x + y)
        case .ed25519(let bytes): return try PublicKey(ed25519: bytes)
        case .x25519(let bytes): return try PublicKey(x25519: bytes)
        case .file(let bytes): return try KeyFile(SecretBytes(copying: bytes)).publicKey()
        }
    }
}
