// The other end of OnlineClient: one question, one answer, the end. docs/online-protocol.md, "The helper".

internal import COMSystem
internal import Glibc
internal import OMRecords
internal import OMSecrets
internal import Synchronization

/// The process that asks a server on somebody's behalf.
public enum OnlineHelper {
    private static let descriptor: Int32 = 3

    /// Takes this process's rights away, as far as asking a server does not need them. To be called first thing, after
    /// ``AgentProcess/harden(hidesMemory:)``.
    ///
    /// - Returns: false when the system refuses.
    public static func limit() -> Bool { om_limit_process() == 0 }

    /// Reads the question, has `answer` answer it, and ends the process.
    ///
    /// The exit code is 0 once an answer is sent, 2 when nobody of this user's is at descriptor 3, 1 for all else: whoever
    /// asked learns no more from it than from the silence.
    public static func run(_ answer: @escaping @Sendable (borrowing OnlineQuestion) async -> OnlineReply) -> Never {
        guard om_socket_is_connected(descriptor) == 1 else { _exit(2) }
        var user: uid_t = 0
        var process: pid_t = 0
        guard om_socket_peer(descriptor, &user, &process) == 0, user == geteuid() else { _exit(2) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)

        // The thread that began stays behind to end the process when nobody waits for the answer any more.
        Task.detached {
            let channel = FrameChannel(descriptor)
            guard let question = try? question(channel) else { _exit(1) }
            deadline.set(now() + Int64(question.service.deadlines.total) + OnlineClient.grace)
            let body = await answer(question).encoded(question.number)
            guard (try? channel.send(.answer, body, within: AgentProtocol.frameTime)) != nil else { _exit(1) }
            _exit(0)
        }
        while now() < deadline.value {
            let left = Int32(clamping: min(deadline.value - now(), 1_000))
            if om_socket_wait_for_end(descriptor, max(1, left)) != 0 { _exit(1) }
        }
        _exit(1)
    }

    private static let deadline = Deadline()

    private static func question(_ channel: borrowing FrameChannel) throws(ChannelError) -> OnlineQuestion {
        let frame = try channel.receive(
            start: AgentProtocol.frameTime, frame: AgentProtocol.frameTime, maximum: OnlineQuestion.maximumBody)
        guard let frame, frame.version == AgentProtocol.version, frame.kind == FrameKind.question.rawValue else {
            throw .malformed
        }
        return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try OnlineQuestion(decoding: bytes) } catch { throw .malformed }
        }
    }
}

/// The time at which the process ends whatever happens: at first that for a question to arrive.
private final class Deadline: Sendable {
    private let time = Mutex(now() + Int64(2 * AgentProtocol.frameTime) + 1_000)

    var value: Int64 { time.withLock { $0 } }

    func set(_ value: Int64) { time.withLock { $0 = value } }
}
