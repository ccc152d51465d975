// The helper's end of a request for a signature. Format: docs/formats/online-protocol.md, "Signatures".

internal import OMAgentProtocol
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// The answer to a request for a signature.
struct ReceivedSignature: ~Copyable, Sendable {
    /// The longest signature or assertion in bytes.
    static let longest = 64 << 10

    /// Empty if there is none.
    private let signature: SecretBytes
    private let cause: OnlineFailure?

    init(_ kind: UInt8, _ bytes: Span<UInt8>, of id: [UInt8]) throws(MalformedBytes) {
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

    /// Asks for a signature at the other end of a helper's socket, and waits.
    ///
    /// - Parameter time: In milliseconds.
    static func ask(
        _ purpose: SigningPurpose, of id: [UInt8], over channel: borrowing FrameChannel, within time: Int
    ) throws(ChannelError) -> ReceivedSignature {
        var body = SecretBuffer()
        body.write(WireID(id), purpose)
        try channel.send(.askSignature, body, within: AgentProtocol.frameTime)
        let frame = try channel.receive(start: time, frame: AgentProtocol.frameTime, maximum: 2 * Self.longest)
        guard let frame, frame.version == AgentProtocol.version else { throw .malformed }
        return try frame.body.withBytes { (bytes: Span<UInt8>) throws(ChannelError) in
            do throws(MalformedBytes) { return try ReceivedSignature(frame.kind, bytes, of: id) } catch { throw .malformed }
        }
    }

    consuming func get() throws(SignFailure) -> SecretBytes {
        if let cause { throw SignFailure(cause) }
        return signature
    }
}

/// Why no signature came. Nil: the other end is gone, or this system starts no thread.
struct SignFailure: Error, StorageErrorConvertible {
    let cause: OnlineFailure?

    init(_ cause: OnlineFailure?) { self.cause = cause }
    init(storage error: StorageError) { cause = nil }
}
