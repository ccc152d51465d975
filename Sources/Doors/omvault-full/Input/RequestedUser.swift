internal import OMAuth

/// The user and the domain on the command line.
struct RequestedUser {
    let user: UserName?
    let domain: IdentityDomain?

    init(user: UserName?, domain: IdentityDomain?) { (self.user, self.domain) = (user, domain) }

    /// The user of a session that was found.
    init(_ key: LoginKey) { self.init(user: key.user, domain: key.domain) }

    /// The names as the user typed them.
    init(typed user: String?, domain: String?) throws(AuthError) {
        self.init(
            user: try user.map { (text) throws(AuthError) in try UserName(text) },
            domain: try domain.map { (text) throws(AuthError) in try IdentityDomain(text) })
    }

    /// Whether the remembered login matches the names on the command line.
    func mayBe(_ remembered: RememberedLogin?) -> Bool {
        guard let remembered else { return false }
        return (user == nil || user == remembered.user) && (domain == nil || domain == remembered.domain)
    }
}
