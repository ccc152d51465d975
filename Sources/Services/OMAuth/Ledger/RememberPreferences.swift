/// The user's choices. If nil, the user has not chosen, and the profile's default counts.
public struct RememberPreferences: Hashable, Sendable {
    public var autoLogin: Bool?
    public var credentials: Bool?
    public var userName: Bool?

    public init(autoLogin: Bool? = nil, credentials: Bool? = nil, userName: Bool? = nil) {
        (self.autoLogin, self.credentials, self.userName) = (autoLogin, credentials, userName)
    }
}

/// What is remembered after a success: the first of these that is allowed and wanted.
package enum RememberChoice: String, CaseIterable, Hashable, Sendable {
    /// The next login submits the password without asking the user.
    case autoLogin
    /// User name and password are filled in.
    case credentials
    /// The user name is filled in.
    case userName
    case nothing

    package init(_ policy: RememberPolicy, _ preferences: RememberPreferences) {
        func isOn(_ option: RememberOption, _ choice: Bool?) -> Bool {
            option.isAllowed && (choice ?? option.isDefault)
        }
        if isOn(policy.autoLogin, preferences.autoLogin) {
            self = .autoLogin
        } else if isOn(policy.credentials, preferences.credentials) {
            self = .credentials
        } else if isOn(policy.userName, preferences.userName) {
            self = .userName
        } else {
            self = .nothing
        }
    }

    package var keepsPassword: Bool { self == .autoLogin || self == .credentials }
}
