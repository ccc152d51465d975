// A wait that another thread can end. A thread that locks a vault must not wait while a request waits for another
// process's lock.

internal import Synchronization

/// Asks waits and long reads to give up. A write that has begun is finished. Threads share this value.
public final class Interruption: Sendable {
    private let asking = Atomic<Int>(0)

    public init() {}

    public var isAsked: Bool { asking.load(ordering: .relaxed) > 0 }

    /// Asks until ``end()``. Each call needs its own ``end()``.
    public func begin() { asking.add(1, ordering: .relaxed) }
    public func end() { asking.subtract(1, ordering: .relaxed) }
}
