// A wait that another thread can end. A thread that locks a vault must not wait while a request waits for another
// process's lock.

internal import Synchronization

/// Asks waits and long reads to give up. A write that has begun is finished. Threads share this value.
package final class Interruption: Sendable {
    private let asking = Atomic<Int>(0)

    package init() {}

    package var isAsked: Bool { asking.load(ordering: .relaxed) > 0 }

    /// Asks until ``end()``. Each call needs its own ``end()``.
    package func begin() { asking.add(1, ordering: .relaxed) }
    package func end() { asking.subtract(1, ordering: .relaxed) }
}
