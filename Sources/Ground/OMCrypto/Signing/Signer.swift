// Signing and verifying piece by piece: our digest, and OpenSSL's EVP_PKEY_sign and EVP_PKEY_verify over it.

internal import COpenSSL
internal import OMSecrets

/// A message being signed, piece by piece.
///
///     var signer = try Signer(key, .ed25519)
///     signer.update(piece.span)
///     let signature = try signer.finish()
///
/// After ``finish()`` the same value signs the next message: to sign many, keep it, since setting it up costs time
/// that counts beside an elliptic curve's signature.
public struct Signer: ~Copyable {
    private let operation: SignatureOperation
    private var message: SignedMessage

    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed`` for a JWK that says it is for something
    ///   else, ``CryptoError/cannotSign`` for a hash, a salt or a size that do not go
    ///   together.
    public init(_ key: borrowing PrivateKey, _ algorithm: SignatureAlgorithm) throws(CryptoError) {
        guard algorithm.fits(key.kind) else { throw .wrongKeyType }
        try key.uses.require(.sign)
        let prepared = try SignatureOperation(key.handle, key.kind, algorithm, isSigning: true, else: .cannotSign)
        message = try SignedMessage(algorithm)
        operation = prepared
    }

    /// - Throws: For Ed25519, which reads its message twice and so keeps it: ``CryptoError/inputTooLong`` past 1 GiB,
    ///   ``CryptoError/outOfMemory``.
    public mutating func update(_ piece: Span<UInt8>) throws(CryptoError) { try message.update(piece) }

    /// - Throws: ``CryptoError/cannotSign`` for an RSA key too short for the hash.
    public mutating func finish() throws(CryptoError) -> [UInt8] {
        let signature = try message.finish { (bytes) throws(CryptoError) in try operation.sign(bytes) }
        guard case .ecdsaFixed = operation.algorithm, case .ec(let curve) = operation.kind else { return signature }
        return try ECDSASignature(der: signature, curve).fixed
    }
}

/// A message whose signature is being checked, piece by piece; after ``finish(_:)`` the next one.
public struct Verifier: ~Copyable {
    private let operation: SignatureOperation
    private var message: SignedMessage

    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/unknownAlgorithm``.
    public init(_ key: borrowing PublicKey, _ algorithm: SignatureAlgorithm) throws(CryptoError) {
        guard algorithm.fits(key.kind) else { throw .wrongKeyType }
        try key.uses.require(.verify)
        let prepared = try SignatureOperation(
            key.handle, key.kind, algorithm, isSigning: false, else: .unknownAlgorithm)
        message = try SignedMessage(algorithm)
        operation = prepared
    }

    /// - Throws: For Ed25519, which reads its message twice and so keeps it: ``CryptoError/inputTooLong`` past 1 GiB,
    ///   ``CryptoError/outOfMemory``.
    public mutating func update(_ piece: Span<UInt8>) throws(CryptoError) { try message.update(piece) }

    /// Returns when the signature is right.
    ///
    /// - Throws: ``CryptoError/emptySignature``, ``CryptoError/badSignature`` for everything else that is not right.
    public mutating func finish(_ signature: [UInt8]) throws(CryptoError) {
        try message.finish { (bytes) throws(CryptoError) in try operation.verify(operation.spelled(signature), bytes) }
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

/// What both share: the key and the algorithm set up once in OpenSSL, for as many messages as come.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignatureOperation: ~Copyable {
    let kind: KeyKind
    let algorithm: SignatureAlgorithm
    /// The key's operation on digests; for Ed25519, which signs messages, on messages.
    private let context: SignatureContext

    init(
        _ key: borrowing KeyHandle, _ kind: KeyKind, _ algorithm: SignatureAlgorithm, isSigning: Bool,
        else error: CryptoError
    ) throws(CryptoError) {
        let context =
            switch algorithm.hash {
            case nil: SignatureContext(ofMessages: key, isSigning: isSigning)
            case let hash?:
                SignatureContext(ofDigests: key, isSigning: isSigning) {
                    hash.isForSignatures && Self.set(algorithm, hash, in: $0, isSigning: isSigning)
                }
            }
        guard context.isReady else { throw .clearing(error) }
        self.context = context
        (self.kind, self.algorithm) = (kind, algorithm)
    }

    private static func set(
        _ algorithm: SignatureAlgorithm, _ hash: DigestAlgorithm, in setup: OpaquePointer, isSigning: Bool
    ) -> Bool {
        guard let function = hash.fetched, EVP_PKEY_CTX_set_signature_md(setup, function) == 1 else { return false }
        switch algorithm {
        case .rsaPSS(_, let mask, let salt):
            return EVP_PKEY_CTX_set_rsa_padding(setup, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md_name(setup, (mask ?? hash).messageDigestName, nil) == 1
                && setSalt(salt, in: setup, isSigning: isSigning)
        case .legacyRSAPKCS1: return EVP_PKEY_CTX_set_rsa_padding(setup, RSA_PKCS1_PADDING) == 1
        case .ecdsa, .ecdsaFixed, .ed25519: return true
        }
    }

    private static func setSalt(_ salt: PSSSaltLength, in setup: OpaquePointer, isSigning: Bool) -> Bool {
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

    /// - Parameter message: The digest; for Ed25519 the whole message.
    borrowing func sign(_ message: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        // Of RSA the modulus; an ECDSA signature of the largest curve has 139 bytes at most.
        var count = max((kind.bits + 7) / 8, 160)
        var signature = [UInt8](repeating: 0, count: count)
        let status = unsafe message.withPointer { bytes, length in
            algorithm == .ed25519
                ? EVP_DigestSign(context.messages, &signature, &count, bytes, length)
                : EVP_PKEY_sign(context.digests, &signature, &count, bytes, length)
        }
        guard status == 1 else { throw .clearing(.cannotSign) }
        signature.removeLast(signature.count - count)
        return signature
    }

    /// The signature as OpenSSL reads it.
    borrowing func spelled(_ signature: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard !signature.isEmpty else { throw .emptySignature }
        if case .ec(let curve) = kind {
            // Read and written anew: one signature must have one spelling.
            switch algorithm {
            case .ecdsaFixed: return try ECDSASignature(fixed: signature, curve).der
            default: return try ECDSASignature(der: signature, curve).der
            }
        }
        return signature
    }

    borrowing func verify(_ signature: [UInt8], _ message: Span<UInt8>) throws(CryptoError) {
        let status = unsafe message.withPointer { bytes, length in
            algorithm == .ed25519
                ? EVP_DigestVerify(context.messages, signature, signature.count, bytes, length)
                : EVP_PKEY_verify(context.digests, signature, signature.count, bytes, length)
        }
        guard status == 1 else { throw .clearing(.badSignature) }
    }
}

/// One of OpenSSL's two contexts.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignatureContext: ~Copyable {
    let digests: OpaquePointer?
    let messages: OpaquePointer?
    let isReady: Bool

    init(ofDigests key: borrowing KeyHandle, isSigning: Bool, _ setUp: (OpaquePointer) -> Bool) {
        (digests, messages) = (EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil), nil)
        guard let digests else {
            isReady = false
            return
        }
        let status = isSigning ? EVP_PKEY_sign_init(digests) : EVP_PKEY_verify_init(digests)
        isReady = status == 1 && setUp(digests)
    }

    init(ofMessages key: borrowing KeyHandle, isSigning: Bool) {
        (digests, messages) = (nil, EVP_MD_CTX_new())
        let status =
            isSigning
            ? EVP_DigestSignInit_ex(messages, nil, nil, nil, nil, key.pointer, nil)
            : EVP_DigestVerifyInit_ex(messages, nil, nil, nil, nil, key.pointer, nil)
        isReady = status == 1
    }

    deinit {
        EVP_PKEY_CTX_free(digests)
        EVP_MD_CTX_free(messages)
    }
}

/// The message, hashed as it comes, or kept whole where the algorithm asks for that.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct SignedMessage: ~Copyable {
    private var digest: Digest?
    private var whole = MessageBuffer()

    init(_ algorithm: SignatureAlgorithm) throws(CryptoError) {
        guard let hash = algorithm.hash else { return }
        digest = try Digest(hash)
    }

    mutating func update(_ piece: Span<UInt8>) throws(CryptoError) {
        guard digest == nil else {
            digest?.update(piece)
            return
        }
        try whole.append(piece)
    }

    /// Hands over what is signed, and starts the next message.
    mutating func finish<R>(_ body: (Span<UInt8>) throws(CryptoError) -> R) throws(CryptoError) -> R {
        guard let bytes = digest?.finish() else {
            defer { whole.removeAll() }
            return try whole.withBytes(body)
        }
        return try body(bytes.span)
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
