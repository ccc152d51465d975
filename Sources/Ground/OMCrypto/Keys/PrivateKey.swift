// A private key. Its two halves are checked against each other before anything is computed with it.

internal import COpenSSL
public import OMSecrets

/// The secret half of a key pair.
///
///     let key = try PrivateKey.generate(.ed25519)
///     let signature = try key.sign(message, .ed25519)
///
/// It is move-only, without `description`, `Codable` or `==`. It can be written as PKCS#8, encrypted or not, and ``KeyFile``
/// reads that back.
public struct PrivateKey: ~Copyable, Sendable {
    public let kind: KeyKind
    let handle: KeyHandle
    /// The uses that a JWK allows.
    var uses: KeyUses

    /// A new key pair.
    ///
    /// - Parameter kind: RSA from 2048 to 8192 bits, in a multiple of 8; or any curve.
    /// - Throws: ``CryptoError/cannotGenerate``.
    public static func generate(_ kind: KeyKind) throws(CryptoError) -> PrivateKey {
        if case .rsa(let bits) = kind, !(2048...8192).contains(bits) || bits % 8 != 0 { throw .cannotGenerate }
        return try make(kind)
    }

    /// ``Insecure/generateRSA(bits:)``.
    static func generateInsecureRSA(bits: Int) throws(CryptoError) -> PrivateKey {
        guard (1024..<2048).contains(bits), bits % 8 == 0 else { throw .cannotGenerate }
        return try make(.rsa(bits: bits))
    }

    private static func make(_ kind: KeyKind) throws(CryptoError) -> PrivateKey {
        let algorithm =
            switch kind {
            case .rsa: "RSA"
            case .ec: "EC"
            case .ed25519: "ED25519"
            case .x25519: "X25519"
            }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, algorithm, nil) else { throw .clearing(.cannotGenerate) }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_keygen_init(context) == 1 else { throw .clearing(.cannotGenerate) }
        let isSet =
            switch kind {
            case .rsa(let bits): EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(bits)) == 1
            case .ec(let curve): EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, curve.opensslNumber) == 1
            case .ed25519, .x25519: true
            }
        var key: OpaquePointer?
        guard isSet, EVP_PKEY_generate(context, &key) == 1, let key else { throw .clearing(.cannotGenerate) }
        return PrivateKey(kind: kind, handle: KeyHandle(key))
    }

    init(kind: KeyKind, handle: consuming KeyHandle, uses: KeyUses = .any) {
        (self.kind, self.uses) = (kind, uses)
        self.handle = handle
    }

    /// A second owner of the same key. The key's bytes are not copied.
    public borrowing func duplicate() -> PrivateKey {
        EVP_PKEY_up_ref(handle.pointer)
        return PrivateKey(kind: kind, handle: KeyHandle(handle.pointer), uses: uses)
    }

    /// The public half.
    public func publicKey() throws(CryptoError) -> PublicKey {
        var half = try publicHalf()
        half.uses = uses.ofPublicHalf
        return half
    }

    private func publicHalf() throws(CryptoError) -> PublicKey {
        switch kind {
        case .rsa:
            let modulus = try handle.number("n", count: (kind.bits + 7) / 8)
            let exponent = try handle.number("e", count: 32)
            return try modulus.withBytes { (modulus) throws(CryptoError) in
                try exponent.withBytes { (exponent) throws(CryptoError) in
                    try PublicKey(rsaModulus: modulus, exponent: exponent)
                }
            }
        case .ec(let curve):
            let x = try handle.number("qx", count: curve.count)
            let y = try handle.number("qy", count: curve.count)
            return try PublicKey(
                curve, point: [4] + x.withBytes { [UInt8](copying: $0) } + y.withBytes { [UInt8](copying: $0) })
        case .ed25519, .x25519:
            return try handle.raw(isPrivate: false).withBytes { (bytes) throws(CryptoError) in
                try PublicKey(kind, raw: bytes)
            }
        }
    }

    /// The private bytes only: for a curve its number, as long as the field; for Ed25519 and X25519, 32 bytes.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` for RSA, which has no such form.
    public func rawBytes() throws(CryptoError) -> SecretBytes {
        switch kind {
        case .rsa: throw .wrongKeyType
        case .ec(let curve): try handle.number("priv", count: curve.count)
        case .ed25519, .x25519: try handle.raw(isPrivate: true)
        }
    }
}
