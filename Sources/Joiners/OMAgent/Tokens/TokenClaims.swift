public import OMOnlineModel
public import OMSecrets

/// The answer to a question about the access token of a session.
public enum TokenClaims: ~Copyable, Sendable {
    /// What the server says, as a JSON object.
    case given(SecretBytes)
    /// There is no such session, or it is idle.
    case none
    /// The session has no access token: its login was offline, or its server gives none.
    case noToken
    case refused(OnlineRefusal)
}
