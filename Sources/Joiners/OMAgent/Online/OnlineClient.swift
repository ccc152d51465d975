// The client of the online helper, a process that ends with its answer. docs/formats/online-protocol.md, "The helper".

internal import COMSystem
internal import Glibc
package import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets

/// The online helper of this machine. Each question gets its own process, so that questions do not wait for each other.
package struct OnlineClient: Sendable {
    /// How long the helper may take beyond the question's own deadline, in milliseconds.
    static let grace: Int64 = 1_000

    private let program: String

    /// - Parameter program: The absolute path of the agent's program. Only this user and root may be able to change the
    ///   program, or its folder.
    package init(program: String) { self.program = program }

    /// Asks, and waits for the answer. The wait ends after the question's total deadline and a second.
    ///
    /// - Returns: The server's answer, or the reason why there is none. A helper that fails in any way is
    ///   ``OnlineFailure/helper``.
    /// - Throws: ``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``, ``AgentError/io(_:)`` if no
    ///   helper can be started.
    package func ask(
        _ question: consuming OnlineQuestion, cancellation: OnlineCancellation? = nil
    ) throws(AgentError) -> OnlineReply {
        let program = try AgentProcess.check(program)
        guard let body = question.encoded() else { return .refused(.failed(.unusableSession)) }
        let end = bootMilliseconds() + Int64(question.service.deadlines.total) + Self.grace
        let helper = try HelperProcess(program, "--online")
        return Self.exchange(body, of: question, over: helper.channel, until: end, cancellation)
    }

    private static func exchange(
        _ body: borrowing SecretBuffer, of question: borrowing OnlineQuestion, over channel: borrowing FrameChannel,
        until end: Int64, _ cancellation: OnlineCancellation?
    ) -> OnlineReply {
        let broken = OnlineRefusal.failed(.helper)
        do throws(ChannelError) {
            try channel.send(.question, body, within: AgentProtocol.frameTime)
            switch om_socket_wait(channel.descriptor, cancellation?.event ?? -1, Int32(clamping: end - bootMilliseconds())) {
            case 1: break
            case 2: return .refused(.failed(.cancelled))
            default: return .refused(broken)
            }
            let left = Int(max(1, end - bootMilliseconds()))
            guard let frame = try channel.receive(start: left, frame: left, maximum: OnlineQuestion.maximumBody),
                frame.version == AgentProtocol.version, frame.kind == FrameKind.answer.rawValue
            else { return .refused(broken) }
            let (id, task) = (question.id, question.task)
            let isOAuth = if case .oauth = question.service.kind { true } else { false }
            return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
                do throws(MalformedBytes) {
                    let reply = try OnlineReply.decode(bytes, to: id, task)
                    guard isOAuth || !reply.hasAccess else { throw MalformedBytes() }
                    return reply
                } catch { throw .malformed }
            }
        } catch {
            return .refused(broken)
        }
    }
}
