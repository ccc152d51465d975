// The budget of locked memory. Locked memory is scarce, and all open vaults of a process share it.

internal import Synchronization

/// How many bytes of locked memory the opened records can use, in all vaults that stay open together.
package final class MemoryBudget: Sendable {
    private let left: Atomic<Int>

    package init(bytes: Int) { left = Atomic(bytes) }

    func reserve(_ count: Int) -> Bool {
        guard left.subtract(count, ordering: .relaxed).newValue < 0 else { return true }
        release(count)
        return false
    }

    func release(_ count: Int) { left.add(count, ordering: .relaxed) }
}
