public import OMAgentProtocol
public import OMOnlineModel

/// What became of an exchanged token that was cleared. docs/reference/tokens.md, "Token exchange".
public enum ExchangeEnd: Hashable, Sendable {
    /// Why the server was not asked, or what it said.
    public enum Problem: Hashable, Sendable {
        /// The ledger had it damaged, so that its session is not known.
        case damaged
        /// The level that it was kept at is locked.
        case locked
        case refused(OnlineRefusal)
    }

    /// There was none.
    case none
    /// It is deleted. The server has revoked it, or the agent asks it to.
    case ended
    /// It is deleted here, and may stay valid at the server.
    case unrevoked(Problem)
    /// It is deleted from the ledger, but the agent did not end every session, and may still give the token out.
    case stillHeld(AgentError)
}
