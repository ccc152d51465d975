public import OMSecrets

/// A signed token whose signature was verified. Its claims are still to be checked: issuer, audience, times.
public struct VerifiedJWS: ~Copyable, Sendable {
    public let header: JWSHeader
    public let payload: SecretBytes

    /// The only initializer. It checks the signature, so an unverified payload never gets this type.
    init(_ token: borrowing JWS, by key: borrowing PublicKey) throws(CryptoError) {
        let algorithm = token.header.algorithm
        // Attack: the header names an algorithm that reads the key's numbers in another way. The key decides which ones fit.
        guard algorithm.fits(key.kind) else { throw .wrongKeyType }
        var verifier = try SignatureVerifier(key, algorithm.signature)
        try token.message.withBytes { (bytes) throws(CryptoError) in try verifier.update(bytes) }
        try verifier.finish(token.signature)
        header = token.header
        payload = token.payload.duplicate()
    }
}
