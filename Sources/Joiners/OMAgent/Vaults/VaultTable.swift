// The vaults that the agent serves.

internal import OMSystem
internal import OMVault
internal import Synchronization

/// The handles of all vaults. A vault has one handle until the agent ends, and ``AgentProtocol/maximumVaults`` have one.
final class VaultTable: Sendable {
    private let handles = Mutex<[VaultPaths: VaultHandle]>([:])
    /// How often somebody locked: a handle that was being resumed meanwhile is none of those that were locked.
    private let locks = Atomic<UInt64>(0)
    private let tickets: VaultTickets
    /// For the records that all vaults remember together.
    private let budget = MemoryBudget(bytes: AgentProcess.recordBytes())

    /// For tests: called after a ticket's keys were proven, while a lock cannot see their handle yet.
    private let onResumed: @Sendable () -> Void

    init(_ tickets: VaultTickets, onResumed: @escaping @Sendable () -> Void = {}) {
        (self.tickets, self.onResumed) = (tickets, onResumed)
    }

    var all: [VaultHandle] { handles.withLock { Array($0.values) } }

    subscript(_ paths: VaultPaths) -> VaultHandle? { handles.withLock { $0[paths] } }

    /// Locks one vault, or all with nil.
    func lock(_ paths: VaultPaths?, forgets: Bool) {
        // Attack, or accident: the vault was unlocked beside a device folder of another name, and whoever locks is told that
        // it is closed. The file alone says which vault is meant.
        lock(forgets: forgets) { paths == nil || $0.paths.vault == paths?.vault }
    }

    /// Locks and forgets every vault that this login opened, also one of which only a ticket is left.
    func lock(openedBy login: [UInt8]) {
        // Before, so that nobody has one resumed meanwhile, and after, since an unlock may have written one.
        tickets.remove(openedBy: login)
        defer { tickets.remove(openedBy: login) }
        lock(forgets: true) { $0.login == login }
    }

    private func lock(forgets: Bool, _ isMeant: (VaultHandle) -> Bool) {
        locks.add(1, ordering: .sequentiallyConsistent)
        let locked = all.filter(isMeant)
        // All are asked before the first is waited for: one that a hung disk holds up keeps no other one open for long.
        for handle in locked { handle.interruption.begin() }
        defer { for handle in locked { handle.interruption.end() } }
        var waiting: [VaultHandle] = []
        for handle in locked where !handle.lockIfFree(forgets: forgets) { waiting.append(handle) }
        for handle in waiting { handle.lock(forgets: forgets) }
    }

    /// The handle of a vault, or one for which a ticket of this boot is left.
    func handle(at paths: VaultPaths) -> VaultHandle? { self[paths] ?? resumed(paths) }

    /// - Returns: false when every handle is taken.
    func unlock(
        _ paths: VaultPaths, _ keys: ClassKeys, openedBy login: [UInt8]?, idle: Int64, hard: Int64
    ) throws(VaultError) -> Bool {
        while true {
            if let handle = self[paths] {
                try handle.unlock(keys, openedBy: login, idle: idle, hard: hard)
                handle.renewTicket()
                return true
            }
            // The keys are proven before they get a handle.
            let handle = VaultHandle(paths, tickets, budget)
            try handle.unlock(keys, openedBy: login, idle: idle, hard: hard)
            switch add(handle) {
            case .added:
                handle.renewTicket()
                return true
            case .full: return false
            case .another: continue
            }
        }
    }

    /// A handle for a vault of which a ticket of this boot is left.
    private func resumed(_ paths: VaultPaths) -> VaultHandle? {
        let before = locks.load(ordering: .sequentiallyConsistent)
        guard !tickets.vaults.isEmpty else { return nil }
        let handle = VaultHandle(paths, tickets, budget)
        guard handle.resume() else { return nil }
        onResumed()
        switch add(handle, unlessLockedSince: before) {
        case .added: return handle
        case .another, .full: return self[paths]
        }
    }

    private enum AddResult { case added, another, full }

    /// Gives a handle whose keys are proven its place.
    ///
    /// - Parameter before: attack: have a ticket read while its vault is locked. The handle is not seen by who locks, so it is
    ///   not to come after it.
    private func add(_ handle: VaultHandle, unlessLockedSince before: UInt64? = nil) -> AddResult {
        handles.withLock { handles in
            if let before, locks.load(ordering: .sequentiallyConsistent) != before { return .another }
            guard handles[handle.paths] == nil else { return .another }
            guard handles.count < AgentProtocol.maximumVaults else { return .full }
            handles[handle.paths] = handle
            return .added
        }
    }
}
