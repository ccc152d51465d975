internal import OMAuth

/// The user and the domain on the command line.
struct RequestedUser {
    let user: UserName?
    let domain: IdentityDomain?

    /// Whether the remembered login matches the names on the command line.
    func mayBe(_ remembered: RememberedLogin?) -> Bool {
        guard let remembered else { return false }
        return (user == nil || user == remembered.user) && (domain == nil || domain == remembered.domain)
    }
}
