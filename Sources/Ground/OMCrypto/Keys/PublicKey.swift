// A public key, which is checked when it is made.

internal import COpenSSL
internal import OMSecrets

/// The public half of a key pair.
///
///     let key = try KeyFile(bytes).publicKey()
///     try key.verify(signature, of: message, .rsaPSS())
///
/// Every value of this type was checked. Points of the P curves and of Ed25519 lie on their curve and in its group of prime
/// order, and are not its neutral element. An RSA modulus has at most ``maximumModulusBits``, so a hostile key cannot keep a
/// machine busy. Points of X25519 are checked by the computations that use them.
public struct PublicKey: ~Copyable, Sendable {
    /// The largest modulus, in bits. The smallest has 512.
    public static let maximumModulusBits = 16384

    public let kind: KeyKind
    let handle: KeyHandle
    /// The uses that a JWK allows.
    var uses = KeyUses.any

    /// - Parameters: Big-endian numbers. Leading zeros are ignored.
    /// - Throws: ``CryptoError/invalidKey``.
    public init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        try self.init(rsaModulus: modulus.span, exponent: exponent.span)
    }

    init(rsaModulus modulus: Span<UInt8>, exponent: Span<UInt8>) throws(CryptoError) {
        let modulus = modulus.extracting(modulus.significant)
        let exponent = exponent.extracting(exponent.significant)
        let bits = try RSARules.check(modulus: modulus, exponent: exponent)
        var numbers = KeyParameters()
        numbers.add("n", number: modulus)
        numbers.add("e", number: exponent)
        handle = try numbers.makeKey("RSA", isPrivate: false)
        kind = .rsa(bits: bits)
    }

    /// - Parameter point: SEC1's form: `04 ‖ x ‖ y`, or the compressed `02`/`03 ‖ x`.
    /// - Throws: ``CryptoError/invalidKey`` for a point off the curve, at infinity, or of another length.
    public init(_ curve: EllipticCurve, point: [UInt8]) throws(CryptoError) {
        try self.init(curve, point: point.span)
    }

    init(_ curve: EllipticCurve, point: Span<UInt8>) throws(CryptoError) {
        // The hybrid forms 06 and 07 give y twice, and no format needs them.
        guard let form = point.isEmpty ? nil : point[0],
            form == 4 && point.count == 1 + 2 * curve.count
                || (form == 2 || form == 3) && point.count == 1 + curve.count
        else { throw .invalidKey }
        var numbers = KeyParameters()
        numbers.add("group", text: curve.opensslName)
        numbers.add("pub", octets: point)
        let handle = try numbers.makeKey("EC", isPrivate: false)
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle.pointer, nil) else { throw .clearing(.invalidKey) }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check(context) == 1 else { throw .clearing(.invalidKey) }
        self.handle = handle
        kind = .ec(curve)
    }

    /// - Parameter bytes: 32 bytes, as RFC 8032 writes them.
    /// - Throws: ``CryptoError/invalidKey`` if the bytes are not a point of the curve, are a point of low or mixed order, or
    ///   are not in canonical form.
    public init(ed25519 bytes: [UInt8]) throws(CryptoError) { try self.init(.ed25519, raw: bytes.span) }

    /// - Parameter bytes: 32 bytes, as RFC 7748 writes them.
    /// - Throws: ``CryptoError/invalidKey``.
    public init(x25519 bytes: [UInt8]) throws(CryptoError) { try self.init(.x25519, raw: bytes.span) }

    init(_ kind: KeyKind, raw bytes: Span<UInt8>) throws(CryptoError) {
        guard bytes.count == 32, kind != .ed25519 || EdwardsPoint.isPublicKey(bytes) else { throw .invalidKey }
        let algorithm = kind == .ed25519 ? "ED25519" : "X25519"
        handle = try KeyHandle(
            owning: unsafe bytes.withPointer { EVP_PKEY_new_raw_public_key_ex(nil, algorithm, nil, $0, $1) })
        self.kind = kind
    }

    /// The raw bytes: `04 ‖ x ‖ y` for an elliptic curve, the 32 bytes for Ed25519 and X25519, the modulus for RSA.
    public var rawBytes: [UInt8] {
        get throws(CryptoError) {
            switch kind {
            case .rsa: try numbers().modulus
            case .ec: try point()
            case .ed25519, .x25519: try handle.raw(isPrivate: false).withBytes { [UInt8](copying: $0) }
            }
        }
    }

    /// SubjectPublicKeyInfo in DER (RFC 5280 section 4.1), with uncompressed points of curves.
    public func spki() throws(CryptoError) -> [UInt8] {
        var writer = DERWriter()
        try writer.sequence { (info) throws(CryptoError) in
            info.algorithm(of: kind)
            let bits: [UInt8] = if case .rsa = kind { try pkcs1() } else { try rawBytes }
            info.bits(bits.span)
        }
        return writer.finish().withBytes { [UInt8](copying: $0) }
    }

    /// `RSAPublicKey` in DER (RFC 8017 appendix A.1.1), the SDK's form of a public key.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` unless the key is RSA.
    public func pkcs1() throws(CryptoError) -> [UInt8] {
        let numbers = try numbers()
        var writer = DERWriter()
        writer.sequence {
            $0.integer(numbers.modulus.span)
            $0.integer(numbers.exponent.span)
        }
        return writer.finish().withBytes { [UInt8](copying: $0) }
    }

    /// SHA-256 of ``spki()``, by which keys are compared.
    public func fingerprint() throws(CryptoError) -> [UInt8] { try Digest.of(spki(), .sha256) }

    /// The modulus and the exponent, big-endian, without leading zeros.
    func numbers() throws(CryptoError) -> (modulus: [UInt8], exponent: [UInt8]) {
        guard case .rsa(let bits) = kind else { throw .wrongKeyType }
        let modulus = try handle.number("n", count: (bits + 7) / 8)
        let exponent = try handle.number("e", count: 32)
        return (
            modulus.withBytes { [UInt8](copying: $0) },
            exponent.withBytes { [UInt8](copying: $0.extracting($0.significant)) }
        )
    }

    /// `04 ‖ x ‖ y`.
    func point() throws(CryptoError) -> [UInt8] {
        guard case .ec(let curve) = kind else { throw .wrongKeyType }
        let x = try handle.number("qx", count: curve.count)
        let y = try handle.number("qy", count: curve.count)
        return [4] + x.withBytes { [UInt8](copying: $0) } + y.withBytes { [UInt8](copying: $0) }
    }
}

extension EllipticCurve {
    var opensslName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }

    var opensslNumber: Int32 { OBJ_sn2nid(opensslName) }
}

extension DERWriter {
    /// The AlgorithmIdentifier of a key: RFC 8017 A.1, RFC 5480 2.1.1, RFC 8410 3.
    mutating func algorithm(of kind: KeyKind) {
        sequence { algorithm in
            switch kind {
            case .rsa:
                algorithm.objectIdentifier(OID.rsaEncryption)
                algorithm.null()
            case .ec(let curve):
                algorithm.objectIdentifier(OID.ecPublicKey)
                algorithm.objectIdentifier(curve.objectIdentifier)
            case .ed25519: algorithm.objectIdentifier(OID.ed25519)
            case .x25519: algorithm.objectIdentifier(OID.x25519)
            }
        }
    }
}
