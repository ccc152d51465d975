#if Server
// Memory that the large bodies of all requests share, and that of all answers.

internal import Synchronization

final class BodyMemory: Sendable {
    static let most = 256 << 20

    private let reserved = Mutex(0)

    /// - Returns: nil if all bodies together would take too much memory.
    func reserve(_ count: Int) -> BodyReservation? {
        let fits = reserved.withLock { reserved in
            guard reserved + count <= Self.most else { return false }
            reserved += count
            return true
        }
        return fits ? BodyReservation(count, self) : nil
    }

    fileprivate func giveBack(_ count: Int) { reserved.withLock { $0 -= count } }
}

/// The memory of one body, until nothing refers to this any more.
final class BodyReservation: Sendable {
    private let count: Int
    private let memory: BodyMemory

    fileprivate init(_ count: Int, _ memory: BodyMemory) { (self.count, self.memory) = (count, memory) }

    deinit { memory.giveBack(count) }
}
#endif
