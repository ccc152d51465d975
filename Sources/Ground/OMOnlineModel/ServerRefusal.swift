// The reasons why a server with a remote did not do what it was asked. docs/formats/sync.md, "Over HTTP".

/// A refusal of a server with remotes. It holds no text from the server.
package enum ServerRefusal: Error, Hashable, Sendable {
    /// No server was reached, it did not prove its name, it gave no usable answer, or the login was refused.
    case online(OnlineRefusal)
    /// 401, also with another token: the account's password is needed.
    case loggedOut
    /// 404: the account has no such remote.
    case missing
    /// 409: what is there does not fit to this.
    case conflict
    /// 507: the account, or this device, has used up its space.
    case full
    /// Another status of a request that cannot help: to send it again is of no use.
    case refused(status: UInt16)
}

extension ServerRefusal {
    /// Whether a later try can help without the user.
    package var passes: Bool {
        switch self {
        case .online(.unreachable), .online(.untrusted): true
        case .online(.failed(let failure, _, _)):
            switch failure {
            case .serverError, .tooManyRequests, .brokenAnswer, .helper, .cancelled, .unexpectedAnswer, .redirected: true
            default: false
            }
        case .missing: true
        case .online, .loggedOut, .conflict, .full, .refused: false
        }
    }
}
