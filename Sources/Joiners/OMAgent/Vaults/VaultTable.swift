// The vaults that the agent serves.

internal import OMSystem
internal import OMVault
internal import Synchronization

/// The handles of all vaults. At most ``AgentProtocol/maximumVaults`` vaults have one; each keeps it until the agent ends.
final class VaultTable: Sendable {
    private let handles = Mutex<[VaultPaths: VaultHandle]>([:])
    /// Counts the locks, so that a resume notices one that came meanwhile.
    private let lockCount = Atomic<UInt64>(0)
    private let tickets: VaultTickets
    /// Locked memory that the record caches of all vaults share.
    private let budget = MemoryBudget(bytes: AgentProcess.recordBytes())

    /// For tests: called after a ticket's keys were proven, before their handle is in the table.
    private let beforeAdding: @Sendable () -> Void

    init(_ tickets: VaultTickets, beforeAdding: @escaping @Sendable () -> Void = {}) {
        (self.tickets, self.beforeAdding) = (tickets, beforeAdding)
    }

    var all: [VaultHandle] { handles.withLock { Array($0.values) } }

    subscript(_ paths: VaultPaths) -> VaultHandle? { handles.withLock { $0[paths] } }

    /// Locks one vault, or all with nil.
    ///
    /// - Parameter forgets: also wipe the keys of the after-first-unlock levels, and delete the ticket.
    func lock(_ paths: VaultPaths?, forgets: Bool) {
        // Only the file is compared. Otherwise a vault that was unlocked with another device folder would stay open after a
        // lock that reported success.
        lock(forgets: forgets) { paths == nil || $0.paths.vault == paths?.vault }
    }

    /// Locks and forgets every vault that this login opened, also one of which only a ticket is left.
    func lock(openedBy login: [UInt8]) {
        // Tickets are removed before, so that none is resumed meanwhile; and after, because an unlock may have written one.
        tickets.remove(openedBy: login)
        defer { tickets.remove(openedBy: login) }
        lock(forgets: true) { $0.login == login }
    }

    private func lock(forgets: Bool, _ isMeant: (VaultHandle) -> Bool) {
        lockCount.add(1, ordering: .sequentiallyConsistent)
        let locked = all.filter(isMeant)
        // Tell every handle to give up its request before waiting for the first: a hung disk under one must not keep the
        // others open.
        for handle in locked { handle.interruption.begin() }
        defer { for handle in locked { handle.interruption.end() } }
        var waiting: [VaultHandle] = []
        for handle in locked where !handle.lockIfFree(forgets: forgets) { waiting.append(handle) }
        for handle in waiting { handle.lock(forgets: forgets) }
    }

    /// The handle of a vault. If it has none, its ticket of this boot is resumed.
    func handleOrResume(at paths: VaultPaths) -> VaultHandle? { self[paths] ?? resumed(paths) }

    /// - Parameters idle, hard: the limits in seconds; 0 for none.
    /// - Returns: false when as many vaults are open as the agent keeps.
    func unlock(
        _ paths: VaultPaths, _ keys: ClassKeys, openedBy login: [UInt8]?, idle: Int64, hard: Int64
    ) throws(VaultError) -> Bool {
        while true {
            if let handle = self[paths] {
                try handle.unlock(keys, openedBy: login, idle: idle, hard: hard)
                handle.renewTicket()
                return true
            }
            // The keys are proven before the handle gets a place in the table.
            let handle = VaultHandle(paths, tickets, budget)
            try handle.unlock(keys, openedBy: login, idle: idle, hard: hard)
            switch add(handle) {
            case .added:
                handle.renewTicket()
                return true
            case .full: return false
            case .taken: continue
            }
        }
    }

    /// A handle for a vault of which a ticket of this boot is left.
    private func resumed(_ paths: VaultPaths) -> VaultHandle? {
        let before = lockCount.load(ordering: .sequentiallyConsistent)
        guard !tickets.vaults.isEmpty else { return nil }
        let handle = VaultHandle(paths, tickets, budget)
        guard handle.resume() else { return nil }
        beforeAdding()
        switch add(handle, unlessLockedSince: before) {
        case .added: return handle
        case .taken, .full: return self[paths]
        }
    }

    /// `taken`: the vault has another handle by now, or was locked meanwhile.
    private enum AddResult { case added, taken, full }

    /// Puts a handle whose keys are proven into the table.
    ///
    /// - Parameter before: the lock count before the ticket was read. If somebody locked since, the handle is not added: that
    ///   lock could not see it. Attack: have a ticket read while its vault is locked.
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
