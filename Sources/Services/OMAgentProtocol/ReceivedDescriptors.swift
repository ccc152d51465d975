internal import COMSystem
internal import Glibc
package import OMSystem
internal import Synchronization

/// The descriptors that came with a frame, in their order. Those that no one takes are closed with this object.
package final class ReceivedDescriptors: Sendable {
    private let budget: DescriptorBudget
    private let held = Mutex<(waiting: [Int32], count: Int, devices: [UInt64])>(([], 0, []))

    package init(_ budget: DescriptorBudget) { self.budget = budget }

    deinit {
        // Attack: the file system of a descriptor never answers when it is closed. Then this thread waits, and nothing else:
        // it holds no lock of a vault here.
        let count = held.withLock { held in
            held.waiting.forEach { close($0) }
            return held.count
        }
        budget.release(count)
    }

    /// Receives bytes and the descriptors that come with them.
    ///
    /// - Returns: As `recv`.
    /// - Throws: ``ChannelError/noDescriptors`` if the kernel could not hand all of them over.
    package func receive(from socket: Int32, into target: UnsafeMutableRawBufferPointer) throws(ChannelError) -> Int {
        let (got, found, isCut) = budget.receive(from: socket, into: target)
        held.withLock { held in
            held.waiting += found
            held.count += found.count
        }
        guard !isCut else { throw found.count < Int(OM_SENT_DESCRIPTORS) ? .noDescriptors : .malformed }
        return got
    }

    /// The next one, which must be a regular file.
    package func next() -> UnnamedFile? {
        let descriptor = held.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        guard let file = descriptor.flatMap({ UnnamedFile(received: $0) }) else { return nil }
        held.withLock { $0.devices.append(file.device) }
        return file
    }

    /// All of them, if each is a listening socket at a loopback address. The caller closes them.
    ///
    /// - Returns: nil if there is any other one.
    package func takeLoopbackListeners() -> [Int32]? {
        held.withLock { held in
            guard held.waiting.allSatisfy({ om_loopback_port($0) != 0 }) else { return nil }
            defer { held.waiting = [] }
            return held.waiting
        }
    }

    /// The only one, if it is a connected Unix socket. The caller closes it.
    package func takeSocket() -> Int32? {
        held.withLock { held in
            guard held.waiting.count == 1, om_socket_is_connected(held.waiting[0]) == 1 else { return nil }
            return held.waiting.removeFirst()
        }
    }

    /// The only one, of any kind. The caller closes it.
    package func takeOnly() -> Int32? {
        held.withLock { $0.waiting.count == 1 ? $0.waiting.removeFirst() : nil }
    }

    /// Whether all files that were taken are on the file system of the file at `path` or of its folder. Some file systems
    /// give files and folders different devices.
    package func areAllOnFileSystem(of path: String) -> Bool {
        let devices = held.withLock { $0.devices }
        let near = devices.isEmpty ? [] : [path, FilePath.folder(of: path)].map(FilePath.device)
        return devices.allSatisfy(near.contains)
    }
}

/// How many received descriptors a process may hold at the same time, in all of its connections.
package final class DescriptorBudget: Sendable {
    private let left: Mutex<Int>

    package init(_ most: Int) { left = Mutex(most) }

    /// Attack: a client opens all connections and sends as many descriptors with each frame as a frame can have. Then the
    /// process could open no vault. So they are received one frame after the other, and only while a full frame has room.
    /// Otherwise the kernel closes them, and the frame is refused.
    package func receive(
        from socket: Int32, into target: UnsafeMutableRawBufferPointer
    ) -> (got: Int, descriptors: [Int32], isCut: Bool) {
        left.withLock { left in
            let capacity = left >= Int(OM_SENT_DESCRIPTORS) ? Int(OM_SENT_DESCRIPTORS) : 0
            var found = [Int32](repeating: -1, count: Int(OM_SENT_DESCRIPTORS))
            var (count, isCut) = (0, false)
            let got = om_socket_receive_descriptors(
                socket, target.baseAddress, target.count, &found, capacity, &count, &isCut)
            left -= count
            return (got, Array(found.prefix(count)), isCut)
        }
    }

    package func release(_ count: Int) { left.withLock { $0 += count } }
}
