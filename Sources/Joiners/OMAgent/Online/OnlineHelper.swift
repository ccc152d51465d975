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
    /// - Parameters:
    ///   - ports: The TCP ports that answering may connect to.
    ///   - answer: Gets the question, and the person at the other end. Its task is cancelled when the person's time is over.
    package static func run(
        ports: (borrowing OnlineQuestion) -> Set<UInt16>,
        _ answer: @escaping @Sendable (borrowing OnlineQuestion, HelperConversation) async -> OnlineReply
    ) -> Never {
        let descriptor = HelperSocket.take()
        // The question comes from the parent. All later bytes may come from a server, so this is the last moment to confine
        // the process. The question is read first, because reading it maps hidden memory: under the limits that would fail.
        guard let asked = ReceivedQuestion(descriptor), om_limit_process(0, 60) == 0 else { _exit(1) }
        let ports = asked.question.task.connects ? ports(asked.question) : []
        guard Confinement.apply(ports: ports, accepts: !asked.listening.isEmpty) else { _exit(1) }
        let person = HelperConversation(asked, listening: asked.listening)
        let end = bootMilliseconds() + asked.question.longest + OnlineClient.grace
        // The first thread stays here, to end the process when the parent is gone or the time is over.
        let work = Task.detached {
            let body = await answer(asked.question, person).encoded(asked.question.id, asked.question.task)
            guard (try? asked.channel.send(.answer, body, within: AgentProtocol.frameTime)) != nil else { _exit(1) }
            _exit(0)
        }
        while bootMilliseconds() < end {
            let left = person.timeLeft.map { min($0, 1_000) } ?? 1_000
            guard left > 0 else {
                work.cancel()
                person.hasFinished()
                continue
            }
            // A negative time would be a wait without an end.
            let wait = Int32(clamping: max(1, min(end - bootMilliseconds(), left)))
            guard om_socket_wait_for_end(descriptor, wait) != 0 else { continue }
            // If tokens may be on their way, the answering code gives them back.
            guard person.isServersTurn else { _exit(1) }
            person.leave()
            usleep(10_000)
        }
        _exit(1)
    }
}

/// The parent and its question.
final class ReceivedQuestion: Sendable {
    let channel: FrameChannel
    let question: OnlineQuestion
    /// The listening sockets that came with it. Only a login at the server's own pages has some.
    let listening: [Int32]

    /// Nil if no complete question comes in time.
    init?(_ descriptor: Int32) {
        let channel = FrameChannel(descriptor)
        var listening: [Int32] = []
        guard let question = try? Self.question(channel, &listening) else { return nil }
        self.channel = channel
        self.question = question
        self.listening = listening
    }

    private static func question(
        _ channel: borrowing FrameChannel, _ listening: inout [Int32]
    ) throws(ChannelError) -> OnlineQuestion {
        let frame = try channel.receive(
            start: AgentProtocol.frameTime, frame: AgentProtocol.frameTime, maximum: OnlineQuestion.maximumBody,
            descriptors: DescriptorBudget(Int(OM_SENT_DESCRIPTORS)))
        guard let frame, frame.version == AgentProtocol.version, frame.kind == FrameKind.question.rawValue else {
            throw .malformed
        }
        let question = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try OnlineQuestion(decoding: bytes) } catch { throw .malformed }
        }
        guard let sockets = frame.descriptors?.takeLoopbackListeners() else { throw .malformed }
        guard sockets.isEmpty || question.takesBrowser, sockets.count <= 2 else { throw .malformed }
        listening = sockets
        return question
    }
}
