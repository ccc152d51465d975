// The client of the online helper, a process that ends with its answer. docs/formats/online-protocol.md, "The helper".

internal import COMSystem
internal import Glibc
package import OMAgentProtocol
package import OMAuth
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
    /// - Parameters:
    ///   - listening: Sockets of ``LoopbackListeners``, for a login at the server's own pages.
    ///   - prompter: Shows the person what to do there.
    ///   - signer: Signs with the key that proves the client. Nil if there is none.
    /// - Returns: The server's answer, or the reason why there is none. A helper that fails in any way is
    ///   ``OnlineFailure/helper``.
    /// - Throws: ``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``, ``AgentError/io(_:)`` if no
    ///   helper can be started.
    package func ask(
        _ question: consuming OnlineQuestion, listening: [Int32] = [], prompting prompter: (any BrowserPrompter)? = nil,
        signing signer: (any QuestionSigner)? = nil, cancellation: OnlineCancellation? = nil
    ) throws(AgentError) -> OnlineReply {
        let program = try AgentProcess.check(program)
        guard let body = question.encoded() else { return .refused(.failed(.unusableSession)) }
        let end = bootMilliseconds() + question.longest + Self.grace
        let helper = try HelperProcess(program, "--online")
        do throws(ChannelError) {
            try helper.channel.send(.question, body, descriptors: listening, within: AgentProtocol.frameTime)
            return try Self.answer(to: question, over: helper.channel, until: end, prompter, signer, cancellation)
        } catch {
            return .refused(.failed(.helper))
        }
    }

    /// The most frames of one question: a helper that was taken over could keep its reader busy for ever.
    private static let mostFrames = 32

    private static func answer(
        to question: borrowing OnlineQuestion, over channel: borrowing FrameChannel, until end: Int64,
        _ prompter: (any BrowserPrompter)?, _ signer: (any QuestionSigner)?, _ cancellation: OnlineCancellation?
    ) throws(ChannelError) -> OnlineReply {
        let (id, task) = (question.id, question.task)
        let keys = HelperKeys(signer: signer, token: question.tokenKey)
        let isOAuth = if case .oauth = question.service.kind { true } else { false }
        let personEnd = bootMilliseconds() + Int64(task.personSeconds) * 1_000
        let pages = prompter.flatMap { BrowserPages(question.service, task, $0) }
        let event = cancellation?.event ?? -1
        /// Whether it was cancelled while the helper has a page. Then the sending side is closed.
        var wasCancelled = false
        var budget = SignatureBudget(question.service, task)
        for _ in 0..<mostFrames + budget.left {
            switch om_socket_wait(
                channel.descriptor, wasCancelled ? -1 : event, Int32(clamping: max(1, end - bootMilliseconds())))
            {
            case 1: break
            case 2 where pages != nil:
                // The server may be giving tokens now. The helper gives them back, or answers, or ends.
                wasCancelled = true
                _ = shutdown(channel.descriptor, Int32(SHUT_WR))
                continue
            case 2: return .refused(.failed(.cancelled))
            default: throw .deadline
            }
            let left = Int(max(1, end - bootMilliseconds()))
            let received = try channel.receive(start: left, frame: left, maximum: OnlineQuestion.maximumBody)
            guard let frame = received, frame.version == AgentProtocol.version else {
                if wasCancelled { return .refused(.failed(.cancelled)) }
                throw .malformed
            }
            if frame.kind == FrameKind.answer.rawValue {
                return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
                    do throws(MalformedBytes) {
                        let reply = try OnlineReply.decode(bytes, to: id, task)
                        guard isOAuth || !reply.hasAccess else { throw MalformedBytes() }
                        return reply
                    } catch { throw .malformed }
                }
            }
            if frame.kind == FrameKind.askSignature.rawValue {
                let purpose = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
                    do throws(MalformedBytes) { return try SigningPurpose(decoding: bytes, of: id) } catch { throw .malformed }
                }
                guard let content = budget.take(purpose) else { throw .malformed }
                if wasCancelled { continue }
                try keys.answer(content, of: id, over: channel)
                continue
            }
            guard let pages else { throw .malformed }
            switch FrameKind(rawValue: frame.kind) {
            case .show:
                let step = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
                    do throws(MalformedBytes) { return try BrowserStep(decoding: bytes, of: id) } catch { throw .malformed }
                }
                switch pages.show(step) {
                case .shown: break
                case .refused: throw .malformed
                case .unseen: return .refused(.failed(.cancelled))
                }
            case .paste:
                var body = SecretBuffer()
                body.write(WireID(id))
                // A longer text is no address.
                let pasted = pages.pasted()
                // The helper takes no address any more, and the person should know why.
                guard bootMilliseconds() < personEnd else { return .refused(.failed(.notFinished)) }
                body.write(pasted.count <= HelperConversation.longestPasted ? pasted : SecretBytes(copying: []))
                try channel.send(.pasted, body, within: AgentProtocol.frameTime)
            default: throw .malformed
            }
        }
        throw .malformed
    }
}
