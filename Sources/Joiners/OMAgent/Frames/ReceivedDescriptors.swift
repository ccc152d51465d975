internal import COMSystem
internal import Glibc
internal import OMSystem
internal import Synchronization

/// The descriptors that came with a frame, in their order. Those that no one takes are closed with this object.
final class ReceivedDescriptors: Sendable {
    private let descriptors = Mutex<[Int32]>([])

    deinit { descriptors.withLock { $0.forEach { close($0) } } }

    /// Receives bytes and the descriptors that come with them.
    ///
    /// - Returns: As `recv`.
    func receive(from socket: Int32, into target: UnsafeMutableRawBufferPointer) -> Int {
        // Attack: a client sends many descriptors, until the agent has none left. A frame has at most these.
        var found = [Int32](repeating: -1, count: Int(OM_SENT_DESCRIPTORS))
        var count = 0
        let got = om_socket_receive_descriptors(socket, target.baseAddress, target.count, &found, found.count, &count)
        descriptors.withLock { $0 += found.prefix(count) }
        return got
    }

    /// The next one, which must be a regular file.
    func next() -> UnnamedFile? {
        let descriptor = descriptors.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return descriptor.flatMap { UnnamedFile(received: $0) }
    }
}
