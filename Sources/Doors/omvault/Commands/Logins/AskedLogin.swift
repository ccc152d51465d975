internal import OMAuth

/// What a login was asked for, as far as it is known: for the report and the hints of a refusal.
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
