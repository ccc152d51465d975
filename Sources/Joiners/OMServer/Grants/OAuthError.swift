#if Server
// The errors of RFC 6749, section 5.2.

internal import OMJSON

struct OAuthError: Error, Hashable {
    private let status: Int
    private let name: String
    private var description: String?
    private var headers: [String: String] = [:]

    private init(_ status: Int, _ name: String, _ description: String? = nil, headers: [String: String] = [:]) {
        (self.status, self.name, self.description, self.headers) = (status, name, description, headers)
    }

    static let invalidRequest = OAuthError(400, "invalid_request")
    static let invalidClient = OAuthError(401, "invalid_client", headers: ["www-authenticate": "Basic realm=\"omvault\""])
    static let invalidGrant = OAuthError(400, "invalid_grant", "The token is not valid")
    static let invalidScope = OAuthError(400, "invalid_scope")
    static let unauthorizedClient = OAuthError(400, "unauthorized_client")
    static let unsupportedGrant = OAuthError(400, "unsupported_grant_type")
    static let wrongPassword = OAuthError(400, "invalid_grant", "Wrong user name or password")
    static let blocked = OAuthError(400, "invalid_grant", "Account is blocked")

    static func tooMany(retryAfter seconds: Int) -> OAuthError {
        OAuthError(429, "invalid_grant", "Too many attempts", headers: ["retry-after": String(seconds)])
    }

    var response: ServerResponse {
        var members: [String: JSON] = ["error": .string(name)]
        if let description { members["error_description"] = .string(description) }
        var response = ServerResponse(json: .object(members))
        response.status = status
        response.headers.merge(headers) { $1 }
        return response
    }
}
#endif
