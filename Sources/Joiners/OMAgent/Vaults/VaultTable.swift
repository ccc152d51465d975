// The vaults that the agent serves.

internal import OMAgentProtocol
internal import OMItems
internal import OMSystem
internal import OMVault
internal import Synchronization

/// The handles of all vaults. At most ``AgentProtocol/maximumVaults`` vaults have one; each keeps it until the agent ends.
final class VaultTable: Sendable {
    private let handles = Mutex<[VaultPaths: VaultHandle]>([:])
    /// Counts the locks, so that a resume notices a lock that came meanwhile.
    private let lockCount = Atomic<UInt64>(0)
    private let tickets: VaultTickets
    /// Locked memory that the record caches of all vaults share.
    private let budget = MemoryBudget(bytes: AgentProcess.recordBytes())
    private let background: AgentSync?

    /// For tests: called after a ticket's keys were proven, before their handle is in the table.
    private let beforeAdding: @Sendable () -> Void

    init(
        _ tickets: VaultTickets, _ background: AgentSync? = nil, beforeAdding: @escaping @Sendable () -> Void = {}
    ) {
        (self.tickets, self.background, self.beforeAdding) = (tickets, background, beforeAdding)
    }

    var all: [VaultHandle] { handles.withLock { Array($0.values) } }

    subscript(_ paths: VaultPaths) -> VaultHandle? { handles.withLock { $0[paths] } }

    /// Locks one vault, or all if `paths` is nil.
    ///
    /// - Parameter forgets: Whether to wipe the keys of the after-first-unlock levels too, and delete the ticket.
    func lock(_ paths: VaultPaths?, forgets: Bool) {
        // Only the file is compared. Otherwise a vault that was unlocked with another device folder would stay open after a
        // lock that reported success.
        lock(forgets: forgets) { paths == nil || $0.paths.vault == paths?.vault }
    }

    /// Locks and forgets every vault that this login opened, also if only a ticket of it is left.
    func lock(openedBy login: [UInt8]) {
        // Tickets are removed before, so that none is resumed meanwhile. They are removed after too, because an unlock
        // may have written one.
        tickets.remove(openedBy: login)
        defer { tickets.remove(openedBy: login) }
        lock(forgets: true) { $0.login == login }
    }

    private func lock(forgets: Bool, _ isMeant: (VaultHandle) -> Bool) {
        lockCount.add(1, ordering: .sequentiallyConsistent)
        let locked = all.filter(isMeant)
        // Ask every handle's request to give up before the first wait. A hung disk under one vault must not keep
        // the others open.
        for handle in locked { handle.interruption.begin() }
        defer { for handle in locked { handle.interruption.end() } }
        var waiting: [VaultHandle] = []
        for handle in locked where !handle.lockIfFree(forgets: forgets) { waiting.append(handle) }
        for handle in waiting { handle.lock(forgets: forgets) }
        for handle in locked { handle.flight?.awaitRelease() }
    }

    /// Ends all exchanges with remotes, and starts no other one. Does not wait.
    func endFlights() { for handle in all { handle.flight?.end() } }

    /// The handle of a vault. If it has none, its ticket of this boot is resumed.
    func handleOrResume(at paths: VaultPaths) -> VaultHandle? { self[paths] ?? resumed(paths) }

    /// - Parameters idle, hard: The limits in seconds.
    /// - Returns: The vault's status. Nil if the agent already has as many vaults as it can keep.
    func unlock(
        _ paths: VaultPaths, _ keys: ClassKeys, openedBy login: [UInt8]?, idle: Int64, hard: Int64
    ) throws(VaultError) -> AgentStatus.VaultStatus? {
        while true {
            if let handle = self[paths] {
                let status = try handle.unlock(keys, openedBy: login, idle: idle, hard: hard)
                handle.renewTicket()
                return status
            }
            // The keys are proven before the handle gets a place in the table.
            let handle = VaultHandle(paths, tickets, budget, background: background)
            let status = try handle.unlock(keys, openedBy: login, idle: idle, hard: hard)
            switch add(handle) {
            case .added:
                handle.flight?.list()
                handle.renewTicket()
                return status
            case .full: return nil
            case .taken: continue
            }
        }
    }

    /// A handle for a vault of which only a ticket of this boot is left.
    private func resumed(_ paths: VaultPaths) -> VaultHandle? {
        let before = lockCount.load(ordering: .sequentiallyConsistent)
        guard !tickets.vaults.isEmpty else { return nil }
        let handle = VaultHandle(paths, tickets, budget, background: background)
        guard handle.resume() else { return nil }
        beforeAdding()
        switch add(handle, unlessLockedSince: before) {
        case .added:
            handle.flight?.list()
            return handle
        case .taken, .full: return self[paths]
        }
    }

    /// `taken`: the vault has another handle already, or was locked meanwhile.
    private enum AddResult { case added, taken, full }

    /// Puts a handle whose keys are proven into the table.
    ///
    /// - Parameter before: The lock count before the ticket was read. If a lock came since, the handle is not added, because
    ///   that lock could not see it. Attack: an attacker makes the agent read a ticket while its vault is being locked.
    private func add(_ handle: VaultHandle, unlessLockedSince before: UInt64? = nil) -> AddResult {
        handles.withLock { handles in
            if let before, lockCount.load(ordering: .sequentiallyConsistent) != before { return .taken }
            guard handles[handle.paths] == nil else { return .taken }
            guard handles.count < AgentProtocol.maximumVaults else { return .full }
            handles[handle.paths] = handle
            return .added
        }
    }
}
