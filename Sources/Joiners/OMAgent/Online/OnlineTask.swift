/// What a service is asked.
package enum OnlineTask: Hashable, Sendable {
    /// With a password.
    case login(user: String)
    /// Does the session still count?
    case check
    /// New tokens; only OAuth has them.
    case refresh
    /// With a session; and with a password too where the server wants it once more from `user`.
    case logout(user: String?)
    /// The application profile from its address.
    case profile

    var user: String? {
        switch self {
        case .login(let user): user
        case .logout(let user): user
        case .check, .refresh, .profile: nil
        }
    }
}
