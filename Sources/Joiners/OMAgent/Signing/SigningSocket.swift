// The proofs for a helper of requests, whose own socket goes to its caller. Format: docs/formats/online-protocol.md, "Requests".

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// The agent's end of a second socket of such a helper.
final class SigningSocket: Sendable {
    /// The number in each frame: a helper of requests has no question.
    static let id = [UInt8](repeating: 0, count: 16)

    private let channel: FrameChannel
    private let other: Guarded<Int32?>
    private let keys: HelperKeys
    private let origin: String
    private let end: Int64

    /// Nil if this system gives no socket.
    ///
    /// - Parameter origin: The only one that gets proofs.
    init?(_ key: TokenKey, to origin: String) {
        var ends: [Int32] = [-1, -1]
        guard om_socket_pair(&ends) == 0 else { return nil }
        channel = FrameChannel(ends[0])
        other = Guarded(ends[1])
        (keys, self.origin) = (HelperKeys(signer: nil, token: key), origin)
        end = bootMilliseconds() + Int64(RequestOpening.life)
    }

    deinit { if let other = other.withLock({ $0 }) { close(other) } }

    /// The helper's end, once. The caller closes it.
    func takeOtherEnd() -> [Int32] {
        other.withLock { other in
            defer { other = nil }
            return other.map { [$0] } ?? []
        }
    }

    /// Answers until the helper has closed its end.
    ///
    /// - Returns: false if the helper broke the protocol, so that it must be killed.
    func serve() -> Bool {
        var budget = SignatureBudget(requestsTo: origin)
        do throws(ChannelError) {
            while true {
                let left = Int(max(1, end - bootMilliseconds()))
                guard let frame = try channel.receive(start: left, frame: AgentProtocol.frameTime) else { return true }
                guard frame.version == AgentProtocol.version, frame.kind == FrameKind.askSignature.rawValue else { return false }
                let purpose = frame.body.withBytes { try? SigningPurpose(decoding: $0, of: Self.id) }
                guard let purpose, let content = budget.take(purpose) else { return false }
                try keys.answer(content, of: Self.id, over: channel)
            }
        } catch { return error == .ended }
    }
}
