// The vaults that the agent serves.

internal import OMSystem
internal import OMVault
internal import Synchronization

/// The seats of all vaults. A vault has one seat until the agent ends, and ``AgentProtocol/maximumVaults`` have one.
final class VaultSeats: Sendable {
    private let seats = Mutex<[AgentPlace: VaultSeat]>([:])
    /// How often somebody locked: a seat that was being resumed meanwhile is none of those that were locked.
    private let locks = Atomic<UInt64>(0)
    private let tickets: Tickets
    /// For the records that all vaults remember together.
    private let room = RecordRoom(bytes: AgentProcess.recordBytes())

    /// For tests: called after a ticket's keys were proven, while a lock cannot see their seat yet.
    private let onResumed: @Sendable () -> Void

    init(_ tickets: Tickets, onResumed: @escaping @Sendable () -> Void = {}) {
        (self.tickets, self.onResumed) = (tickets, onResumed)
    }

    var all: [VaultSeat] { seats.withLock { Array($0.values) } }

    subscript(_ place: AgentPlace) -> VaultSeat? { seats.withLock { $0[place] } }

    /// Locks one vault, or all with nil.
    func lock(_ place: AgentPlace?, forgets: Bool) {
        // Attack, or accident: the vault was unlocked beside a device folder of another name, and whoever locks is told that
        // it is closed. The file alone says which vault is meant.
        lock(forgets: forgets) { place == nil || $0.place.vault == place?.vault }
    }

    /// Locks and forgets every vault that this login opened, also one of which only a ticket is left.
    func lock(openedBy login: [UInt8]) {
        // Before, so that nobody has one resumed meanwhile, and after, since an unlock may have written one.
        tickets.remove(openedBy: login)
        defer { tickets.remove(openedBy: login) }
        lock(forgets: true) { $0.login == login }
    }

    private func lock(forgets: Bool, _ isMeant: (VaultSeat) -> Bool) {
        locks.add(1, ordering: .sequentiallyConsistent)
        let locked = all.filter(isMeant)
        // All are asked before the first is waited for: one that a hung disk holds up keeps no other one open for long.
        for seat in locked { seat.interruption.begin() }
        defer { for seat in locked { seat.interruption.end() } }
        var waiting: [VaultSeat] = []
        for seat in locked where !seat.lockIfFree(forgets: forgets) { waiting.append(seat) }
        for seat in waiting { seat.lock(forgets: forgets) }
    }

    /// The seat of a vault, or one for which a ticket of this boot is left.
    func seat(at place: AgentPlace) -> VaultSeat? { self[place] ?? resumed(place) }

    /// - Returns: false when every seat is taken.
    func unlock(
        _ place: AgentPlace, _ keys: ClassKeys, openedBy login: [UInt8]?, idle: Int64, hard: Int64
    ) throws(VaultError) -> Bool {
        while true {
            if let seat = self[place] {
                try seat.unlock(keys, openedBy: login, idle: idle, hard: hard)
                seat.renewTicket()
                return true
            }
            // The keys are proven before they get a seat.
            let seat = VaultSeat(place, tickets, room)
            try seat.unlock(keys, openedBy: login, idle: idle, hard: hard)
            switch keep(seat) {
            case .kept:
                seat.renewTicket()
                return true
            case .full: return false
            case .another: continue
            }
        }
    }

    /// A seat for a vault of which a ticket of this boot is left.
    private func resumed(_ place: AgentPlace) -> VaultSeat? {
        let before = locks.load(ordering: .sequentiallyConsistent)
        guard !tickets.vaults.isEmpty else { return nil }
        let seat = VaultSeat(place, tickets, room)
        guard seat.resume() else { return nil }
        onResumed()
        switch keep(seat, unlessLockedSince: before) {
        case .kept: return seat
        case .another, .full: return self[place]
        }
    }

    private enum Kept { case kept, another, full }

    /// Gives a seat whose keys are proven its place.
    ///
    /// - Parameter before: attack: have a ticket read while its vault is locked. The seat is not seen by who locks, so it is
    ///   not to come after it.
    private func keep(_ seat: VaultSeat, unlessLockedSince before: UInt64? = nil) -> Kept {
        seats.withLock { seats in
            if let before, locks.load(ordering: .sequentiallyConsistent) != before { return .another }
            guard seats[seat.place] == nil else { return .another }
            guard seats.count < AgentProtocol.maximumVaults else { return .full }
            seats[seat.place] = seat
            return .kept
        }
    }
}
