/// Checks the signature of a message that arrives piece by piece. After ``finish(_:)`` the same value takes the next message.
public struct SignatureVerifier: ~Copyable {
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

    /// Returns only if the signature is right.
    ///
    /// - Throws: ``CryptoError/emptySignature``, ``CryptoError/badSignature`` for every other fault.
    public mutating func finish(_ signature: [UInt8]) throws(CryptoError) {
        try message.finish { (bytes) throws(CryptoError) in try operation.verify(operation.spelled(signature), bytes) }
    }
}
