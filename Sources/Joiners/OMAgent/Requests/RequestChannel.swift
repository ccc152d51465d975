// The caller's end of a requests' helper. Format: docs/formats/online-protocol.md, "Requests".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem
internal import Synchronization

/// One helper, which sends requests to one origin. It ends with this object.
final class RequestChannel: Sendable {
    /// What a helper can be used for.
    struct Key: Hashable, Sendable {
        enum Token: Hashable, Sendable {
            case none
            case session(ScopeSet, resource: String?)
            case gate(WebGate)
        }

        let origin: String
        let token: Token
        /// Whether the client's certificate is shown.
        var showsCertificate = false
    }

    /// How long a helper is used for further requests, in milliseconds. Each of them needs time of the helper's total.
    private static let mostAge: Int64 = 60_000
    /// How long a resting helper counts as alive: less than the time after which it ends.
    private static let mostRest = RequestOpening.idle - 2_000
    /// How long the helper may take beyond the request's own limit, in milliseconds.
    private static let grace: Int64 = 2_000
    /// How long before the helper's own end a request must be over, in milliseconds. The helper is older than this object.
    private static let reserve: Int64 = 5_000

    let key: Key
    /// Names the access token that the agent gave the helper. Nil without one.
    let mark: [UInt8]?
    /// Whether that token is bound to a key.
    let isBound: Bool
    private let channel: FrameChannel
    private let process: HelperChild?
    private let made = bootMilliseconds()
    private let state = Mutex(State())

    private struct State {
        var number: UInt32 = 0
        /// When the answer to the request must be complete. The helper's word about that may come a little later.
        var end: Int64 = 0
        var restsSince: Int64 = 0
        var sends = false
        /// Whether it can send another request.
        var isUsable = true
        var isCancelled = false
        /// Why the source of the body failed.
        var failure: RESTError?
    }

    /// - Parameter socket: Connected to the helper. It is closed with this object.
    init(_ key: Key, mark: [UInt8]?, isBound: Bool = false, socket: Int32, child: Int32? = nil) {
        (self.key, self.mark, self.isBound) = (key, mark, isBound)
        channel = FrameChannel(socket)
        process = child.map { HelperChild($0) }
    }

    /// Starts a helper of this process.
    ///
    /// - Parameters:
    ///   - opening: Makes the opening with a certificate.
    ///   - identity: The certificate, if the key says that it is shown.
    static func start(
        _ key: Key, program: String, showing identity: RequestIdentity?,
        _ opening: (ClientChain?) -> RequestOpening
    ) throws(RESTError) -> RequestChannel {
        do throws(AgentError) {
            let identity = key.showsCertificate ? identity : nil
            guard let body = opening(identity?.chain).encoded() else { throw .misbehaved }
            let ends = try identity.map { (identity) throws(AgentError) in try signatures(by: identity, for: key.origin) } ?? []
            defer { ends.forEach { close($0) } }
            let (socket, child) = try helper(program)
            let made = RequestChannel(key, mark: nil, socket: socket, child: child)
            guard
                (try? made.channel.send(.opening, body, descriptors: ends, within: AgentProtocol.frameTime)) != nil
            else { throw .misbehaved }
            return made
        } catch { throw .agent(error) }
    }

    /// Starts to sign for one helper, on a thread of its own.
    ///
    /// - Returns: The helper's end of the socket for signatures. The caller sends and closes it.
    private static func signatures(by identity: RequestIdentity, for origin: String) throws(AgentError) -> [Int32] {
        let keys = HelperKeys(signer: identity.signer, token: nil)
        guard let socket = SigningSocket(keys, to: origin, showing: identity.chain) else { throw .io(errno) }
        let ends = socket.takeOtherEnd()
        let failure = DetachedThread.start(stack: AgentServer.stack) { _ = socket.serve() }
        guard failure == 0 else {
            ends.forEach { close($0) }
            throw .io(failure)
        }
        return ends
    }

    private static func helper(_ program: String) throws(AgentError) -> (socket: Int32, child: Int32) {
        if let early = EarlyHelper.take() { return early }
        return try HelperProcess.start(try AgentProcess.check(program), "--request")
    }

    /// Whether it was used, and can send another request now.
    var canGoOn: Bool {
        let now = bootMilliseconds()
        return state.withLock { state in
            state.isUsable && !state.sends && state.number < RequestOpening.mostRequests && now - made < Self.mostAge
                && now - state.restsSince < Self.mostRest
        }
    }

    var wasUsed: Bool { state.withLock { $0.number > 0 } }

    /// Ends the helper. A wait for it ends with ``RESTError/cancelled``.
    func cancel() {
        state.withLock { ($0.isCancelled, $0.isUsable) = (true, false) }
        _ = shutdown(channel.descriptor, Int32(SHUT_RDWR))
    }

    // MARK: - One request

    /// Sends a request, and returns the head of the answer when it has come. The body is read and sent on a thread of its own.
    func begin(
        _ method: String, _ target: String, headers: [OnlineService.Header], body: RESTBody, seconds: UInt32
    ) throws(RESTError) -> AnswerHead {
        let left = made + Int64(RequestOpening.life) - Self.reserve - bootMilliseconds()
        let limit = UInt32(clamping: min(Int64(seconds) * 1_000, left))
        let number = state.withLock { state in
            state.number += 1
            state.end = bootMilliseconds() + Int64(limit)
            return state.number
        }
        let head = RequestHead(
            number: number, method: method, target: target, headers: headers, body: body.form, limit: max(1, limit))
        guard head.fitsWire else { throw .unusable }
        let reader = try body.open?()
        var frame = SecretBuffer()
        frame.write(head)
        do throws(ChannelError) { try channel.send(.requestHead, frame, within: AgentProtocol.frameTime) } catch {
            throw ended()
        }
        if let reader {
            state.withLock { $0.sends = true }
            let failure = DetachedThread.start { self.send(reader) }
            guard failure == 0 else { throw .agent(.io(failure)) }
        }
        let answer = try receive(maximum: RequestHead.maximumBody)
        guard answer.kind == FrameKind.answerHead.rawValue else { throw unexpected(answer) }
        do throws(MalformedBytes) {
            return try answer.body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
                var wire = WireReader(bytes)
                let head: AnswerHead = try wire.read()
                try wire.end()
                guard head.number == number else { throw MalformedBytes() }
                return head
            }
        } catch { throw broken() }
    }

    /// The next piece of the answer's body. Nil at its end.
    func nextPiece() throws(RESTError) -> SecretBytes? {
        let frame = try receive(maximum: RequestHead.longestPiece)
        switch FrameKind(rawValue: frame.kind) {
        case .answerPiece where frame.body.count > 0: return frame.takeBody().finish()
        case .answerEnd:
            let goesOn: Bool? = frame.body.withBytes { bytes in
                var wire = WireReader(bytes)
                return try? wire.read(Bool.self)
            }
            guard let goesOn, frame.body.count == 1 else { throw broken() }
            state.withLock { state in
                if !goesOn { state.isUsable = false }
                state.restsSince = bootMilliseconds()
            }
            return nil
        default: throw unexpected(frame)
        }
    }

    /// Waits until a piece or an end comes, at most until `end`.
    ///
    /// - Returns: false if nothing came.
    func hasNext(until end: Int64) -> Bool {
        while true {
            var waiting = pollfd(fd: channel.descriptor, events: Int16(POLLIN), revents: 0)
            let count = poll(&waiting, 1, Int32(clamping: max(0, end - bootMilliseconds())))
            guard count < 0, errno == EINTR else { return count > 0 }
        }
    }

    private func receive(maximum: Int) throws(RESTError) -> Frame {
        let left = Int(clamping: max(1, state.withLock { $0.end } + Self.grace - bootMilliseconds()))
        let frame: Frame?
        // Then the wait below need not sleep.
        _ = channel.hasBytesSoon()
        do throws(ChannelError) { frame = try channel.receive(start: left, frame: left, maximum: maximum) } catch {
            throw ended()
        }
        guard let frame, frame.version == AgentProtocol.version else { throw ended() }
        return frame
    }

    /// The error for a frame that is no part of an answer: mostly a refusal.
    private func unexpected(_ frame: borrowing Frame) -> RESTError {
        guard frame.kind == FrameKind.answerRefused.rawValue else { return broken() }
        state.withLock { $0.isUsable = false }
        if let failure = state.withLock({ $0.failure }) { return failure }
        let refusal: OnlineRefusal? = frame.body.withBytes { bytes in
            var wire = WireReader(bytes)
            guard let refusal = try? wire.read(OnlineRefusal.self), wire.isAtEnd else { return nil }
            return refusal
        }
        return refusal.map { .failed($0) } ?? broken()
    }

    private func broken() -> RESTError {
        cancel()
        return .failed(.failed(.helper))
    }

    private func ended() -> RESTError {
        state.withLock { state in
            state.isUsable = false
            if let failure = state.failure { return failure }
            if state.isCancelled { return .cancelled }
            return .failed(bootMilliseconds() >= state.end ? .unreachable(.timedOut) : .failed(.helper))
        }
    }

    private func send(_ reader: RESTBody.Reader) {
        do throws(RESTError) {
            while true {
                let piece = try reader(RequestHead.longestPiece)
                guard state.withLock({ $0.isUsable }) else { break }
                var body = SecretBuffer(capacity: piece.count)
                body.append(piece)
                let kind = piece.count == 0 ? FrameKind.requestEnd : .requestPiece
                // The helper may have the answer already, and read no more. The reader of the answer learns of it.
                guard (try? channel.send(kind, body, within: Int(RequestOpening.total))) != nil, piece.count > 0 else { break }
            }
        } catch {
            state.withLock { $0.failure = error }
            // The helper must not take the part that it has for the whole body.
            _ = shutdown(channel.descriptor, Int32(SHUT_RDWR))
        }
        state.withLock { $0.sends = false }
    }
}

/// Carries a child process into an object that may have none.
private final class HelperChild: Sendable {
    let process: ChildProcess

    init(_ child: Int32) { process = ChildProcess(child, waits: false) }
}

extension AgentClient {
    /// Asks the agent for a helper that sends requests with a session's access token.
    ///
    /// - Parameters:
    ///   - end: When the answer must be there, in milliseconds since boot. The agent may ask a server for a token first.
    ///   - interruption: Once it is asked, the wait ends with ``RESTError/cancelled``.
    func requester(
        _ question: RequesterQuestion, _ key: RequestChannel.Key, until end: Int64 = .max,
        unless interruption: Interruption? = nil
    ) throws(RESTError) -> RequestChannel {
        let reply: AgentReply
        do throws(AgentError) {
            var body = SecretBuffer()
            body.write(question)
            let frame = try connection.askForFrame(
                .request, body, receiving: DescriptorBudget(Int(OM_SENT_DESCRIPTORS)), until: end, unless: interruption)
            if frame.kind == FrameKind.requester.rawValue {
                let (mark, kind) = try frame.body.withBytes { (bytes: Span<UInt8>) throws(AgentError) in
                    do throws(MalformedBytes) {
                        var wire = WireReader(bytes)
                        let told: ([UInt8], TokenKind) = (try wire.read(WireID.self).bytes, try wire.read())
                        try wire.end()
                        return told
                    } catch { throw .misbehaved }
                }
                guard let socket = frame.descriptors?.takeSocket() else { throw .misbehaved }
                return RequestChannel(key, mark: mark, isBound: kind == .dpop, socket: socket)
            }
            do throws(MalformedBytes) {
                reply = try frame.body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
                    try AgentReply.decode(frame.kind, bytes)
                }
            } catch { throw .misbehaved }
        } catch {
            if interruption?.isAsked == true { throw .cancelled }
            if error != .busy, bootMilliseconds() >= end { throw .failed(.unreachable(.timedOut)) }
            throw .agent(error)
        }
        switch reply {
        case .foreignOrigin: throw .foreignOrigin
        case .noSession: throw .noSession
        case .tokenRefused(let refusal): throw .token(refusal)
        default: throw .agent(.misbehaved)
        }
    }
}
