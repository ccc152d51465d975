// One vault in the agent: its keys, when they go, and the open file. Here the levels are enforced: what a seat does not
// hold, nobody gets from it.

internal import Glibc
internal import OMRecords
internal import OMStorage
internal import OMVault

/// A vault that was unlocked at least once. One request at a time works on it.
final class VaultSeat: Sendable {
    let place: AgentPlace
    private let tickets: Tickets
    private let state: Guarded<State>

    private struct State {
        var held: HeldVault?
        var keys: ClassKeys?
        var isUnlocked = false
        /// Seconds, and points on the boot clock in seconds.
        var idle: Int64 = 0
        var lastUse: Int64 = 0
        var end: Int64 = 0

        var level: AgentVaultState { keys == nil ? .locked : isUnlocked ? .unlocked : .firstUnlocked }
    }

    init(_ place: AgentPlace, _ tickets: Tickets) {
        (self.place, self.tickets) = (place, tickets)
        state = Guarded(State())
    }

    // MARK: - Unlocking and locking

    /// Takes the keys if they open the vault; those that were there before stay otherwise.
    ///
    /// - Parameters:
    ///   - idle: seconds without use until it locks.
    ///   - hard: seconds until it locks in any case.
    func unlock(_ keys: ClassKeys, idle: Int64, hard: Int64) throws(VaultError) {
        try state.withLock { state throws(VaultError) in
            let file = try Self.file(place)
            let held = HeldVault(try file.open(with: keys), place)
            tickets.renew(for: file, keys.afterLock)
            let now = Self.now()
            state = State(held: held, keys: keys, isUnlocked: true, idle: idle, lastUse: now, end: now + hard)
        }
    }

    /// Wipes the keys of when-unlocked; with `forgets` the others and the ticket too.
    func lock(forgets: Bool) {
        state.withLock { state in
            if forgets, let vault = state.keys?.vault { tickets.remove(vault) }
            lock(&state, forgets: forgets)
        }
    }

    /// Locks when its time has come.
    ///
    /// - Returns: when it comes next, in seconds since boot; nil when it is locked.
    func judge() -> Int64? {
        // A request that runs now is followed by a judgement of its own.
        state.withLockIfFree { state in
            judge(&state)
            let owes = finishPurge(&state)
            guard state.isUnlocked else { return owes ? Self.now() + 1 : nil }
            return min(state.lastUse + state.idle, state.end, owes ? Self.now() + 1 : .max)
        } ?? Self.now() + 1
    }

    func status() -> AgentStatus.Vault {
        state.withLock { state in
            judge(&state)
            // Another vault may stand at the path by now: what its keys do not open is not said to be open.
            if let held = state.held, !held.isStill(at: place) {
                do throws(VaultError) { _ = try current(&state) } catch { _ = refusal(error, &state) }
            }
            // Of another process too: who asks how things stand is told of what is left.
            state.held?.vault.finishPurge()
            let now = Self.now()
            func left(_ end: Int64) -> UInt32 { state.isUnlocked ? UInt32(clamping: end - now) : 0 }
            return AgentStatus.Vault(
                place: place, state: state.level, idleLeft: left(state.lastUse + state.idle), hardLeft: left(state.end))
        }
    }

    /// Takes the keys of after-first-unlock from a ticket of this boot, if there is one.
    func resume() {
        state.withLock { state in
            guard state.keys == nil, let file = try? Self.file(place), let keys = tickets.keys(for: file),
                let vault = try? file.open(with: keys)
            else { return }
            state = State(held: HeldVault(vault, place), keys: keys)
        }
    }

    private func judge(_ state: inout State) {
        let now = Self.now()
        guard state.isUnlocked, now >= min(state.lastUse + state.idle, state.end) else { return }
        lock(&state, forgets: false)
    }

    /// Finishes a purge that somebody's reading held up; the agent keeps the vault open, so no open would.
    ///
    /// - Returns: whether it has to be tried again.
    private func finishPurge(_ state: inout State) -> Bool {
        guard let held = state.held, held.vault.owesPurge else { return false }
        held.vault.finishPurge()
        return held.vault.owesPurge
    }

    private func lock(_ state: inout State, forgets: Bool) {
        let rest = forgets ? nil : state.keys?.afterLock
        // The open vault holds keys of its own; a new one is opened with what is left of them.
        state = State()
        guard let rest, !rest.levels.isEmpty else { return }
        state.keys = rest
    }

    // MARK: - Requests

    func perform(_ request: consuming ItemRequest) -> AgentReply {
        let isForLockedToo = request.isForLockedToo
        // A closure cannot consume what it captured, but it can take it.
        var request: ItemRequest? = request
        return state.withLock { state in
            judge(&state)
            guard state.keys != nil, state.isUnlocked || isForLockedToo, let request = request.take() else {
                return .locked(state.level)
            }
            let reply: AgentReply
            do throws(VaultError) {
                let held = try current(&state)
                state.lastUse = Self.now()
                reply = .reply(try held.vault.perform(request))
            } catch {
                reply = refusal(error, &state)
            }
            judge(&state)
            return reply
        }
    }

    private func refusal(_ error: VaultError, _ state: inout State) -> AgentReply {
        switch error {
        case .rekeyed:
            // Rekeyed meanwhile: these keys open nothing any more, nor does the ticket.
            if let vault = state.keys?.vault { tickets.remove(vault) }
            state = State()
            return .locked(.locked)
        // It may stand under a level that is locked now.
        case .noItem, .noField, .levelLocked: return state.isUnlocked ? .failure(error) : .locked(state.level)
        default: return .failure(error)
        }
    }

    /// The open vault; opened anew when its file was replaced, or when the last lock closed it.
    private func current(_ state: inout State) throws(VaultError) -> HeldVault {
        if let held = state.held, held.isStill(at: place) { return held }
        guard let keys = state.keys else { throw .rekeyed }
        state.held = nil
        let held: HeldVault
        do throws(VaultError) { held = HeldVault(try Self.file(place).open(with: keys), place) } catch {
            // Another vault stands at this path now, which these keys do not open.
            throw error == .cannotUnlock ? .rekeyed : error
        }
        state.held = held
        return held
    }

    private static func file(_ place: AgentPlace) throws(VaultError) -> VaultFile {
        let device: DeviceFolder?
        do throws(StorageError) { device = place.device.isEmpty ? nil : try DeviceFolder(place.device) } catch {
            throw VaultError(storage: error)
        }
        return try VaultFile.open(place.vault, device: device)
    }

    private static func now() -> Int64 { OMAgent.now() / 1000 }
}

/// An open vault and the very file that it was opened from.
private final class HeldVault {
    let vault: Vault
    private let file: stat?

    init(_ vault: consuming Vault, _ place: AgentPlace) {
        self.vault = vault
        file = Self.inspect(place)
    }

    /// Attack: an agent that reads on from a deleted file does not see what replaced it.
    func isStill(at place: AgentPlace) -> Bool {
        guard let file, let named = Self.inspect(place) else { return false }
        return file.st_dev == named.st_dev && file.st_ino == named.st_ino
    }

    private static func inspect(_ place: AgentPlace) -> stat? {
        var status = stat()
        return lstat(place.vault, &status) == 0 ? status : nil
    }
}
