// Signing and verifying piece by piece over OpenSSL's EVP_DigestSign and EVP_DigestVerify.

internal import COpenSSL
internal import OMSecrets

/// A message being signed, piece by piece.
///
///     var signer = try Signer(key, .ed25519)
///     signer.update(piece.span)
///     let signature = try signer.finish()
public struct Signer: ~Copyable {
    private let operation: SignatureOperation
    private var message: SignedMessage

    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/cannotSign`` for a hash, a salt or a size that do not go
    ///   together.
    public init(_ key: borrowing PrivateKey, _ algorithm: SignatureAlgorithm) throws(CryptoError) {
        guard algorithm.fits(key.kind) else { throw .wrongKeyType }
        operation = try SignatureOperation(key.handle, key.kind, algorithm, isSigning: true, else: .cannotSign)
        message = SignedMessage()
    }

    /// - Throws: For Ed25519, which reads its message twice and so keeps it: ``CryptoError/inputTooLong`` past 1 GiB,
    ///   ``CryptoError/outOfMemory``.
    public mutating func update(_ piece: Span<UInt8>) throws(CryptoError) { try message.update(piece, operation) }

    /// - Throws: ``CryptoError/cannotSign`` for an RSA key too short for the hash.
    public consuming func finish() throws(CryptoError) -> [UInt8] {
        let (kind, algorithm) = (operation.kind, operation.algorithm)
        let signature = try message.sign(operation)
        guard case .ecdsaFixed = algorithm, case .ec(let curve) = kind else { return signature }
        return try ECDSASignature(der: signature, curve).fixed
    }
}

/// A message whose signature is being checked, piece by piece.
public struct Verifier: ~Copyable {
    private let operation: SignatureOperation
    private var message: SignedMessage

    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/unknownAlgorithm``.
    public init(_ key: borrowing PublicKey, _ algorithm: SignatureAlgorithm) throws(CryptoError) {
        guard algorithm.fits(key.kind) else { throw .wrongKeyType }
        operation = try SignatureOperation(key.handle, key.kind, algorithm, isSigning: false, else: .unknownAlgorithm)
        message = SignedMessage()
    }

    /// - Throws: For Ed25519, which reads its message twice and so keeps it: ``CryptoError/inputTooLong`` past 1 GiB,
    ///   ``CryptoError/outOfMemory``.
    public mutating func update(_ piece: Span<UInt8>) throws(CryptoError) { try message.update(piece, operation) }

    /// Returns when the signature is right.
    ///
    /// - Throws: ``CryptoError/emptySignature``, ``CryptoError/badSignature`` for everything else that is not right.
    public consuming func finish(_ signature: [UInt8]) throws(CryptoError) {
        guard !signature.isEmpty else { throw .emptySignature }
        var signature = signature
        if case .ec(let curve) = operation.kind {
            // Read and written anew: one signature must have one spelling.
            signature =
                switch operation.algorithm {
                case .ecdsaFixed: try ECDSASignature(fixed: signature, curve).der
                default: try ECDSASignature(der: signature, curve).der
                }
        }
        try message.verify(signature, operation)
    }
}

extension PrivateKey {
    /// The signature of a whole message.
    ///
    /// - Throws: as ``Signer``.
    public func sign(_ message: [UInt8], _ algorithm: SignatureAlgorithm) throws(CryptoError) -> [UInt8] {
        var signer = try Signer(self, algorithm)
        try signer.update(message.span)
        return try signer.finish()
    }
}

extension PublicKey {
    /// Returns when `signature` is this key's signature of the whole message.
    ///
    /// - Throws: as ``Verifier``.
    public func verify(
        _ signature: [UInt8], of message: [UInt8], _ algorithm: SignatureAlgorithm
    ) throws(CryptoError) {
        var verifier = try Verifier(self, algorithm)
        try verifier.update(message.span)
        try verifier.finish(signature)
    }
}

/// What both share: OpenSSL's context, set up.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignatureOperation: ~Copyable {
    let context: OpaquePointer
    let kind: KeyKind
    let algorithm: SignatureAlgorithm

    init(
        _ key: borrowing KeyHandle, _ kind: KeyKind, _ algorithm: SignatureAlgorithm, isSigning: Bool,
        else error: CryptoError
    ) throws(CryptoError) {
        guard let context = EVP_MD_CTX_new() else { fatalError("out of memory for a signature") }
        guard Self.prepare(context, key, algorithm, isSigning) else {
            EVP_MD_CTX_free(context)
            throw .clearing(error)
        }
        (self.context, self.kind, self.algorithm) = (context, kind, algorithm)
    }

    deinit { EVP_MD_CTX_free(context) }

    private static func prepare(
        _ context: OpaquePointer, _ key: borrowing KeyHandle, _ algorithm: SignatureAlgorithm, _ isSigning: Bool
    ) -> Bool {
        let hash = algorithm.hash?.messageDigestName
        var setup: OpaquePointer?
        let status =
            isSigning
            ? EVP_DigestSignInit_ex(context, &setup, hash, nil, nil, key.pointer, nil)
            : EVP_DigestVerifyInit_ex(context, &setup, hash, nil, nil, key.pointer, nil)
        guard status == 1 else { return false }
        switch algorithm {
        case .rsaPSS(let hash, let mask, let salt):
            return EVP_PKEY_CTX_set_rsa_padding(setup, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md_name(setup, (mask ?? hash).messageDigestName, nil) == 1
                && setSalt(salt, setup, isSigning)
        case .legacyRSAPKCS1: return EVP_PKEY_CTX_set_rsa_padding(setup, RSA_PKCS1_PADDING) == 1
        case .ecdsa, .ecdsaFixed, .ed25519: return true
        }
    }

    private static func setSalt(_ salt: PSSSaltLength, _ setup: OpaquePointer?, _ isSigning: Bool) -> Bool {
        let count: Int32
        switch salt {
        case .ofDigest: count = -1
        case .any: count = isSigning ? -3 : -2
        case .bytes(let bytes):
            guard (0...PublicKey.maximumModulusBits / 8).contains(bytes) else { return false }
            count = Int32(bytes)
        }
        return EVP_PKEY_CTX_set_rsa_pss_saltlen(setup, count) == 1
    }
}

/// The message, hashed as it comes, or kept whole where the algorithm asks for that.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignedMessage: ~Copyable {
    private var whole = MessageBuffer()

    mutating func update(_ piece: Span<UInt8>, _ operation: borrowing SignatureOperation) throws(CryptoError) {
        guard operation.algorithm == .ed25519 else {
            let status = unsafe piece.withPointer { EVP_DigestUpdate(operation.context, $0, $1) }
            precondition(status == 1, "OpenSSL cannot hash")
            return
        }
        try whole.append(piece)
    }

    func sign(_ operation: borrowing SignatureOperation) throws(CryptoError) -> [UInt8] {
        // Of RSA the modulus; an ECDSA signature of the largest curve has 139 bytes at most.
        var count = max((operation.kind.bits + 7) / 8, 160)
        var signature = [UInt8](repeating: 0, count: count)
        let status =
            operation.algorithm == .ed25519
            ? whole.withBytes { whole in
                unsafe whole.withPointer { EVP_DigestSign(operation.context, &signature, &count, $0, $1) }
            } : EVP_DigestSignFinal(operation.context, &signature, &count)
        guard status == 1 else { throw .clearing(.cannotSign) }
        return Array(signature.prefix(count))
    }

    func verify(_ signature: [UInt8], _ operation: borrowing SignatureOperation) throws(CryptoError) {
        let status =
            operation.algorithm == .ed25519
            ? whole.withBytes { whole in
                unsafe whole.withPointer { EVP_DigestVerify(operation.context, signature, signature.count, $0, $1) }
            } : EVP_DigestVerifyFinal(operation.context, signature, signature.count)
        guard status == 1 else { throw .clearing(.badSignature) }
    }
}

/// The two numbers of an ECDSA signature, in both of their spellings.
private struct ECDSASignature {
    private let r: [UInt8]
    private let s: [UInt8]
    private let curve: EllipticCurve

    /// - Throws: ``CryptoError/badSignature`` for anything but strict DER of two numbers that fit the curve.
    init(der: [UInt8], _ curve: EllipticCurve) throws(CryptoError) {
        let bytes = der.span
        var top = DERCursor(0..<bytes.count, blame: .badSignature)
        var numbers = try top.enter(DERTag.sequence, bytes)
        try top.finish()
        let (r, s) = (try numbers.unsigned(bytes), try numbers.unsigned(bytes))
        try numbers.finish()
        guard r.count <= curve.count, s.count <= curve.count else { throw .badSignature }
        (self.r, self.s, self.curve) = (bytes.bytes(r), bytes.bytes(s), curve)
    }

    init(fixed: [UInt8], _ curve: EllipticCurve) throws(CryptoError) {
        guard fixed.count == 2 * curve.count else { throw .badSignature }
        (r, s, self.curve) = (Array(fixed.prefix(curve.count)), Array(fixed.suffix(curve.count)), curve)
    }

    var der: [UInt8] {
        var writer = DERWriter()
        writer.sequence {
            $0.integer(r.span)
            $0.integer(s.span)
        }
        return writer.finish().withBytes { [UInt8](copying: $0) }
    }

    var fixed: [UInt8] {
        [UInt8](repeating: 0, count: curve.count - r.count) + r + [UInt8](repeating: 0, count: curve.count - s.count)
            + s
    }
}
