// One vault in the agent: its keys, when they go, and the open file. Here the levels are enforced: what a handle does not
// hold, nobody gets from it.

internal import Glibc
internal import OMRecords
internal import OMSystem
internal import OMVault
internal import Synchronization

/// A vault that was unlocked at least once. One request at a time works on it.
final class VaultHandle: Sendable {
    let paths: VaultPaths
    private let tickets: VaultTickets
    private let budget: MemoryBudget
    private let state: Guarded<VaultHandleState>
    /// What can be said of it while a request works on it.
    private let summary = Mutex(VaultHandleSummary())
    /// Asked while somebody waits to lock it.
    let interruption = Interruption()

    init(_ paths: VaultPaths, _ tickets: VaultTickets, _ budget: MemoryBudget) {
        (self.paths, self.tickets, self.budget) = (paths, tickets, budget)
        state = Guarded(VaultHandleState())
    }

    /// Runs `body` on the state, and notes what can be said of it for those who do not wait.
    private func withState<R: ~Copyable, E: Error>(_ body: (inout VaultHandleState) throws(E) -> R) throws(E) -> R {
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
    }

    /// The login that opened it, as it was before a request that works on it now.
    var login: [UInt8]? { summary.withLock { $0.login } }

    // MARK: - Unlocking and locking

    /// Takes the keys if they open the vault; those that were there before stay otherwise.
    ///
    /// - Parameters:
    ///   - login: whose slot opened it; nil for any other slot.
    ///   - idle: seconds without use until it locks.
    ///   - hard: seconds until it locks in any case.
    func unlock(_ keys: ClassKeys, openedBy login: [UInt8]?, idle: Int64, hard: Int64) throws(VaultError) {
        try withState { state throws(VaultError) in
            let loaded = try load(keys)
            let now = Self.bootSeconds()
            state = VaultHandleState(
                loaded: loaded, keys: keys, login: login, isUnlocked: true, idle: idle, lastUse: now, end: now + hard,
                purge: state.purge)
        }
    }

    /// Writes the ticket that the vault's policy allows. To be called when the handle is in the table: if the agent is full, the
    /// ticket that is there must stay untouched.
    func renewTicket() {
        withState { state in
            guard let keys = state.keys, let file = try? paths.file(), file.id == keys.vault else { return }
            tickets.renew(for: file, keys.afterLock, openedBy: state.login)
        }
    }

    /// Wipes the keys of when-unlocked; with `forgets` the others and the ticket too. At once: a request that waits for
    /// another process gives up, and is answered that the vault is locked.
    func lock(forgets: Bool) {
        interruption.begin()
        defer { interruption.end() }
        withState { state in lock(&state, forgets) }
    }

    /// - Returns: false while a request works on it, which has been asked to give up.
    func lockIfFree(forgets: Bool) -> Bool { withStateIfFree { state in lock(&state, forgets) } != nil }

    private func lock(_ state: inout VaultHandleState, _ forgets: Bool) {
        if forgets, let vault = state.keys?.vault { tickets.remove(vault) }
        state.lock(forgets: forgets, at: Self.bootSeconds())
    }

    private var keepingOpen: KeepOpenOptions { KeepOpenOptions(unless: interruption, budget: budget) }

    /// Does what is due: locks, and finishes a purge that was held up.
    ///
    /// - Returns: when there is something to do next, in seconds since boot; nil for never.
    func expireDue() -> Int64? {
        // A request that runs now locks an overdue vault itself when it ends.
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

    /// Has a request that outlasts the vault's time give up; it locks the vault when it ends.
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

    /// It waits for no request: what is told then is what that one found.
    func status() -> AgentStatus.VaultStatus {
        withStateIfFree { state in
            expireIfDue(&state)
            // Another vault may stand at the path by now: what its keys do not open is not said to be open.
            if let loaded = state.loaded, !loaded.isStill(at: paths) {
                do throws(VaultError) { _ = try current(&state) } catch { _ = refusal(error, &state) }
            }
            // Of another process too: who asks how things stand is told of what is left.
            state.loaded?.vault.finishPurge()
            return status(state.level, state.ends)
        } ?? summary.withLock { status($0.level, $0.ends) }
    }

    private func status(_ level: AgentVaultState, _ ends: (idle: Int64, hard: Int64)?) -> AgentStatus.VaultStatus {
        let now = Self.bootSeconds()
        return AgentStatus.VaultStatus(
            paths: paths, state: level, idleLeft: ends.map { UInt32(clamping: $0.idle - now) } ?? 0,
            hardLeft: ends.map { UInt32(clamping: $0.hard - now) } ?? 0)
    }

    /// Takes the keys of after-first-unlock from a ticket of this boot.
    ///
    /// - Returns: whether there was one.
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

    private func expireIfDue(_ state: inout VaultHandleState) {
        if let ends = state.ends, Self.bootSeconds() >= min(ends.idle, ends.hard) {
            state.lock(forgets: false, at: Self.bootSeconds())
        }
        let wasOverdue = summary.withLock { summary in
            defer { summary.isOverdue = false }
            return summary.isOverdue
        }
        if wasOverdue { interruption.end() }
    }

    /// Tries a purge again that a reader held up; waits twice as long each time. It needs no key of the vault's.
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
            // Somebody waits to lock it.
            guard !interruption.isAsked else { return .locked(state.afterLock) }
            let reply: AgentReply
            do throws(VaultError) {
                let loaded = try current(&state)
                state.lastUse = Self.bootSeconds()
                publish(state)
                let answer = try loaded.vault.perform(request)
                if answer.leavesPurge { state.purge = (Self.bootSeconds() + 1, 2) }
                reply = .reply(answer)
            } catch {
                reply = refusal(error, &state)
            }
            expireIfDue(&state)
            return reply
        }
    }

    /// Lends the key for what is remembered at `level`, while that level is open here.
    func rememberingKey(of level: ProtectionLevel) -> AgentReply {
        withState { state in
            expireIfDue(&state)
            guard state.keys != nil, state.isUnlocked || level.availability != .whenUnlocked else {
                return .locked(state.level)
            }
            guard !interruption.isAsked else { return .locked(state.afterLock) }
            do throws(VaultError) {
                // As for any use: the vault of these keys still stands at its place.
                let loaded = try current(&state)
                guard let key = try loaded.vault.rememberingKey(of: level) else { return .locked(state.level) }
                state.lastUse = Self.bootSeconds()
                return .rememberingKey(key)
            } catch {
                return refusal(error, &state)
            }
        }
    }

    private func refusal(_ error: VaultError, _ state: inout VaultHandleState) -> AgentReply {
        switch error {
        case .rekeyed:
            // Rekeyed meanwhile: these keys open nothing any more, nor does the ticket.
            if let vault = state.keys?.vault { tickets.remove(vault) }
            state = VaultHandleState(purge: state.purge)
            return .locked(.locked)
        // It may stand under a level that is locked now.
        case .noItem, .noField, .levelLocked: return state.isUnlocked ? .failure(error) : .locked(state.level)
        // It gave up for one who locks the vault; nothing was changed.
        case .storage(.busy) where interruption.isAsked: return .locked(state.afterLock)
        default: return .failure(error)
        }
    }

    /// The open vault; opened anew when its file was replaced, or when the last lock closed it.
    private func current(_ state: inout VaultHandleState) throws(VaultError) -> LoadedVault {
        if let loaded = state.loaded, loaded.isStill(at: paths) { return loaded }
        guard let keys = state.keys else { throw .rekeyed }
        state.loaded = nil
        let loaded: LoadedVault
        do throws(VaultError) { loaded = try load(keys) } catch {
            // Another vault stands at this path now, which these keys do not open.
            throw error == .cannotUnlock ? .rekeyed : error
        }
        state.loaded = loaded
        return loaded
    }

    private func load(_ keys: ClassKeys) throws(VaultError) -> LoadedVault {
        try LoadedVault(paths) { () throws(VaultError) in try paths.file().open(with: keys, keepingOpen: keepingOpen) }
    }

    private static func bootSeconds() -> Int64 { OMAgent.bootMilliseconds() / 1000 }
}
