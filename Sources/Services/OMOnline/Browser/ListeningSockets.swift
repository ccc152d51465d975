internal import Glibc
internal import Synchronization

/// Sockets of the caller. Those that were not taken are closed in the end.
final class ListeningSockets: Sendable {
    private let descriptors: Mutex<[Int32]>

    init(_ descriptors: [Int32]) { self.descriptors = Mutex(descriptors) }

    deinit { for each in take() { close(each) } }

    /// From here on the caller closes them.
    func take() -> [Int32] {
        descriptors.withLock { descriptors in
            defer { descriptors = [] }
            return descriptors
        }
    }
}
