// Frames over a socket. Length and time are bounded at both ends. Bodies are in locked memory from the first byte.

internal import COMSystem
internal import Glibc
package import OMSecrets
package import OMSystem

/// One message.
package struct Frame: ~Copyable {
    package let version: UInt8
    package let kind: UInt8
    package let body: SecretBuffer
    /// The descriptors that came with it. Nil if the channel takes none.
    package let descriptors: ReceivedDescriptors?

    package consuming func takeBody() -> SecretBuffer { body }
}

/// Frames that go to the socket together. It remembers how much of them the socket took.
package struct FrameBatch: ~Copyable, Sendable {
    fileprivate var bytes = SecretBuffer()
    fileprivate var sent = 0

    package init() {}

    /// How many bytes are not sent.
    package var count: Int { bytes.count - sent }

    package mutating func add(_ kind: FrameKind, _ body: borrowing SecretBuffer) {
        bytes.append(FrameChannel.head(of: kind, body, AgentProtocol.version).span)
        body.withBytes { bytes.append($0) }
    }

    fileprivate mutating func note(sent more: Int) {
        sent += more
        guard count == 0 else { return }
        bytes.removeAll()
        sent = 0
    }
}

/// A connected socket, closed when it goes out of scope.
package struct FrameChannel: ~Copyable {
    package let descriptor: Int32

    private let interruption: Interruption?
    /// How long a wait goes on before it looks at the interruption, in milliseconds.
    private static let pause: Int64 = 50

    /// - Parameters:
    ///   - descriptor: Connected and non-blocking. The channel closes it.
    ///   - interruption: Once it is asked, a wait for the other end throws ``ChannelError/ended``.
    package init(_ descriptor: Int32, unless interruption: Interruption? = nil) {
        (self.descriptor, self.interruption) = (descriptor, interruption)
    }

    deinit { close(descriptor) }

    /// The user at the other end.
    package func peer() -> UInt32? {
        var user: uid_t = 0
        var process: pid_t = 0
        return om_socket_peer(descriptor, &user, &process) == 0 ? user : nil
    }

    /// Looks for bytes from the other end for a moment, and does not sleep until they come. For answers that mostly come at once: to
    /// wake a process takes longer than such an answer.
    ///
    /// - Returns: Whether there are bytes, or the other end has closed the connection.
    package borrowing func hasBytesSoon() -> Bool {
        let end = Self.microseconds() + 200
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&waiting, 1, 0) > 0 { return true }
            guard Self.microseconds() < end else { return false }
            // The other end may need this processor.
            sched_yield()
        }
    }

    /// Whether the socket takes a short message at once. If only this end sends, it stays so until the message is sent.
    package borrowing func hasRoom() -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 0) > 0 && waiting.revents == Int16(POLLOUT)
    }

    private static func microseconds() -> Int {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
    }

    /// The next frame.
    ///
    /// - Parameters:
    ///   - start: How long the frame may take to begin, in milliseconds.
    ///   - frame: How long it may take to be complete, once it has begun. Attack: an attacker sends a byte a second, to
    ///     keep a thread for years. This limit ends it.
    ///   - budget: Limits the descriptors that may come with the frame. If it is nil, the kernel closes them.
    /// - Returns: nil if the other end closed the connection between two frames.
    package func receive(
        start: Int, frame: Int, maximum: Int = AgentProtocol.maximumBody, descriptors budget: DescriptorBudget? = nil
    ) throws(ChannelError) -> Frame? {
        var head = SecretBuffer(capacity: AgentProtocol.headCount)
        let descriptors = budget.map { ReceivedDescriptors($0) }
        // They come with the first bytes.
        guard
            try fill(
                &head, AgentProtocol.headCount, until: bootMilliseconds() + Int64(start), stopAfterFirst: true,
                descriptors)
        else { return nil }
        let end = bootMilliseconds() + Int64(frame)
        while head.count < AgentProtocol.headCount {
            guard try fill(&head, AgentProtocol.headCount, until: end) else { throw .ended }
        }
        let (version, kind, count) = try Self.parse(head, maximum)
        // The meaning of another version's kinds is unknown here.
        let isFrozen = kind == FrameKind.stepDown.rawValue || kind == FrameKind.otherVersion.rawValue
        if version != AgentProtocol.version {
            guard isFrozen, count <= 1 else {
                return Frame(version: version, kind: 0, body: SecretBuffer(), descriptors: descriptors)
            }
        }
        // The buffer grows with the bytes that arrive, not with the announced count. A client expects a long list
        // from its own agent.
        let first = maximum > AgentProtocol.maximumBody ? 2 << 20 : 64 << 10
        var body = SecretBuffer(capacity: min(count, first))
        while body.count < count {
            guard try fill(&body, count, until: end) else { throw .ended }
        }
        return Frame(version: version, kind: kind, body: body, descriptors: descriptors)
    }

    private static func parse(
        _ head: borrowing SecretBuffer, _ maximum: Int
    ) throws(ChannelError) -> (UInt8, UInt8, Int) {
        let bytes = head.withBytes { head in head.indices.map { head[$0] } }
        let count = bytes[4...].reduce(0) { $0 << 8 | Int($1) }
        guard Array(bytes[..<2]) == AgentProtocol.magic, count <= maximum else { throw .malformed }
        return (bytes[2], bytes[3], count)
    }

    /// Receives until `buffer` holds `total` bytes, or once if `stopAfterFirst`. Returns false at the end of the stream.
    private func fill(
        _ buffer: inout SecretBuffer, _ total: Int, until end: Int64, stopAfterFirst: Bool = false,
        _ descriptors: ReceivedDescriptors? = nil
    ) throws(ChannelError) -> Bool {
        while buffer.count < total {
            var got = 0
            var failure: ChannelError?
            buffer.append(upTo: min(total - buffer.count, 64 << 10)) { free in
                got = free.withUnsafeMutableBytes { target in
                    guard let descriptors else { return om_socket_receive(descriptor, target.baseAddress, target.count) }
                    do throws(ChannelError) { return try descriptors.receive(from: descriptor, into: target) } catch {
                        failure = error
                        return 0
                    }
                }
                return max(got, 0)
            }
            if let failure { throw failure }
            if got > 0, stopAfterFirst { return true }
            if got == 0 { return false }
            if got < 0 { try waitUnless(errno, POLLIN, until: end) }
        }
        return true
    }

    /// Receives until `bytes` holds `total` of another protocol than this. They are no secret, and are kept in ordinary memory.
    ///
    /// - Parameter end: In milliseconds since boot.
    /// - Returns: false at the end of the stream.
    package func receive(_ total: Int, into bytes: inout [UInt8], until end: Int64) throws(ChannelError) -> Bool {
        while bytes.count < total {
            var piece = [UInt8](repeating: 0, count: min(total - bytes.count, 16 << 10))
            let got = om_socket_receive(descriptor, &piece, piece.count)
            if got == 0 { return false }
            if got > 0 { bytes += piece.prefix(got) } else { try waitUnless(errno, POLLIN, until: end) }
        }
        return true
    }

    /// Sends bytes of another protocol.
    package func send(_ bytes: [UInt8], within time: Int) throws(ChannelError) {
        try sendAll(bytes.span, until: bootMilliseconds() + Int64(time))
    }

    /// Sends one frame. The other end accepts all of it or nothing.
    ///
    /// - Parameter descriptors: Go with the frame's first bytes. They stay open here.
    package func send(
        _ kind: FrameKind, _ body: borrowing SecretBuffer, version: UInt8 = AgentProtocol.version,
        descriptors: [Int32] = [], within time: Int
    ) throws(ChannelError) {
        precondition(body.count <= AgentProtocol.maximumAnswer, "a frame longer than the protocol allows")
        let end = bootMilliseconds() + Int64(time)
        // In one piece if it fits, so that a short answer needs one call.
        let first = Self.start(of: kind, body, version)
        try first.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            try sendAll(bytes, with: descriptors, until: end)
        }
        try body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            if bytes.count > 4096 { try sendAll(bytes.extracting(4096..<bytes.count), until: end) }
        }
    }

    /// Sends frames as far as the socket takes them now.
    package func sendNow(_ frames: inout FrameBatch) throws(ChannelError) {
        while frames.count > 0 {
            let done = frames.sent
            let sent = frames.bytes.withBytes { bytes in
                bytes.extracting(done..<bytes.count).withUnsafeBytes { om_socket_send(descriptor, $0.baseAddress, $0.count) }
            }
            if sent > 0 {
                frames.note(sent: sent)
            } else if errno != EINTR {
                guard errno == EAGAIN || errno == EWOULDBLOCK else { throw .ended }
                return
            }
        }
    }

    /// Sends what is left of frames.
    package func send(_ frames: borrowing FrameBatch, within time: Int) throws(ChannelError) {
        let end = bootMilliseconds() + Int64(time), done = frames.sent
        try frames.bytes.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            try sendAll(bytes.extracting(done..<bytes.count), until: end)
        }
    }

    fileprivate static func head(of kind: FrameKind, _ body: borrowing SecretBuffer, _ version: UInt8) -> [UInt8] {
        var head = AgentProtocol.magic + [version, kind.rawValue]
        for shift in [24, 16, 8, 0] { head.append(UInt8(truncatingIfNeeded: body.count >> shift)) }
        return head
    }

    /// The head, and as much of the body as goes with it in one piece.
    private static func start(of kind: FrameKind, _ body: borrowing SecretBuffer, _ version: UInt8) -> SecretBuffer {
        let head = head(of: kind, body, version)
        var first = SecretBuffer(capacity: head.count + min(body.count, 4096))
        first.append(head.span)
        body.withBytes { first.append($0.extracting(0..<min($0.count, 4096))) }
        return first
    }

    private func sendAll(_ bytes: Span<UInt8>, with descriptors: [Int32] = [], until end: Int64) throws(ChannelError) {
        var done = 0
        while done < bytes.count {
            let sent = bytes.extracting(done..<bytes.count).withUnsafeBytes { rest in
                done == 0 && !descriptors.isEmpty
                    ? om_socket_send_descriptors(descriptor, rest.baseAddress, rest.count, descriptors, descriptors.count)
                    : om_socket_send(descriptor, rest.baseAddress, rest.count)
            }
            if sent > 0 { done += sent } else { try waitUnless(errno, POLLOUT, until: end) }
        }
    }

    /// Waits for the socket after a call that would have blocked.
    private func waitUnless(_ failure: Int32, _ event: Int32, until end: Int64) throws(ChannelError) {
        if failure == EINTR { return }
        guard failure == EAGAIN || failure == EWOULDBLOCK else { throw .ended }
        let left = end - bootMilliseconds()
        guard left > 0 else { throw .deadline }
        guard interruption?.isAsked != true else { throw .ended }
        var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        _ = poll(&waiting, 1, Int32(clamping: interruption == nil ? left : min(left, Self.pause)))
    }
}

package func bootMilliseconds() -> Int64 { om_boot_milliseconds() }
