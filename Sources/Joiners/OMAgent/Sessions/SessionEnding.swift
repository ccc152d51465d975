public import OMOnlineModel

/// How a session ended.
public enum SessionEnding: Hashable, Sendable {
    /// There was no session.
    case notThere
    /// The agent deleted an older state of it. Another agent has renewed the session, and the ledger has the newer state.
    case overtaken
    /// The agent deleted it. There was nothing to ask a server, or the client did not wait for the answer.
    case endedHere
    /// The agent deleted it, and the server ended it.
    case endedAtServer
    /// The agent deleted it. It may continue at the server, for this reason.
    case endedHereOnly(OnlineRefusal)

    public var wasThere: Bool { self != .notThere }

    /// Whether the server was asked. Without an address for logging out it was not.
    public var wasServerAsked: Bool {
        switch self {
        case .notThere, .overtaken, .endedHere, .endedHereOnly(.failed(.noLogout, _, _)): false
        case .endedAtServer, .endedHereOnly: true
        }
    }

    /// The SDK's number for a logout that the server was asked for and did not carry out. Nil for every other ending.
    public var sdkCode: Int? {
        switch wasServerAsked ? self : .endedHere {
        case .endedHereOnly(.unreachable(.timedOut)): 10034
        case .endedHereOnly: 10035
        case .notThere, .overtaken, .endedHere, .endedAtServer: nil
        }
    }
}
