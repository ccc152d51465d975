package import OMSecrets

/// What the ledger has of an exchanged token.
package enum KeptToken: ~Copyable, Sendable {
    /// There is none, or it was made before the profile was changed.
    case none
    /// Its time is over. It has been deleted.
    case expired
    /// It is for another issuer, backend or version of a backend.
    case otherBackend
    /// It was sealed with the key of another vault, and this one never opens it.
    case otherKey
    /// The level that it is kept at is locked.
    case locked
    /// The session of the exchange, with the life that is left.
    case live(LoginReceipt)
}

/// What the ledger had of an exchanged token that is deleted or replaced now.
package enum ClearedToken: ~Copyable, Sendable {
    case none
    /// It was not authentic, so that no one knows its session.
    case damaged
    /// The level that it was kept at is locked.
    case locked(LoginKey)
    case cleared(LoginKey, SecretBytes)
}
