public import OMAuth

/// What became of an exchanged token that an agent should have again. docs/reference/tokens.md, "Token exchange".
public enum ExchangeState: Hashable, Sendable {
    /// The agent has it.
    ///
    /// - Parameter expires: When it ends, in seconds since boot.
    case loaded(LoginDetails, expires: Int64?)
    /// None is kept, or it was exchanged before the profile was changed.
    case none
    /// Its session was idle for too long.
    case idle
    /// Its time is over.
    case expired
    /// It is for another issuer, backend or version of a backend.
    case otherBackend
    /// It is sealed with the key of another vault.
    case otherKey
    /// The level that it is kept at is locked.
    case locked
    /// The agent does not take it. It stays in the ledger.
    case notKept
}
