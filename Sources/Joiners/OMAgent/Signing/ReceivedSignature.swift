// A helper's question for a signature of the user's key, and the answer.

internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// Why no signature came. Nil: the other end is gone, or this system starts no thread.
struct SignFailure: Error, StorageErrorConvertible {
    let cause: OnlineFailure?

    init(_ cause: OnlineFailure?) { self.cause = cause }
    init(storage error: StorageError) { cause = nil }
}

/// The answer to a request for a signature.
struct ReceivedSignature: ~Copyable, Sendable {
    /// The longest signature or assertion in bytes.
    static let longest = 64 << 10

    /// Empty if there is none.
    private let signature: SecretBytes
    private let cause: OnlineFailure?

    /// Asks for a signature, and waits for the answer.
    init(
        asking purpose: SigningPurpose, of id: [UInt8], over channel: borrowing FrameChannel, within wait: Int
    ) throws(ChannelError) {
        var body = SecretBuffer()
        body.write(WireID(id), purpose)
        try channel.send(.askSignature, body, within: AgentProtocol.frameTime)
        let frame = try channel.receive(start: wait, frame: AgentProtocol.frameTime, maximum: 2 * Self.longest)
        guard let frame, frame.version == AgentProtocol.version else { throw .malformed }
        self = try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try ReceivedSignature(frame.kind, bytes, of: id) } catch { throw .malformed }
        }
    }

    private init(_ kind: UInt8, _ bytes: Span<UInt8>, of id: [UInt8]) throws(MalformedBytes) {
        var wire = WireReader(bytes)
        guard try wire.read(WireID.self).bytes == id else { throw MalformedBytes() }
        let isSignature = kind == FrameKind.signature.rawValue
        guard isSignature || kind == FrameKind.noSignature.rawValue else { throw MalformedBytes() }
        let problem = isSignature ? nil : try wire.signingProblem()
        let given = isSignature ? try wire.secret(upTo: Self.longest) : SecretBytes(copying: [])
        try wire.end()
        guard isSignature == (given.count > 0) else { throw MalformedBytes() }
        cause = problem
        signature = given
    }

    consuming func get() throws(SignFailure) -> SecretBytes {
        if let cause { throw SignFailure(cause) }
        return signature
    }
}
