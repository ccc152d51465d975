// Locked memory is little, and all open vaults of a process share it.

public import OMSystem
internal import Synchronization

/// How many bytes of locked memory opened records may take, in all vaults that stay open together.
public final class RecordRoom: Sendable {
    private let left: Atomic<Int>

    public init(bytes: Int) { left = Atomic(bytes) }

    func take(_ count: Int) -> Bool {
        guard left.subtract(count, ordering: .relaxed).newValue < 0 else { return true }
        give(count)
        return false
    }

    func give(_ count: Int) { left.add(count, ordering: .relaxed) }
}

/// What is agreed with a vault that stays open.
public struct StayingOpen: Sendable {
    let interruption: Interruption
    let room: RecordRoom

    /// - Parameters:
    ///   - interruption: asked, it ends a wait for other processes and a long reading: ``VaultError/storage(_:)`` with
    ///     ``StorageError/busy``, and nothing was changed.
    ///   - room: for the records that it remembers.
    public init(unless interruption: Interruption, room: RecordRoom) {
        (self.interruption, self.room) = (interruption, room)
    }
}
