#if Server
// Memory that the large bodies of all requests share, and that of all answers.

internal import OMServer
internal import Synchronization

final class BodyMemory: Sendable {
    static let most = 256 << 20
    /// Attack: one client asks for large files and reads none of them, so that all others get 503. So half of the memory is left
    /// for other networks.
    static let mostOfNetwork = most / 2

    private let reserved = Mutex<[String: Int]>([:])

    /// - Parameter client: The client's address.
    /// - Returns: nil if all bodies together would take too much memory, or those of the client's network.
    func reserve(_ count: Int, for client: String) -> BodyReservation? {
        let network = ClientNetwork.of(client)
        let fits =
            count == 0
            || reserved.withLock { reserved in
                let own = reserved[network, default: 0] + count
                guard own <= Self.mostOfNetwork, reserved.values.reduce(count, +) <= Self.most else { return false }
                reserved[network] = own
                return true
            }
        return fits ? BodyReservation(count, of: network, self) : nil
    }

    fileprivate func giveBack(_ count: Int, of network: String) {
        guard count > 0 else { return }
        reserved.withLock { reserved in
            let left = reserved[network, default: 0] - count
            reserved[network] = left > 0 ? left : nil
        }
    }
}

/// The memory of one body, until nothing refers to this any more.
final class BodyReservation: Sendable {
    private let count: Int
    private let network: String
    private let memory: BodyMemory

    fileprivate init(_ count: Int, of network: String, _ memory: BodyMemory) {
        (self.count, self.network, self.memory) = (count, network, memory)
    }

    deinit { memory.giveBack(count, of: network) }
}
#endif
