/// How an access token is sent in a request.
public enum TokenKind: UInt8, Sendable {
    case bearer = 1
    /// With a proof of the session's key (RFC 9449).
    case dpop = 2

    /// The word before the token in the header `Authorization`.
    public var word: String {
        switch self {
        case .bearer: "Bearer"
        case .dpop: "DPoP"
        }
    }
}
