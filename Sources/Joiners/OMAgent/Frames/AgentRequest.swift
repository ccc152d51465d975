internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// What a client asks.
enum AgentRequest: ~Copyable, Sendable {
    case stepDown
    case status
    /// Time-outs in seconds; 0 for the agent's own. The login is the one whose slot opened the vault; nil for any other slot.
    case unlock(VaultPaths, ClassKeys, openedBy: [UInt8]?, idle: UInt32, hard: UInt32)
    /// Nil for every vault.
    case lock(VaultPaths?, forgets: Bool)
    /// Every vault that this login opened, with all that is kept of it.
    case lockOpened(by: [UInt8])
    case perform(VaultPaths, ItemRequest)
    /// The key for passwords that are remembered at a level of the vault.
    case rememberingKey(VaultPaths, ProtectionLevel)
    case keepSession(NewSession)
    case useSession(LoginReference)
    case renewSession(LoginReference, anew: Bool)
    case endSession(LoginReference, waits: Bool, password: SecretBytes?)
    case sessions
}

/// What the agent answers.
enum AgentReply: ~Copyable, Sendable {
    case done
    case otherVersion(UInt8)
    /// Too many clients; the connection is closed.
    case busy
    /// The frame breaks the protocol; the connection is closed.
    case refused
    case status(AgentStatus)
    case reply(ItemReply)
    case failure(VaultError)
    /// The keys that the request needs are not at hand.
    case locked(AgentVaultState)
    /// As many vaults are open, or sessions valid, as the agent keeps.
    case full
    case rememberingKey(Key<Remembering>)
    case session(AgentSession)
    case noSession
    case sessionRefused(OnlineRefusal)
    case sessionEnded(SessionEnding)
    case sessions([AgentSession])
}
