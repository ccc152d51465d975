// What client and agent say to each other, in one place. Format: docs/agent-protocol.md.

internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMVault

public enum AgentProtocol {
    /// Rises with every change that the other end would misread.
    public static let version: UInt8 = 1

    static let magic: [UInt8] = [0x4F, 0x41]
    /// magic (2) ‖ version (1) ‖ kind (1) ‖ count of the body (4)
    static let headCount = 8
    /// A request: the largest item and all that stands around it.
    static let maximumBody = 17 << 20
    /// An answer: a list of a great many items.
    static let maximumAnswer = 256 << 20

    /// Different vaults that one agent serves until it ends.
    public static let maximumVaults = 256
    /// Connections that are served at once.
    static let maximumClients = 64
    /// A frame that has begun must be whole after so many milliseconds; so must the first one of a connection.
    static let frameTime = 5_000
    /// How long a connection may rest between frames.
    static let restTime = 30_000
    /// How long a client waits for an answer: longer than the longest wait for a vault's lock.
    static let answerTime = 90_000
    /// How long a client tries again while the agent is busy.
    static let busyTime = 8_000
}

/// The kinds of frames. `stepDown` and `otherVersion` mean the same in every version, and so does the head.
enum FrameKind: UInt8 {
    // From the client
    case stepDown = 0x01
    case status = 0x02
    case unlock = 0x03
    case lock = 0x04
    case perform = 0x05
    case lockOpened = 0x06
    // From the client, for logins
    case rememberingKey = 0x40
    // About sessions
    case keepSession = 0x50
    case useSession = 0x51
    case renewSession = 0x52
    case endSession = 0x53
    case sessions = 0x54
    // To the online helper: docs/online-protocol.md
    case question = 0x20
    // From the agent
    case done = 0x80
    case otherVersion = 0x81
    case busy = 0x82
    case refused = 0x83
    case agentStatus = 0x84
    case reply = 0x85
    case failure = 0x86
    case locked = 0x87
    case full = 0x88
    case session = 0xD0
    case noSession = 0xD1
    case sessionRefused = 0xD2
    case sessionEnded = 0xD3
    case sessionList = 0xD4
    // From the online helper
    case answer = 0xA0
    // From the agent, for logins
    case rememberingKeyIs = 0xC0
}

/// Which vault a message is about: two names that the client found, as it would open them itself.
public struct AgentPlace: Hashable, Sendable {
    /// The vault's file, an absolute path.
    public let vault: String
    /// The device folder, an absolute path; empty where the user has none.
    public let device: String

    /// - Returns: nil unless the paths are absolute, without a NUL and within 4096 bytes.
    public init?(vault: String, device: String) {
        guard vault.isAgentPath, device.isEmpty || device.isAgentPath else { return nil }
        (self.vault, self.device) = (vault, device)
    }
}

/// How far a vault is open in the agent.
public enum AgentVaultState: UInt8, Sendable {
    /// No key is at hand: never unlocked, or forgotten.
    case locked = 0
    /// It was unlocked and locked again: after-first-unlock can be read.
    case firstUnlocked = 1
    case unlocked = 2
}

/// What the agent says of itself. No name of an item, no key.
public struct AgentStatus: Sendable {
    public struct Vault: Sendable {
        public let place: AgentPlace
        public let state: AgentVaultState
        /// Seconds until it locks by itself, for want of use and in any case; 0 when it is locked.
        public let idleLeft: UInt32
        public let hardLeft: UInt32
    }

    public let process: Int32
    /// ``SecretMemory/Protection``: 0 none, 1 locked, 2 hidden.
    public let memory: UInt8
    /// The time-outs of an unlock that names none, in seconds.
    public let idle: UInt32
    public let hard: UInt32
    public let vaults: [Vault]
}

/// What a client asks.
enum AgentRequest: ~Copyable, Sendable {
    case stepDown
    case status
    /// Time-outs in seconds; 0 for the agent's own. The login is the one whose slot opened the vault; nil for any other slot.
    case unlock(AgentPlace, ClassKeys, openedBy: [UInt8]?, idle: UInt32, hard: UInt32)
    /// Nil for every vault.
    case lock(AgentPlace?, forgets: Bool)
    /// Every vault that this login opened, with all that is kept of it.
    case lockOpened(by: [UInt8])
    case perform(AgentPlace, ItemRequest)
    /// The key for passwords that are remembered at a level of the vault.
    case rememberingKey(AgentPlace, ProtectionLevel)
    case keepSession(KeptSession)
    case useSession(AgentLogin)
    case renewSession(AgentLogin, anew: Bool)
    case endSession(AgentLogin, waits: Bool, password: SecretBytes?)
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
