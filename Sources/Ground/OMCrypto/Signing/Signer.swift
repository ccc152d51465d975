// Signing, piece by piece or in one call.

/// Signs a message that arrives piece by piece.
///
///     var signer = try Signer(key, .ed25519)
///     signer.update(piece.span)
///     let signature = try signer.finish()
///
/// After ``finish()`` the same value signs the next message. To sign many messages, keep it: the setup takes a noticeable time
/// beside an elliptic curve's signature.
public struct Signer: ~Copyable {
    private let operation: SignatureOperation
    private var message: SignedMessage

    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed`` for a JWK with another use,
    ///   ``CryptoError/cannotSign`` for a hash, a salt and a size that do not fit together.
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

extension PrivateKey {
    /// The signature of a whole message.
    ///
    /// - Throws: As ``Signer``.
    public func sign(_ message: [UInt8], _ algorithm: SignatureAlgorithm) throws(CryptoError) -> [UInt8] {
        var signer = try Signer(self, algorithm)
        try signer.update(message.span)
        return try signer.finish()
    }
}

extension PublicKey {
    /// Returns only if `signature` is this key's signature of the whole message.
    ///
    /// - Throws: As ``SignatureVerifier``.
    public func verify(
        _ signature: [UInt8], of message: [UInt8], _ algorithm: SignatureAlgorithm
    ) throws(CryptoError) {
        var verifier = try SignatureVerifier(self, algorithm)
        try verifier.update(message.span)
        try verifier.finish(signature)
    }
}
