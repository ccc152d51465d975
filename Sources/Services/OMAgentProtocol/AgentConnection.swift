// A client's side of the protocol. The process that answers must run as this user: the kernel names that user, not the
// socket's path.

internal import COMSystem
internal import Glibc
package import OMItems
internal import OMRecords
package import OMSecrets
package import OMSystem

/// This user's agent, if one runs. Each question opens its own connection.
package struct AgentConnection: Sendable {
    package let socket: AgentSocket

    package init(_ socket: AgentSocket) { self.socket = socket }

    /// Sends a question or a change to the agent.
    package func perform(_ paths: VaultPaths, _ request: consuming ItemRequest) throws(AgentError) -> AgentItemReply {
        var body = SecretBuffer()
        body.write(paths)
        // Their files stay open until the agent has them.
        let spooled = request.encode(into: &body)
        defer { withExtendedLifetime(spooled) {} }
        return try ask(.perform, body, descriptors: spooled.map(\.descriptor))
    }

    /// Sends one frame and reads the answer. Asks again while the agent has too many clients.
    package func ask<Reply: FrameReply & ~Copyable>(
        _ kind: FrameKind, _ body: borrowing SecretBuffer, descriptors: [Int32] = []
    ) throws(AgentError) -> Reply {
        let frame = try askForFrame(kind, body, descriptors: descriptors)
        do throws(MalformedBytes) {
            return try frame.body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in try Reply.decode(frame.kind, bytes) }
        } catch { throw .misbehaved }
    }

    /// The same, with the answer as it came.
    ///
    /// - Parameters:
    ///   - budget: Limits the descriptors that may come with the answer. If it is nil, the kernel closes them.
    ///   - last: When the answer must be there at the latest, in milliseconds since boot.
    ///   - interruption: Once it is asked, the wait for the answer ends with ``AgentError/misbehaved``.
    package func askForFrame(
        _ kind: FrameKind, _ body: borrowing SecretBuffer, descriptors: [Int32] = [], receiving budget: DescriptorBudget? = nil,
        until last: Int64 = .max, unless interruption: Interruption? = nil
    ) throws(AgentError) -> Frame {
        let end = min(last, bootMilliseconds() + Int64(AgentProtocol.busyTime))
        var pause: UInt32 = 2_000
        var wasBusy = false
        while true {
            let time = Int(max(1, min(Int64(AgentProtocol.answerTime), last - bootMilliseconds())))
            let frame: Frame
            do throws(AgentError) {
                frame = try answer(to: kind, body, descriptors, budget, within: time, unless: interruption)
            } catch {
                // The last try has little time.
                throw wasBusy && error == .deadline && bootMilliseconds() >= last ? .busy : error
            }
            guard frame.version == AgentProtocol.version else { throw .otherVersion(frame.version) }
            guard frame.kind == FrameKind.busy.rawValue, frame.body.count == 0 else { return frame }
            guard bootMilliseconds() < end, interruption?.isAsked != true else { throw .busy }
            wasBusy = true
            usleep(pause)
            pause = min(pause * 2, 100_000)
        }
    }

    private func answer(
        to kind: FrameKind, _ body: borrowing SecretBuffer, _ descriptors: [Int32], _ budget: DescriptorBudget?,
        within time: Int, unless interruption: Interruption?
    ) throws(AgentError) -> Frame {
        let channel = try connect(unless: interruption)
        return try Self.exchange { () throws(ChannelError) in
            // A busy agent answers before it reads, and closes the connection. Its answer still counts.
            do throws(ChannelError) {
                try channel.send(kind, body, descriptors: descriptors, within: time)
            } catch {
                guard error == .ended else { throw error }
            }
            guard
                let frame = try channel.receive(
                    start: time, frame: time,
                    maximum: AgentProtocol.maximumAnswer, descriptors: budget)
            else { throw .ended }
            return frame
        }
    }

    package func connect(unless interruption: Interruption? = nil) throws(AgentError) -> FrameChannel {
        let descriptor = om_socket_connect(socket.folder.descriptorPath(socket.name), Int32(AgentProtocol.busyTime))
        guard descriptor >= 0 else {
            // A killed agent leaves a socket on which no process listens.
            throw errno == ENOENT || errno == ECONNREFUSED ? .notRunning : errno == EAGAIN ? .busy : .io(errno)
        }
        let channel = FrameChannel(descriptor, unless: interruption)
        guard let user = channel.peer() else { throw .io(errno) }
        guard user == geteuid() else { throw .otherUser(user) }
        return channel
    }

    /// Runs `body`. A problem of the connection becomes an error of the agent.
    package static func exchange<R: ~Copyable>(_ body: () throws(ChannelError) -> R) throws(AgentError) -> R {
        do throws(ChannelError) { return try body() } catch {
            switch error {
            case .deadline: throw .deadline
            case .ended, .malformed, .noDescriptors: throw .misbehaved
            }
        }
    }
}
