// The client of the agent: items, keys and the agent itself. SessionClient has the calls about logins.

public import OMAgentProtocol
public import OMItems
package import OMOnlineModel
public import OMRecords
public import OMSecrets
public import OMVault

/// This user's agent, if one runs. Each call opens its own connection.
public struct AgentClient: Sendable {
    let connection: AgentConnection

    public init(_ socket: AgentSocket) { connection = AgentConnection(socket) }

    var socket: AgentSocket { connection.socket }

    /// Sends a question or a change to the agent.
    public func perform(_ paths: VaultPaths, _ request: consuming ItemRequest) throws(AgentError) -> AgentItemReply {
        try connection.perform(paths, request)
    }

    /// Hands the agent the keys of an unlocked vault.
    ///
    /// - Parameters:
    ///   - login: The id of the login whose slot opened the vault. Nil for a slot of another kind. If that login loses
    ///     its credential, ``lockOpened(by:)`` locks the vault.
    ///   - idle: Seconds without use after which the vault locks. 0 for the agent's default.
    ///   - hard: Seconds after which the vault locks in any case. 0 for the agent's default.
    /// - Returns: The vault's status in the agent, unlocked and with neither limit used yet, or the vault's refusal.
    public func unlock(
        _ paths: VaultPaths, _ keys: ClassKeys, openedBy login: [UInt8]?, idle: UInt32, hard: UInt32
    ) throws(AgentError) -> Result<AgentStatus.VaultStatus, VaultError> {
        switch try ask(.unlock(paths, keys, openedBy: login, idle: idle, hard: hard)) {
        case .unlocked(let status):
            guard status.paths == paths, status.state == .unlocked else { throw .misbehaved }
            return .success(status)
        case .failure(let error): return .failure(error)
        case .full: throw .full
        default: throw .misbehaved
        }
    }

    /// Calls `body` for each agent of this user: that of the environment first.
    ///
    /// - Returns: Whether one is running.
    /// - Throws: The first error that means more than that no agent is running. `body` was called for all before.
    package static func forEach(
        _ variable: (String) -> String?, _ body: (AgentClient) throws(AgentError) -> Void
    ) throws(AgentError) -> Bool {
        var isRunning = false, problem: AgentError?
        for socket in AgentSocket.all(variable) {
            do throws(AgentError) {
                try body(AgentClient(try socket.get()))
                isRunning = true
            } catch { if !error.meansNoAgent, problem == nil { problem = error } }
        }
        if let problem { throw problem }
        return isRunning
    }

    /// Locks one vault, or all if `paths` is nil. With `forgets` it also wipes the keys of the after-first-unlock levels.
    public func lock(_ paths: VaultPaths?, forgets: Bool) throws(AgentError) {
        guard case .done = try ask(.lock(paths, forgets: forgets)) else { throw .misbehaved }
    }

    /// Locks every vault that this login opened. It also wipes the keys of the after-first-unlock levels.
    package func lockOpened(by login: [UInt8]) throws(AgentError) {
        guard case .done = try ask(.lockOpened(by: login)) else { throw .misbehaved }
    }

    /// The key for passwords that are remembered at `level` of a vault.
    ///
    /// - Returns: nil while that level is locked in the agent, and if the vault cannot be read there.
    public func rememberingKey(
        _ paths: VaultPaths, of level: ProtectionLevel
    ) throws(AgentError) -> Key<Remembering>? {
        switch try ask(.rememberingKey(paths, level)) {
        case .rememberingKey(let key): return key
        // The vault's error is reported to the process that opens the vault next.
        case .locked: return nil
        case .failure: return nil
        default: throw .misbehaved
        }
    }

    /// Has the agent sign with an identity of a vault that is open there.
    ///
    /// - Throws: ``OnlineFailure/lockedClientKey`` while its level is locked, or if the agent does not have the vault;
    ///   ``OnlineFailure/unusableClientKey``; ``OnlineFailure/noKeyAlgorithm``; ``OnlineFailure/helper`` if the agent failed.
    package func sign(
        _ use: IdentityUse, with identity: String, in paths: VaultPaths
    ) throws(OnlineRefusal) -> SecretBytes {
        let reply: AgentReply
        do throws(AgentError) { reply = try ask(.sign(paths, identity: identity, use)) } catch {
            if case .notRunning = error { throw .failed(.lockedClientKey) }
            throw .failed(.helper)
        }
        switch consume reply {
        case .signed(let signature): return signature
        case .notSigned(let cause): throw .failed(cause)
        default: throw .failed(.helper)
        }
    }

    /// The keys of a vault that SSH programs may use now. None while the vault is locked there, or if it cannot be read.
    package func sshKeys(_ paths: VaultPaths) throws(AgentError) -> [OfferedSSHKey] {
        switch try ask(.sshKeys(paths)) {
        case .sshKeys(let keys): return keys
        case .locked: return []
        // The vault's error is reported to the process that opens the vault next.
        case .failure: return []
        default: throw .misbehaved
        }
    }

    /// Has the agent sign for an SSH program.
    ///
    /// - Returns: nil if it does not: the key's level is locked, or no SSH program has such bytes signed.
    package func sign(
        _ data: [UInt8], with key: OfferedSSHKey, in paths: VaultPaths, flags: UInt32
    ) throws(AgentError) -> [UInt8]? {
        let signing = SSHSigning(item: key.item, publicKey: key.publicKey, data: data, flags: flags)
        switch try ask(.signSSH(paths, signing)) {
        case .signed(let signature): return signature.withBytes { [UInt8](copying: $0) }
        case .notSigned: return nil
        default: throw .misbehaved
        }
    }

    /// Deletes the ticket of one vault, or all tickets if `vault` is nil. A ticket outlives an agent that was killed.
    package func deleteTickets(of vault: [UInt8]?) {
        let tickets = VaultTickets(socket.folder)
        for id in vault.map({ [$0] }) ?? tickets.vaults { tickets.remove(id) }
    }

    /// Deletes the tickets of the vaults that this login opened.
    package func deleteTickets(openedBy login: [UInt8]) { VaultTickets(socket.folder).remove(openedBy: login) }

    public func status() throws(AgentError) -> AgentStatus {
        switch try ask(.status) {
        case .status(let status): return status
        default: throw .misbehaved
        }
    }

    /// Tells an agent of any version to finish, lock all vaults and exit. Returns when it is gone.
    public func stepDown() throws(AgentError) {
        let channel = try connection.connect()
        try AgentConnection.exchange { () throws(ChannelError) in
            try channel.send(.stepDown, SecretBuffer(), within: AgentProtocol.frameTime)
            guard let frame = try channel.receive(start: 10_000, frame: AgentProtocol.frameTime) else { return }
            guard frame.kind == FrameKind.done.rawValue || frame.version != AgentProtocol.version else {
                throw .malformed
            }
            // The connection ends with the process. After that the process no longer holds the socket.
            _ = try channel.receive(start: 10_000, frame: AgentProtocol.frameTime)
        }
    }

    func ask(_ request: consuming AgentRequest) throws(AgentError) -> AgentReply {
        var body = SecretBuffer()
        let kind = request.encode(into: &body)
        return try connection.ask(kind, body)
    }
}
