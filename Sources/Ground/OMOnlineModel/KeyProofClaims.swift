/// What a proof of the session's key is about (RFC 9449, 4.2). The signer adds `jti` and `iat`.
public struct KeyProofClaims: Hashable, Sendable {
    /// The most bytes of ``method``, and of ``nonce``.
    package static let longestMethod = 256, longestNonce = 1_024
    /// The bytes of ``tokenHash``: SHA-256.
    package static let hashCount = 32

    public let method: String
    /// The address of the request. The proof has it without query and fragment.
    public let address: String
    /// The server's newest nonce. Nil if this question has none: then the signer takes the newest that it knows.
    public let nonce: String?
    /// SHA-256 of the access token that goes along. Nil without one.
    public let tokenHash: [UInt8]?

    public init(_ method: String, _ address: String, nonce: String? = nil, tokenHash: [UInt8]? = nil) {
        (self.method, self.address, self.nonce, self.tokenHash) = (method, address, nonce, tokenHash)
    }

    /// Whether a text can be a nonce: RFC 9449, 8.1.
    public static func isNonce(_ text: String) -> Bool {
        (1...longestNonce).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }
}
