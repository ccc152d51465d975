internal import OMOnlineModel

/// The task of a question to a service.
package enum OnlineTask: Hashable, Sendable {
    /// Logs in with a password.
    case login(user: String)
    /// Continues a login with the answers to the server's questions. Only the Mobile and Social service asks some.
    case answer(user: String)
    /// Asks whether the session still counts.
    case check
    /// Gets new tokens. Only OAuth has them.
    case refresh
    /// Ends a session. If the server wants the password again, it comes from `user`.
    case logout(user: String?)
    /// Fetches the application profile from its address.
    case profile
    /// Fetches the endpoints from the document in which the server names them.
    case endpoints
    /// Gets an access token of the client itself. Only OAuth's client credentials grant has it.
    case grant

    var user: String? {
        switch self {
        case .login(let user), .answer(let user): user
        case .logout(let user): user
        case .check, .refresh, .profile, .endpoints, .grant: nil
        }
    }

    /// Whether a question to this service can have the task.
    func fits(_ service: OnlineService) -> Bool {
        switch (self, service.kind) {
        case (.profile, _): true
        case (.endpoints, _): service.namesEndpoints
        case (.grant, _): service.isOfClient
        // No user logs in there.
        case _ where service.isOfClient: false
        case (.refresh, .oauth), (.answer, .oamms): true
        case (.refresh, _), (.answer, _): false
        case (.login, _), (.check, _), (.logout, _): true
        }
    }
}
