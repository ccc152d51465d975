// The online helper: a process that answers one question of `OnlineClient` and ends. docs/formats/online-protocol.md, "The helper".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
package import OMOnlineModel
internal import OMRecords
internal import OMSecrets

/// The process that asks one server one question.
package enum OnlineHelper {
    /// Reads the question, confines the process, gets the answer from `answer`, sends it, and ends the process. Call it
    /// right after ``AgentProcess/harden(hidesMemory:)``, while there is one thread.
    ///
    /// The exit code is 0 after an answer was sent, 2 if no process of this user is at descriptor 3, and 1 for
    /// everything else. The parent learns no more from the code than from the missing answer.
    ///
    /// - Parameter ports: The TCP ports that answering may connect to.
    package static func run(
        ports: (OnlineService) -> Set<UInt16>,
        _ answer: @escaping @Sendable (borrowing OnlineQuestion) async -> OnlineReply
    ) -> Never {
        let descriptor = HelperSocket.take()
        // The question comes from the parent. All later bytes may come from a server, so this is the last moment to confine
        // the process. The question is read first, because reading it maps hidden memory: under the limits that would fail.
        guard let asked = ReceivedQuestion(descriptor), om_limit_process(0, 60) == 0,
            Confinement.apply(ports: ports(asked.question.service))
        else { _exit(1) }
        let end = bootMilliseconds() + Int64(asked.question.service.deadlines.total) + OnlineClient.grace
        // The first thread stays here, to end the process when the parent is gone or the time is over.
        Task.detached {
            let body = await answer(asked.question).encoded(asked.question.id)
            guard (try? asked.channel.send(.answer, body, within: AgentProtocol.frameTime)) != nil else { _exit(1) }
            _exit(0)
        }
        while bootMilliseconds() < end {
            let left = Int32(clamping: min(end - bootMilliseconds(), 1_000))
            if om_socket_wait_for_end(descriptor, max(1, left)) != 0 { _exit(1) }
        }
        _exit(1)
    }
}

/// The parent and its question.
private final class ReceivedQuestion: Sendable {
    let channel: FrameChannel
    let question: OnlineQuestion

    /// Nil if no complete question comes in time.
    init?(_ descriptor: Int32) {
        let channel = FrameChannel(descriptor)
        guard let question = try? Self.question(channel) else { return nil }
        self.channel = channel
        self.question = question
    }

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
