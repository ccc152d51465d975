// The server's helper: a process that speaks to one server for `ConfinedServer`. docs/formats/sync.md, "The server's helper".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
package import OMOnlineModel
internal import OMSystem
internal import Synchronization

/// The process that serves one remote on a server.
package enum ServerHelper {
    /// Answers each request but `open`.
    package typealias Work = @Sendable (ServerHelperRequest) async -> ServerHelperReply

    /// Later than any request.
    private static let never = Int64.max / 2

    /// Reads the first request, confines the process to the server's port, and answers requests until the other end of the socket is
    /// closed. Then it ends the process. Call it right after ``AgentProcess/harden(hidesMemory:)``, while there is one thread.
    ///
    /// The exit code is 0 at the end, or if the address cannot be used; 2 if no process of this user is at descriptor 3; and 1 for
    /// everything else.
    ///
    /// - Parameters:
    ///   - ports: The TCP ports to which the work for an address connects.
    ///   - work: Begins the work for one remote. It throws the reason why it cannot.
    package static func run(
        ports: (ServerHelperRequest.Opening) -> Set<UInt16>,
        _ work: (ServerHelperRequest.Opening) throws(OnlineRefusal) -> Work
    ) -> Never {
        let channel = FrameChannel(HelperSocket.take())
        guard case .open(let opening) = next(channel) else { _exit(1) }
        // All later bytes may come from the server. The processor time is for all requests of a long sync.
        guard om_limit_process(0, 3600) == 0, Confinement.apply(ports: ports(opening)) else { _exit(1) }
        let answering: Work
        do throws(OnlineRefusal) { answering = try work(opening) } catch {
            answer(.failed(.online(error)), channel)
            _exit(0)
        }
        // Accident: the caller is killed while the server takes its time.
        let socket = channel.descriptor
        let watch = { @Sendable in
            var end = pollfd(fd: socket, events: 0, revents: 0)
            while unsafe poll(&end, 1, -1) < 0 && errno == EINTR {}
            _exit(0)
        }
        guard DetachedThread.start(stack: AgentServer.stack, watch) == 0 else { _exit(1) }
        answer(.done, channel)
        while let request = next(channel) {
            if case .open = request { _exit(1) }
            let awaited = AwaitedReply()
            Task.detached { awaited.set(await answering(request)) }
            answer(awaited.get(), channel)
        }
        _exit(0)
    }

    /// Nil at the end. The process ends after bytes that are no request.
    private static func next(_ channel: borrowing FrameChannel) -> ServerHelperRequest? {
        do {
            let most = ServerHelperRequest.maximumCount
            guard let message = try RemoteMessage.receive(.question, upTo: most, from: channel, until: never) else { return nil }
            return try ServerHelperRequest(decoding: message)
        } catch { _exit(1) }
    }

    private static func answer(_ reply: ServerHelperReply, _ channel: borrowing FrameChannel) {
        do throws(ChannelError) {
            switch reply.secretMessage {
            case .some(let message): try RemoteMessage.send(secret: message, .answer, over: channel, until: never)
            case .none: try RemoteMessage.send(reply.encoded ?? [], .answer, over: channel, until: never)
            }
        } catch { _exit(1) }
    }
}

/// Hands a reply from a task to the first thread.
private final class AwaitedReply: Sendable {
    private let reply = Mutex<ServerHelperReply?>(nil)
    private let isThere = Latch()

    func set(_ reply: ServerHelperReply) {
        self.reply.withLock { $0 = reply }
        isThere.open()
    }

    func get() -> ServerHelperReply {
        isThere.wait()
        return reply.withLock { $0 } ?? .none
    }
}
