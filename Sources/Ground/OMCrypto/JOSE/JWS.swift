// The reader of signed tokens in compact form: RFC 7515 sections 3.1 and 7.1.

public import OMSecrets

/// A signed token, parsed and not verified. It shows its header only: ``VerifiedJWS`` has the payload.
///
///     let token = try JWS(bytes)
///     let verified = try token.verified(by: keys, allowing: [.rs256])
public struct JWS: ~Copyable, Sendable {
    /// The longest token in bytes.
    public static let maximumCount = 64 << 10

    /// Not verified.
    public let header: JWSHeader
    /// The encoded header and payload, with the dot between them: the bytes that are signed.
    let message: SecretBytes
    /// Not verified.
    let payload: SecretBytes
    let signature: [UInt8]

    /// Reads a token strictly: three parts in base64url without padding and in its one spelling, and a header that is a JSON
    /// object without a member twice.
    ///
    /// - Throws: ``CryptoError/malformedJWS``, also for the extensions `crit` and `b64`; ``CryptoError/algorithmNotAllowed``
    ///   for an `alg` that ``JWSAlgorithm`` does not have.
    public init(_ token: borrowing SecretBytes) throws(CryptoError) {
        guard token.count <= Self.maximumCount else { throw .malformedJWS }
        let dots = token.withBytes { bytes in bytes.indices.filter { bytes[$0] == UInt8(ascii: ".") } }
        guard dots.count == 2 else { throw .malformedJWS }
        let parts = [0..<dots[0], dots[0] + 1..<dots[1], dots[1] + 1..<token.count]
        // Only a token with `none` has no signature. An empty payload is allowed.
        guard !parts[2].isEmpty else { throw .malformedJWS }
        let json = try Self.decoded(parts[0], of: token)
        let header = try json.withBytes { (json) throws(CryptoError) in try JWSHeader(json: json) }
        let payload = try Self.decoded(parts[1], of: token)
        let signature = try Self.decoded(parts[2], of: token).withBytes { [UInt8](copying: $0) }
        message = token.withBytes { SecretBytes(copying: $0.extracting(0..<dots[1])) }
        self.payload = payload
        (self.header, self.signature) = (header, signature)
    }

    private static func decoded(_ part: Range<Int>, of token: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        do throws(SecretsError) {
            return try token.withBytes { (bytes) throws(SecretsError) in try Base64URL.decode(bytes.extracting(part)) }
        } catch { throw .malformedJWS }
    }

    /// The token with its payload, if this key signed it with this algorithm.
    ///
    /// - Throws: ``CryptoError/algorithmNotAllowed`` if the header names another algorithm; ``CryptoError/wrongKeyType``,
    ///   ``CryptoError/keyUseNotAllowed``, ``CryptoError/badSignature``.
    public borrowing func verified(
        by key: borrowing PublicKey, as algorithm: JWSAlgorithm
    ) throws(CryptoError) -> VerifiedJWS {
        // Attack: the token's header chooses a weaker algorithm than the caller agreed on with the signer.
        guard header.algorithm == algorithm else { throw .algorithmNotAllowed }
        return try VerifiedJWS(self, by: key)
    }

    /// The token with its payload, if the one key of the set that it names signed it.
    ///
    /// - Parameter algorithms: Those that the caller agreed on with the signer.
    /// - Throws: ``CryptoError/algorithmNotAllowed``; ``CryptoError/unknownKeyID`` if a newer set may have the key;
    ///   ``CryptoError/wrongKeyType`` if no key fits; ``CryptoError/severalKeys`` if two keys fit;
    ///   ``CryptoError/badSignature``.
    public borrowing func verified(
        by keys: JWKSet, allowing algorithms: Set<JWSAlgorithm>
    ) throws(CryptoError) -> VerifiedJWS {
        guard algorithms.contains(header.algorithm) else { throw .algorithmNotAllowed }
        return try VerifiedJWS(self, by: keys.key(for: header).key)
    }
}
