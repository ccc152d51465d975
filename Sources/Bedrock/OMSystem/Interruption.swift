// A wait that somebody else can end: whoever locks a vault must not wait until a request got another process's lock.

internal import Synchronization

/// Asks those who wait, or read at length, to give up what they have not begun to write. Shared between threads.
package final class Interruption: Sendable {
    private let asking = Atomic<Int>(0)

    package init() {}

    package var isAsked: Bool { asking.load(ordering: .relaxed) > 0 }

    /// Asks until ``end()``, once for each call.
    package func begin() { asking.add(1, ordering: .relaxed) }
    package func end() { asking.subtract(1, ordering: .relaxed) }
}
