internal import OMAuth

/// The names that stand on the command line.
struct RequestedUser {
    let user: UserName?
    let domain: IdentityDomain?

    /// Whether the remembered login can be the one that was named.
    func mayBe(_ remembered: RememberedLogin?) -> Bool {
        guard let remembered else { return false }
        return (user == nil || user == remembered.user) && (domain == nil || domain == remembered.domain)
    }
}
