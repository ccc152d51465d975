public import OMOnlineModel

/// A server's answer to a question about a session.
public enum SessionCheckResult: Hashable, Sendable {
    case valid(AgentSession)
    /// There is no such session, or it is idle.
    case none
    /// The server did not confirm it. If the refusal says that the session is over, the agent has deleted it.
    case refused(OnlineRefusal)
}
