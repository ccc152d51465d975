internal import OMAgentProtocol
internal import OMAuth
internal import OMItems
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// A client's request.
enum AgentRequest: ~Copyable, Sendable {
    case stepDown
    case status
    /// Time-outs in seconds; 0 for the agent's default. The login is the one whose slot opened the vault. Nil
    /// for any other slot.
    case unlock(VaultPaths, ClassKeys, openedBy: [UInt8]?, idle: UInt32, hard: UInt32)
    /// Nil for every vault.
    case lock(VaultPaths?, forgets: Bool)
    /// Locks and forgets every vault that this login opened.
    case lockOpened(by: [UInt8])
    case perform(VaultPaths, ItemRequest)
    /// The key for passwords that are remembered at a level of the vault.
    case rememberingKey(VaultPaths, ProtectionLevel)
    /// What was done with the vault's remotes.
    case syncStatus(VaultPaths, needsFacts: Bool)
    /// Asks for an exchange with one remote, or with all if it is nil. The answer does not wait for it.
    case syncNow(VaultPaths, remote: UInt8?)
    case keepSession(NewSession)
    /// A session that the ledger remembers, and when its user logged in.
    case restoreSession(NewSession, since: Int64)
    case useSession(LoginReference)
    case renewSession(LoginReference, newTokens: Bool)
    case endSession(LoginReference, waits: Bool, inBrowser: Bool, password: SecretBytes?)
    case sessions
    case token(LoginReference, TokenQuestion)
    /// A server refused this access token of the session, or any, if it is nil.
    case forgetToken(LoginReference, refused: SecretBytes?)
    /// Signs with an identity of a vault that is open here.
    case sign(VaultPaths, identity: String, IdentityUse)
    /// The keys that SSH programs may use.
    case sshKeys(VaultPaths)
    case signSSH(VaultPaths, SSHSigning)
    case claims(LoginReference, TokenInquiry)
    /// Starts a helper that sends requests with the access token of the session.
    case request(RequesterQuestion)
    case knownToken(KnownTokenQuestion)
    /// The session is of the profile that was read so.
    case profileReading(LoginReference, ProfileDigest, ProfileReading)
    /// Deletes the session here if another agent has renewed it.
    case compareSession(LoginReference)
}

/// The agent's answer.
enum AgentReply: ~Copyable, Sendable {
    case done
    case otherVersion(UInt8)
    /// There are too many clients. The connection is closed.
    case busy
    /// The frame breaks the protocol. The connection is closed.
    case refused
    case status(AgentStatus)
    case reply(ItemReply)
    case failure(VaultError)
    /// The agent does not have the keys that the request needs.
    case locked(AgentVaultState)
    /// The agent already has as many vaults, or as many valid sessions, as it can keep.
    case full
    case unlocked(AgentStatus.VaultStatus)
    case rememberingKey(Key<Remembering>)
    case sync(AgentSyncStatus)
    case session(AgentSession)
    case noSession
    case sessionRefused(OnlineRefusal)
    /// The address is for a browser.
    case sessionEnded(SessionEnding, address: String?)
    case sessions([AgentSession])
    /// `left` is in seconds. Nil for a token without an end.
    case token(AccessToken, left: Int64?, TokenStatus)
    case tokenRefused(TokenRefusal)
    case signed(SecretBytes)
    /// One of ``OnlineFailure/ofSigning``.
    case notSigned(OnlineFailure)
    case sshKeys([OfferedSSHKey])
    case claims(SecretBytes)
    case knownToken(SecretBytes)
    case requester(Requester)
    /// `RESTOrigins` does not name the origin.
    case foreignOrigin
}
