// The new tokens of a session in a server's answer.

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

/// New tokens as the server gave them.
struct NewTokens: ~Copyable, Sendable {
    let session: SecretBytes
    /// Nil if the session's own access token stays.
    let access: AccessToken?
    let expires: Int64?
}

extension OnlineReply {
    /// Whether the server says that the session has ended.
    var endsSession: Bool {
        switch self {
        case .refused(let refusal): refusal.endsSession
        case .accepted: false
        case .asked: false
        }
    }

    /// The new tokens of a session. Nil if the server gave none.
    ///
    /// - Parameter isNarrow: Whether the access token is a further one of the session.
    borrowing func newTokens(sent: ClockReading, isNarrow: Bool = false) -> NewTokens? {
        switch self {
        case .accepted(let acceptance):
            switch acceptance.session {
            case .none: return nil
            case .some(let session):
                let expires = acceptance.lifetime.map { sent.sinceBoot + Int64($0) }
                guard !isNarrow else { return NewTokens(session: session.duplicate(), access: nil, expires: nil) }
                switch acceptance.access {
                case .none: return NewTokens(session: session.duplicate(), access: nil, expires: expires)
                case .some(let access):
                    return NewTokens(session: session.duplicate(), access: access.duplicate(), expires: expires)
                }
            }
        case .refused: return nil
        case .asked: return nil
        }
    }
}
