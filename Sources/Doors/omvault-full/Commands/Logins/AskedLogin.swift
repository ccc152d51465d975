internal import OMAuth

/// The names and the mode of a login, as far as they are known. The report and the hints of a refusal use them.
struct AskedLogin {
    let profileName: ProfileName
    var profile: Profile?
    var user: UserName?
    var domain: IdentityDomain?
    var mode: ConnectivityMode

    init(profileName: ProfileName, user: UserName?, domain: IdentityDomain? = nil, mode: ConnectivityMode?) {
        (self.profileName, self.user, self.domain) = (profileName, user, domain)
        self.mode = mode ?? .auto
    }

    mutating func take(_ request: LoginRequest) {
        (profile, user, domain, mode) = (request.profile, request.user, request.domain, request.mode)
    }
}
