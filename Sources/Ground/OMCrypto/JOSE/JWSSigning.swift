// The writer of signed tokens in compact form.

public import OMSecrets

extension JWS {
    /// The signed token.
    ///
    ///     let proof = try JWS.sign(claims, JWSHeader(.es256, type: "dpop+jwt"), with: key, embedsKey: true)
    ///
    /// - Parameter embedsKey: Whether the header has the public half of `key` in `jwk`, as DPoP wants it (RFC 9449).
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/cannotSign``;
    ///   ``CryptoError/inputTooLong`` for a token or a `kid` that ``JWS`` would not read.
    public static func sign(
        _ payload: [UInt8], _ header: JWSHeader, with key: borrowing PrivateKey, embedsKey: Bool = false
    ) throws(CryptoError) -> SecretBytes {
        guard header.algorithm.fits(key.kind) else { throw .wrongKeyType }
        guard (header.keyID ?? "").utf8.count <= JWSHeader.maximumKeyIDCount, payload.count <= maximumCount else {
            throw .inputTooLong
        }
        let jwk: String? = if embedsKey { try key.publicKey().jwk() } else { nil }
        var token = SecretBuffer(capacity: payload.count * 2)
        token.append(Base64URL.encode(SecretBytes(copying: Array(try header.json(jwk: jwk).utf8))))
        token.append(UInt8(ascii: "."))
        token.append(Base64URL.encode(SecretBytes(copying: payload)))
        var signer = try Signer(key, header.algorithm.signature)
        try token.withBytes { (bytes) throws(CryptoError) in try signer.update(bytes) }
        let signature = try signer.finish()
        token.append(UInt8(ascii: "."))
        token.append(Base64URL.encode(SecretBytes(copying: signature)))
        guard token.count <= maximumCount else { throw .inputTooLong }
        return token.finish()
    }
}
