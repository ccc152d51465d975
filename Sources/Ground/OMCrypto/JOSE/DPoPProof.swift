// Proofs that a client has the key to which its tokens are bound (RFC 9449).

internal import OMJSON
package import OMSecrets

/// The claims of one proof. `jti` is another one each time.
package struct DPoPProof: Hashable, Sendable {
    private let method: String
    private let address: String
    private let nonce: String?
    private let tokenHash: [UInt8]?

    /// - Parameters:
    ///   - address: The address of the request as it is sent. The proof has it without query and fragment.
    ///   - tokenHash: SHA-256 of the access token that goes along.
    package init(method: String, address: String, nonce: String? = nil, tokenHash: [UInt8]? = nil) {
        self.method = method
        self.address = String(address.prefix { $0 != "?" && $0 != "#" })
        (self.nonce, self.tokenHash) = (nonce, tokenHash)
    }

    /// The signed proof, with the public half of the key in its header.
    ///
    /// - Parameter now: Seconds since 1970.
    package func signed(by key: borrowing PrivateKey, now: Int64) throws(CryptoError) -> SecretBytes {
        try JWS.sign(
            Array(claims(id: Base64URL.encode(Random.bytes(32)), now: now).utf8), JWSHeader(.es256, type: "dpop+jwt"), with: key,
            embedsKey: true)
    }

    func claims(id: String, now: Int64) -> String {
        var json = "{\"jti\":\"\(id)\",\"htm\":\(JSONText.quoted(method)),\"htu\":\(JSONText.quoted(address)),\"iat\":\(now)"
        if let tokenHash { json += ",\"ath\":\"\(Base64URL.encode(tokenHash))\"" }
        if let nonce { json += ",\"nonce\":\(JSONText.quoted(nonce))" }
        return json + "}"
    }
}
