// The front of an ssh-agent: its socket, its connections and their bounds. Reference: docs/reference/ssh-agent.md.

internal import COMSystem
internal import Glibc
package import OMAgentProtocol
package import OMCrypto
internal import OMSystem
internal import Synchronization

/// Answers SSH programs over a socket. It has no key.
package final class SSHAgentServer: Sendable {
    /// The name of the socket beside that of the agent.
    package static let name = "ssh.sock"
    /// How many connections are served at once.
    package static let mostClients = 64
    /// How many of them may come from other machines.
    private static let mostForwarded = 32
    /// How long a connection may be silent, in milliseconds.
    private static let restTime: Int64 = 600_000
    private static let stack = 1 << 20

    private let listening: ListeningSocket
    private let source: any SSHKeySource
    private let front: SSHFront
    private let questions: SSHQuestions
    private let clients = Mutex(0)
    private let forwarded = Mutex(0)

    /// - Parameters:
    ///   - listening: The socket. It is removed at the end.
    ///   - source: The keys.
    ///   - front: What it is started for.
    ///   - ask: Asks a person. Nil: the program has gone before the answer.
    package init(
        _ listening: ListeningSocket, _ source: any SSHKeySource, as front: SSHFront,
        asking ask: @escaping @Sendable (SSHQuestion) -> Bool?
    ) {
        (self.listening, self.source, self.front) = (listening, source, front)
        questions = SSHQuestions(ask)
    }

    /// Answers until a signal of `signals`, or until the socket is removed.
    ///
    /// - Parameter signals: A descriptor of ``endSignals()``. -1 for none.
    package func run(until signals: Int32 = -1) {
        var waiting = [listening.descriptor, listening.removals, signals].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        while poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR {
            if waiting[2].revents != 0, om_signal_next(signals) > 0 { break }
            if waiting[1].revents != 0, !listening.isReachable { break }
            if waiting[0].revents != 0 { acceptAll() }
        }
        listening.end()
    }

    /// Removes the socket and the file of its lock, if no other front can ever have the socket.
    package func remove() { listening.remove() }

    /// Blocks the signals that end the front, and returns a descriptor that delivers them. Call it before the first thread.
    package static func endSignals() -> Int32 { om_signal_descriptor() }

    /// Whether a front that serves `wanted` answers at the socket. False for another agent. Nil if there is none.
    package static func answers(_ wanted: SSHFront, at socket: AgentSocket) throws(AgentError) -> Bool? {
        guard let channel = try connection(to: socket) else { return nil }
        return try AgentConnection.exchange { () throws(ChannelError) in
            try channel.send(wanted.question, within: AgentProtocol.frameTime)
            var answer: [UInt8] = []
            let (success, end) = (SSHAgentAnswer.success.bytes, bootMilliseconds() + Int64(AgentProtocol.frameTime))
            return try channel.receive(success.count, into: &answer, until: end) && answer == success
        }
    }

    private static func connection(to socket: AgentSocket) throws(AgentError) -> FrameChannel? {
        do throws(AgentError) { return try AgentConnection(socket).connect() } catch {
            guard error == .notRunning else { throw error }
            return nil
        }
    }

    private func acceptAll() {
        while true {
            let descriptor = om_socket_accept(listening.descriptor)
            guard descriptor >= 0 else {
                // There are no descriptors left. The queue waits until a connection ends.
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM { usleep(10_000) }
                return
            }
            let channel = FrameChannel(descriptor)
            // Attack: another user reaches the socket through a descriptor that was passed on.
            guard channel.peer() == geteuid() else { continue }
            guard Self.enter(clients, most: Self.mostClients) else { continue }
            let connection = SSHAgentConnection(self, channel)
            if DetachedThread.start(stack: Self.stack, { connection.serve() }) != 0 { leave() }
        }
    }

    /// - Returns: Whether there was a place.
    private static func enter(_ count: borrowing Mutex<Int>, most: Int) -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    fileprivate func leave() { clients.withLock { $0 -= 1 } }

    fileprivate func serve(_ channel: borrowing FrameChannel) {
        var conversation = SSHConversation(
            source, for: AskingProgram(channel), over: channel.descriptor, as: front, asking: questions)
        var isForwarded = false
        defer { if isForwarded { forwarded.withLock { $0 -= 1 } } }
        while let message = try? Self.receive(channel) {
            let answer = conversation.answer(message)
            // Attack: a machine to which the agent is forwarded opens all connections, and this machine's programs get none.
            if conversation.isForwarded, !isForwarded {
                isForwarded = Self.enter(forwarded, most: Self.mostForwarded)
                guard isForwarded else { return }
            }
            guard (try? channel.send(answer.bytes, within: AgentProtocol.frameTime)) != nil else { return }
        }
    }

    /// - Returns: nil at the end of the connection.
    private static func receive(_ channel: borrowing FrameChannel) throws(ChannelError) -> SSHAgentMessage? {
        var head: [UInt8] = []
        guard try channel.receive(1, into: &head, until: bootMilliseconds() + restTime) else { return nil }
        // Attack: a program sends a byte a second, to keep a thread for years.
        let end = bootMilliseconds() + Int64(AgentProtocol.frameTime)
        guard try channel.receive(SSHAgentMessage.headCount, into: &head, until: end) else { throw .ended }
        guard let count = SSHAgentMessage.count(head) else { throw .malformed }
        var body: [UInt8] = []
        guard try channel.receive(count, into: &body, until: end) else { throw .ended }
        guard let message = SSHAgentMessage(body) else { throw .malformed }
        return message
    }
}

/// Carries a connection to the thread that serves it.
private final class SSHAgentConnection: Sendable {
    private let server: SSHAgentServer
    private let channel: FrameChannel

    init(_ server: SSHAgentServer, _ channel: consuming FrameChannel) {
        self.server = server
        self.channel = channel
    }

    func serve() {
        server.serve(channel)
        server.leave()
    }
}
