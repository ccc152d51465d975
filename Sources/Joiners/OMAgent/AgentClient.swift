// The client of the agent. The process that answers must run as this user: the kernel names that user, not the socket's path.

internal import COMSystem
internal import Glibc
public import OMRecords
public import OMSecrets
public import OMVault

/// This user's agent, if one runs. Each call opens its own connection.
public struct AgentClient: Sendable {
    let socket: AgentSocket

    public init(_ socket: AgentSocket) { self.socket = socket }

    /// Sends a question or a change to the agent.
    public func perform(_ paths: VaultPaths, _ request: consuming ItemRequest) throws(AgentError) -> AgentItemReply {
        var body = SecretBuffer()
        body.write(paths)
        // Their files stay open until the agent has them.
        let spooled = request.encode(into: &body)
        defer { withExtendedLifetime(spooled) {} }
        switch try repeating(.perform, body, descriptors: spooled.map(\.descriptor)) {
        case .reply(let reply): return .reply(reply)
        case .failure(let error): return .failure(error)
        case .locked(let state): return .locked(state)
        default: throw .misbehaved
        }
    }

    /// Hands the agent the keys of an unlocked vault.
    ///
    /// - Parameters:
    ///   - login: The id of the login whose slot opened the vault. Nil for a slot of another kind. If that login loses
    ///     its credential, ``lockOpened(by:)`` locks the vault.
    ///   - idle: Seconds without use after which the vault locks. 0 for the agent's default.
    ///   - hard: Seconds after which the vault locks in any case. 0 for the agent's default.
    /// - Returns: The vault's refusal. Nil if there is none.
    public func unlock(
        _ paths: VaultPaths, _ keys: ClassKeys, openedBy login: [UInt8]?, idle: UInt32, hard: UInt32
    ) throws(AgentError) -> VaultError? {
        switch try ask(.unlock(paths, keys, openedBy: login, idle: idle, hard: hard)) {
        case .done: return nil
        case .failure(let error): return error
        case .full: throw .full
        default: throw .misbehaved
        }
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
        let channel = try connect()
        try exchange { () throws(ChannelError) in
            try channel.send(.stepDown, SecretBuffer(), within: AgentProtocol.frameTime)
            guard let frame = try channel.receive(start: 10_000, frame: AgentProtocol.frameTime) else { return }
            guard frame.kind == FrameKind.done.rawValue || frame.version != AgentProtocol.version else {
                throw .malformed
            }
            // The connection ends with the process. After that the process no longer holds the socket.
            _ = try channel.receive(start: 10_000, frame: AgentProtocol.frameTime)
        }
    }

    // MARK: - One exchange

    func ask(_ request: consuming AgentRequest) throws(AgentError) -> AgentReply {
        var body = SecretBuffer()
        let kind = request.encode(into: &body)
        return try repeating(kind, body)
    }

    /// Asks again while the agent has too many clients.
    private func repeating(
        _ kind: FrameKind, _ body: borrowing SecretBuffer, descriptors: [Int32] = []
    ) throws(AgentError) -> AgentReply {
        let end = bootMilliseconds() + Int64(AgentProtocol.busyTime)
        var pause: UInt32 = 2_000
        while true {
            switch try ask(kind, body, descriptors) {
            case .busy:
                guard bootMilliseconds() < end else { throw .busy }
                usleep(pause)
                pause = min(pause * 2, 100_000)
            case .otherVersion(let version): throw .otherVersion(version)
            case let reply: return reply
            }
        }
    }

    private func ask(
        _ kind: FrameKind, _ body: borrowing SecretBuffer, _ descriptors: [Int32]
    ) throws(AgentError) -> AgentReply {
        let channel = try connect()
        return try exchange { () throws(ChannelError) in
            // A busy agent answers before it reads, and closes the connection. Its answer still counts.
            do throws(ChannelError) {
                try channel.send(kind, body, descriptors: descriptors, within: AgentProtocol.answerTime)
            } catch {
                guard error == .ended else { throw error }
            }
            guard
                let frame = try channel.receive(
                    start: AgentProtocol.answerTime, frame: AgentProtocol.answerTime,
                    maximum: AgentProtocol.maximumAnswer)
            else { throw .ended }
            guard frame.version == AgentProtocol.version else { return .otherVersion(frame.version) }
            return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
                do throws(MalformedBytes) { return try AgentReply.decode(frame.kind, bytes) } catch {
                    throw .malformed
                }
            }
        }
    }

    private func connect() throws(AgentError) -> FrameChannel {
        let descriptor = om_socket_connect(socket.folder.descriptorPath(socket.name), Int32(AgentProtocol.busyTime))
        guard descriptor >= 0 else {
            // A killed agent leaves a socket on which no process listens.
            throw errno == ENOENT || errno == ECONNREFUSED ? .notRunning : errno == EAGAIN ? .busy : .io(errno)
        }
        let channel = FrameChannel(descriptor)
        guard let user = channel.peer() else { throw .io(errno) }
        guard user == geteuid() else { throw .otherUser(user) }
        return channel
    }

    private func exchange<R: ~Copyable>(_ body: () throws(ChannelError) -> R) throws(AgentError) -> R {
        do throws(ChannelError) { return try body() } catch {
            switch error {
            case .deadline: throw .deadline
            case .ended, .malformed, .noDescriptors: throw .misbehaved
            }
        }
    }
}
