/// `HTTPBasicAuthentication`, and the same addresses of `CertificateBasedAuthentication`.
public struct BasicService: Hashable, Sendable {
    public let login: String
    public let logout: String?
    /// `RequiredTokens`: the names of cookies that a login must bring.
    public let requiredTokens: [String]
    /// `SendCustomAuthHeadersInLogout`
    public let sendsHeadersAtLogout: Bool

    public init(
        login: String, logout: String? = nil, requiredTokens: [String] = [], sendsHeadersAtLogout: Bool = false
    ) {
        self.login = login
        self.logout = logout
        self.requiredTokens = requiredTokens
        self.sendsHeadersAtLogout = sendsHeadersAtLogout
    }
}
