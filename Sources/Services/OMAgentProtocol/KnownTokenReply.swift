package import OMRecords
package import OMSecrets

/// The agent's answer to a ``KnownTokenQuestion``.
package enum KnownTokenReply: ~Copyable, Sendable {
    case given(SecretBytes)
    /// The program with all commands asks, and says what is wrong.
    case none

    /// The most bytes of a token.
    private static let longest = 64 << 10
}

extension KnownTokenReply: FrameReply {
    package static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> KnownTokenReply {
        guard kind == FrameKind.knownTokenGiven.rawValue else { return .none }
        var wire = WireReader(bytes)
        let token = try wire.secret(upTo: longest)
        try wire.end()
        return .given(token)
    }
}
