// The signatures for a helper of requests. Format: docs/formats/online-protocol.md, "Requests".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// A second socket of such a helper, and its end in the process that has the keys: the agent or the caller.
final class SigningSocket: Sendable {
    /// The number in each frame: a helper of requests has no question.
    static let id = [UInt8](repeating: 0, count: 16)

    private let channel: FrameChannel
    private let other: Guarded<Int32?>
    private let keys: HelperKeys
    private let budget: SignatureBudget
    private let end: Int64

    /// Nil if this system gives no socket.
    ///
    /// - Parameters:
    ///   - origin: Proofs are made for this server only.
    ///   - chain: The certificate that the helper shows. Nil for none.
    ///   - life: How long it signs, in milliseconds.
    init?(_ keys: HelperKeys, to origin: String, showing chain: ClientChain?, for life: Int64 = Int64(RequestOpening.life)) {
        var ends: [Int32] = [-1, -1]
        guard om_socket_pair(&ends) == 0 else { return nil }
        channel = FrameChannel(ends[0])
        other = Guarded(ends[1])
        self.keys = keys
        budget = SignatureBudget(requestsTo: origin, proves: keys.token != nil, showing: chain)
        end = bootMilliseconds() + life
    }

    deinit { if let other = other.withLock({ $0 }) { close(other) } }

    /// The helper's end, once. The caller closes it.
    func takeOtherEnd() -> [Int32] {
        other.withLock { other in
            defer { other = nil }
            return other.map { [$0] } ?? []
        }
    }

    /// Answers until the helper has closed its end, or its time is over.
    ///
    /// - Returns: false if the helper must be killed.
    func serve() -> Bool {
        var budget = budget
        do throws(ChannelError) {
            while case let left = end - bootMilliseconds(), left > 0 {
                guard let frame = try channel.receive(start: Int(left), frame: AgentProtocol.frameTime) else { return true }
                guard frame.version == AgentProtocol.version, frame.kind == FrameKind.askSignature.rawValue else { return false }
                let purpose = frame.body.withBytes { try? SigningPurpose(decoding: $0, of: Self.id) }
                guard let purpose, let content = budget.take(purpose) else { return false }
                try keys.answer(content, of: Self.id, over: channel)
            }
            return false
        } catch { return error == .ended }
    }
}
