#if Server
// A request for a token that was checked.

/// The account, the application and the proof of a request for a token. The transaction that issues the token checks the hash and
/// the parent again.
struct TokenRequest: Sendable {
    let account: AccountName
    /// Empty for a service without registration.
    let application: String
    let domain: String
    /// The hash that the user's password was compared with. Nil if the request has a token and no password.
    let hash: String?
    /// The digest of the token or the handle that the request has. The new token ends with it.
    var parent: [UInt8]?
    /// The new token ends at this time at the latest.
    var end = Int64.max

    init(account: AccountName, application: String, domain: String, hash: String?, parent: [UInt8]? = nil) {
        (self.account, self.application, self.domain) = (account, application, domain)
        (self.hash, self.parent) = (hash, parent)
    }

    /// A request that is made with a user's token.
    ///
    /// Attack: a token that was copied once is exchanged again and again, and never ends. So the new one does not outlive it.
    init(_ token: SDKToken, _ digest: [UInt8]) {
        self.init(account: token.account, application: token.application, domain: token.domain, hash: nil, parent: digest)
        end = token.expires
    }
}
#endif
