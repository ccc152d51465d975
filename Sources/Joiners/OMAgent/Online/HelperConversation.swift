// The frames of a helper that needs a person: docs/formats/online-protocol.md, "A login at the server's own pages".

internal import Glibc
internal import OMAgentProtocol
package import OMOnlineModel
internal import OMRecords
package import OMSecrets
internal import OMSystem
internal import Synchronization

/// What a helper can ask of the person at its other end, while it answers one question.
package final class HelperConversation: Sendable {
    /// The longest pasted address in bytes.
    static let longestPasted = 16 << 10

    private let received: ReceivedQuestion
    /// Listening sockets of this machine's own addresses, where a browser brings the answer. The answering code closes them.
    package let listening: [Int32]

    init(_ received: ReceivedQuestion, listening: [Int32]) { (self.received, self.listening) = (received, listening) }

    /// Whose turn it is.
    private enum Turn {
        case start
        /// The person's, until this boot time in milliseconds.
        case person(until: Int64)
        /// The server's, after the person has finished.
        case server
    }

    private let turn = Mutex(Turn.start)
    private let gone = Mutex(false)
    /// One request for a signature at a time is on the channel.
    private let signing = Mutex(())

    /// The milliseconds that the person has left, at least 0. Nil if it is not the person's turn.
    var timeLeft: Int64? {
        guard case .person(let end) = turn.withLock({ $0 }) else { return nil }
        return max(0, end - bootMilliseconds())
    }

    /// Whether the person has finished, so that the server may be giving tokens now.
    var isServersTurn: Bool { if case .server = turn.withLock({ $0 }) { true } else { false } }

    /// From here on the person's time does not count any more.
    package func hasFinished() { turn.withLock { $0 = .server } }

    /// The other end is gone.
    func leave() { gone.withLock { $0 = true } }

    /// Whether the other end has gone, so that the answer would be lost.
    package var isGone: Bool { gone.withLock { $0 } }

    /// The person's time begins with the first step.
    ///
    /// - Throws: ``OnlineFailure/helper`` if the other end is gone.
    package func show(_ step: BrowserStep) throws(OnlineRefusal) {
        let end = bootMilliseconds() + Int64(received.question.task.personSeconds) * 1_000
        turn.withLock { if case .start = $0 { $0 = .person(until: end) } }
        var body = SecretBuffer()
        body.write(WireID(received.question.id), step)
        do throws(ChannelError) { try received.channel.send(.show, body, within: AgentProtocol.frameTime) } catch {
            throw .failed(.helper)
        }
    }

    /// The address that the person pasted. Nil if the browser itself brings the answer, or if the person gives none. It waits on
    /// a thread of its own; a person has the time of the question.
    package func pasted() async throws(OnlineRefusal) -> SecretBytes? {
        guard listening.isEmpty else { return nil }
        do throws(PasteFailure) {
            return try await OwnThread.run { () throws(PasteFailure) in
                do throws(ChannelError) { return try self.receivePasted() } catch { throw PasteFailure() }
            }
        } catch { throw .failed(.helper) }
    }

    /// A signature of the user's key, made outside of this process. It waits on a thread of its own.
    ///
    /// - Throws: ``OnlineFailure/unusableClientKey``, ``OnlineFailure/lockedClientKey``; ``OnlineFailure/helper`` if the other end is
    ///   gone.
    package func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        do throws(SignFailure) {
            return try await OwnThread.run { () throws(SignFailure) in
                do throws(ChannelError) { return try self.receiveSignature(purpose) } catch { throw SignFailure(nil) }
            }.get()
        } catch { throw .failed(error.cause ?? .helper) }
    }

    private func receiveSignature(_ purpose: SigningPurpose) throws(ChannelError) -> ReceivedSignature {
        try signing.withLock { _ throws(ChannelError) in
            try ReceivedSignature.ask(
                purpose, of: received.question.id, over: received.channel,
                within: Int(received.question.service.deadlines.total))
        }
    }

    private func receivePasted() throws(ChannelError) -> SecretBytes? {
        var body = SecretBuffer()
        let id = received.question.id
        body.write(WireID(id))
        try received.channel.send(.paste, body, within: AgentProtocol.frameTime)
        let wait = Int(received.question.task.personSeconds) * 1_000
        let frame = try received.channel.receive(start: wait, frame: AgentProtocol.frameTime, maximum: 2 * Self.longestPasted)
        guard let frame, frame.version == AgentProtocol.version, frame.kind == FrameKind.pasted.rawValue else { throw .malformed }
        return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) {
                var wire = WireReader(bytes)
                guard try wire.read(WireID.self).bytes == id else { throw MalformedBytes() }
                let text = try wire.secret(upTo: Self.longestPasted)
                try wire.end()
                guard text.count > 0 else { return nil }
                return text
            } catch { throw .malformed }
        }
    }
}

/// Why no pasted address came: the other end is gone, or this system starts no thread.
private struct PasteFailure: Error, StorageErrorConvertible {
    init() {}
    init(storage error: StorageError) {}
}

extension BrowserStep {
    /// - Throws: For a body that is not exactly what docs/formats/online-protocol.md allows, and for another question's.
    init(decoding bytes: Span<UInt8>, of id: [UInt8]) throws(MalformedBytes) {
        var wire = WireReader(bytes)
        guard try wire.read(WireID.self).bytes == id else { throw MalformedBytes() }
        self = try wire.read()
        try wire.end()
    }
}

/// 1 ‖ address, or 2 ‖ code ‖ address ‖ optional whole address ‖ seconds (4)
extension BrowserStep: WireValue {
    func write(to body: inout SecretBuffer) {
        switch self {
        case .open(let address): body.write(tag: 1, address)
        case .enter(let code, let address, let whole, let seconds): body.write(tag: 2, code, address, whole, seconds)
        }
    }

    init(from wire: inout WireReader) throws(MalformedBytes) {
        switch try wire.read(UInt8.self) {
        case 1: self = .open(try wire.read())
        case 2:
            self = .enter(
                code: try wire.read(), address: try wire.read(), whole: try wire.read(), seconds: try wire.read())
        default: throw MalformedBytes()
        }
    }
}
