// One vault in the agent: its keys, their time limits, and the open file. The levels are enforced here: a client gets
// nothing for which the handle has no key.

internal import Glibc
internal import OMAgentProtocol
internal import OMItems
internal import OMOnlineModel
internal import OMRecords
internal import OMSystem
internal import OMVault
internal import Synchronization

/// A vault that was unlocked at least once. One request at a time uses it.
final class VaultHandle: Sendable {
    let paths: VaultPaths
    private let tickets: VaultTickets
    private let budget: MemoryBudget
    /// The exchanges with remotes.
    let flight: Flight?
    private let state: Guarded<VaultHandleState>
    /// The facts that are known while a request uses the vault.
    private let summary = Mutex(VaultHandleSummary())
    let sshKeyCache = SSHKeyCache()
    /// Asked while a thread waits to lock the vault.
    let interruption = Interruption()

    init(_ paths: VaultPaths, _ tickets: VaultTickets, _ budget: MemoryBudget, background: AgentSync? = nil) {
        (self.paths, self.tickets, self.budget) = (paths, tickets, budget)
        flight = background.map { Flight(of: paths, $0) }
        state = Guarded(VaultHandleState())
    }

    /// A handle that got no place in the table leaves no thread with its keys.
    deinit { flight?.end() }

    /// Runs `body` on the state. Afterwards it updates the summary for threads that do not wait.
    func withState<R: ~Copyable, E: Error>(_ body: (inout VaultHandleState) throws(E) -> R) throws(E) -> R {
        try state.withLock { state throws(E) in
            defer { publish(state) }
            return try body(&state)
        }
    }

    private func withStateIfFree<R>(_ body: (inout VaultHandleState) -> R) -> R? {
        state.withLockIfFree { state in
            defer { publish(state) }
            return body(&state)
        }
    }

    private func publish(_ state: VaultHandleState) {
        summary.withLock { ($0.level, $0.login, $0.ends) = (state.level, state.login, state.ends) }
        flight?.follow(state.keys, isUnlocked: state.isUnlocked) { remotes(of: state.loaded) }
    }

    /// The login that opened the vault. While a request runs, it is the login before that request.
    var login: [UInt8]? { summary.withLock { $0.login } }

    // MARK: - Unlocking and locking

    /// Takes the keys if they open the vault. Otherwise the earlier keys stay.
    ///
    /// - Parameters:
    ///   - login: The login whose slot opened the vault. Nil for any other slot.
    ///   - idle: Seconds without use until the vault locks.
    ///   - hard: Seconds until the vault locks in any case.
    /// - Returns: The status at that moment, with neither limit used yet.
    func unlock(
        _ keys: ClassKeys, openedBy login: [UInt8]?, idle: Int64, hard: Int64
    ) throws(VaultError) -> AgentStatus.VaultStatus {
        try withState { state throws(VaultError) in
            let loaded = try load(keys)
            let now = Self.bootSeconds()
            state = VaultHandleState(
                loaded: loaded, keys: keys, login: login, isUnlocked: true, idle: idle, lastUse: now, end: now + hard,
                purge: state.purge)
            flight?.begin(keys, remotes(of: loaded))
            return status(state.level, state.ends, at: now)
        }
    }

    /// Writes the ticket that the vault's policy allows. Call it when the handle is in the table: if the agent is full,
    /// the existing ticket must stay untouched.
    func renewTicket() {
        withState { state in
            guard let keys = state.keys, let file = try? paths.file(), file.id == keys.vault else { return }
            tickets.renew(for: file, keys.afterLock, openedBy: state.login)
        }
    }

    /// Wipes the keys of the when-unlocked levels. With `forgets` it also wipes the others and removes the ticket. It does
    /// not wait for a request that waits for another process: that request gives up and answers that the vault is locked.
    func lock(forgets: Bool) {
        interruption.begin()
        defer { interruption.end() }
        withState { state in lock(&state, forgets) }
    }

    /// - Returns: false while a request uses the vault. The caller has asked that request to give up.
    func lockIfFree(forgets: Bool) -> Bool { withStateIfFree { state in lock(&state, forgets) } != nil }

    private func lock(_ state: inout VaultHandleState, _ forgets: Bool) {
        if forgets, let vault = state.keys?.vault { tickets.remove(vault) }
        state.lock(forgets: forgets, at: Self.bootSeconds())
    }

    private var keepingOpen: KeepOpenOptions { KeepOpenOptions(unless: interruption, budget: budget) }

    /// Does what is due: it locks the vault, and finishes a purge that was delayed.
    ///
    /// - Returns: When to call it next, in seconds since boot. Nil for never.
    func expireDue() -> Int64? {
        // If a request runs now, it locks an overdue vault itself when it ends.
        let next: Int64?? = withStateIfFree { state in
            expireIfDue(&state)
            finishPurge(&state)
            let end = state.ends.map { min($0.idle, $0.hard) }
            return [end, state.purge?.due].compactMap(\.self).min()
        }
        if let next { return next }
        interruptOverdue()
        return Self.bootSeconds() + 1
    }

    /// Asks a request that outlasts the vault's time to give up. The request locks the vault when it ends.
    private func interruptOverdue() {
        let isNew = summary.withLock { summary in
            guard let ends = summary.ends, Self.bootSeconds() >= min(ends.idle, ends.hard), !summary.isOverdue else {
                return false
            }
            summary.isOverdue = true
            return true
        }
        if isNew { interruption.begin() }
    }

    /// The status. It does not wait for a request, but then gives the state that was last noted.
    func status() -> AgentStatus.VaultStatus {
        withStateIfFree { state in
            expireIfDue(&state)
            // There may be another vault at the path now. A vault that these keys do not open must not be reported as open.
            if let loaded = state.loaded, !loaded.isStill(at: paths) {
                do throws(VaultError) { _ = try current(&state) } catch { _ = refusal(error, &state) }
            }
            // This also finishes a purge of another process, because a status report says whether purged bytes are left.
            state.loaded?.vault.finishPurge()
            return status(state.level, state.ends, at: Self.bootSeconds())
        } ?? summary.withLock { status($0.level, $0.ends, at: Self.bootSeconds()) }
    }

    private func status(
        _ level: AgentVaultState, _ ends: (idle: Int64, hard: Int64)?, at now: Int64
    ) -> AgentStatus.VaultStatus {
        AgentStatus.VaultStatus(
            paths: paths, state: level, idleLeft: ends.map { UInt32(clamping: $0.idle - now) } ?? 0,
            hardLeft: ends.map { UInt32(clamping: $0.hard - now) } ?? 0)
    }

    /// Takes the keys of the after-first-unlock levels from a ticket of this boot.
    ///
    /// - Returns: Whether there was one.
    func resume() -> Bool {
        withState { state in
            guard state.keys == nil, let file = try? paths.file(),
                let (keys, login) = tickets.keys(for: file), let loaded = try? load(keys)
            else { return false }
            state = VaultHandleState(
                loaded: loaded, keys: keys, login: login, lastUse: Self.bootSeconds(), purge: state.purge)
            return true
        }
    }

    func expireIfDue(_ state: inout VaultHandleState) {
        if let ends = state.ends, Self.bootSeconds() >= min(ends.idle, ends.hard) {
            state.lock(forgets: false, at: Self.bootSeconds())
        }
        let wasOverdue = summary.withLock { summary in
            defer { summary.isOverdue = false }
            return summary.isOverdue
        }
        if wasOverdue { interruption.end() }
    }

    /// Tries a delayed purge again. The pause doubles each time. It needs no key of the vault.
    private func finishPurge(_ state: inout VaultHandleState) {
        guard let (due, pause) = state.purge, due <= Self.bootSeconds() else { return }
        state.purge = nil
        do throws(VaultError) {
            guard try paths.file().finishPurge() == .pending else { return }
        } catch {
            guard error != .noVault else { return }
        }
        state.purge = (Self.bootSeconds() + pause, min(pause * 2, 600))
    }

    // MARK: - Requests

    func perform(_ request: consuming ItemRequest) -> AgentReply {
        let isForLockedToo = request.isForLockedToo
        // A closure cannot consume what it captured, but it can take it.
        var request: ItemRequest? = request
        return withState { state in
            expireIfDue(&state)
            guard state.keys != nil, state.isUnlocked || isForLockedToo, let request = request.take() else {
                return .locked(state.level)
            }
            // A thread waits to lock the vault.
            guard !interruption.isAsked else { return .locked(state.afterLock) }
            let isChange = request.isChange
            let reply: AgentReply
            do throws(VaultError) {
                let loaded = try current(&state)
                state.lastUse = Self.bootSeconds()
                publish(state)
                let answer = try loaded.vault.perform(request)
                if isChange { noteEdit(of: loaded) }
                if answer.leavesPurge { state.purge = (Self.bootSeconds() + 1, 2) }
                reply = .reply(answer)
            } catch {
                reply = refusal(error, &state)
            }
            expireIfDue(&state)
            return reply
        }
    }

    /// Returns the key for data that is remembered at `level`, while that level is open here.
    func rememberingKey(of level: ProtectionLevel) -> AgentReply {
        withState { state in
            expireIfDue(&state)
            guard state.keys != nil, state.isUnlocked || level.availability != .whenUnlocked else {
                return .locked(state.level)
            }
            guard !interruption.isAsked else { return .locked(state.afterLock) }
            do throws(VaultError) {
                // As for any use: the path must still name the vault of these keys.
                let loaded = try current(&state)
                guard let key = try loaded.vault.rememberingKey(of: level) else { return .locked(state.level) }
                state.lastUse = Self.bootSeconds()
                return .rememberingKey(key)
            } catch {
                return refusal(error, &state)
            }
        }
    }

    /// Lends the key of an identity to `body`, while its level is open here. This is no use of the vault.
    func withIdentity<R>(_ name: String, _ body: (IdentityKey) -> R?) throws(OnlineRefusal) -> R {
        let made = readWithoutUse { (vault) throws(VaultError) in try vault.identityKey(named: name).flatMap(body) }
        switch made {
        case .success(let made?): return made
        case .failure(.locked): throw .failed(.lockedClientKey)
        case .success, .failure: throw .failed(.unusableClientKey)
        }
    }

    /// Lends the open vault to `body`. This is no use of the vault.
    ///
    /// Attack: a job that refreshes a session again and again, or a program that asks for keys of SSH, keeps the vault open past
    /// its idle limit, while its user is away.
    func readWithoutUse<R>(_ body: (borrowing Vault) throws(VaultError) -> R) -> Result<R, VaultReadRefusal> {
        withState { state in
            expireIfDue(&state)
            guard state.keys != nil, !interruption.isAsked else { return .failure(.locked(state.level)) }
            do throws(VaultError) {
                let loaded = try current(&state)
                return .success(try body(loaded.vault))
            } catch {
                switch refusal(error, &state) {
                case .locked(let level): return .failure(.locked(level))
                default: return .failure(.failed(error))
                }
            }
        }
    }

    func refusal(_ error: VaultError, _ state: inout VaultHandleState) -> AgentReply {
        switch error {
        case .rekeyed:
            // The vault was rekeyed meanwhile. These keys open nothing any more, and neither does the ticket.
            if let vault = state.keys?.vault { tickets.remove(vault) }
            state = VaultHandleState(purge: state.purge)
            return .locked(.locked)
        // The item may be at a level that is locked now.
        case .noItem, .noField, .levelLocked: return state.isUnlocked ? .failure(error) : .locked(state.level)
        // The request gave up for a thread that locks the vault. Nothing was changed.
        case .storage(.busy) where interruption.isAsked: return .locked(state.afterLock)
        default: return .failure(error)
        }
    }

    /// The open vault. It is opened again if its file was replaced, or if the last lock closed it.
    func current(_ state: inout VaultHandleState) throws(VaultError) -> LoadedVault {
        if let loaded = state.loaded, loaded.isStill(at: paths) { return loaded }
        guard let keys = state.keys else { throw .rekeyed }
        state.loaded = nil
        let loaded: LoadedVault
        do throws(VaultError) { loaded = try load(keys) } catch {
            // There is another vault at this path now, which these keys do not open.
            throw error == .cannotUnlock ? .rekeyed : error
        }
        state.loaded = loaded
        return loaded
    }

    private func load(_ keys: ClassKeys) throws(VaultError) -> LoadedVault {
        try LoadedVault(paths) { () throws(VaultError) in try paths.file().open(with: keys, keepingOpen: keepingOpen) }
    }

    private static func bootSeconds() -> Int64 { OMAgentProtocol.bootMilliseconds() / 1000 }
}
