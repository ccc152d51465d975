public import OMItems
package import OMRecords

/// The agent's answer to an item request.
public enum AgentItemReply: ~Copyable, Sendable {
    case reply(ItemReply)
    case failure(VaultError)
    /// The agent does not have the keys that the request needs. Ask the user for the password here.
    case locked(AgentVaultState)
}

/// An answer that is read from one frame.
package protocol FrameReply: ~Copyable {
    /// - Parameters:
    ///   - kind: The kind of the frame.
    ///   - bytes: Its body.
    static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> Self
}

extension AgentItemReply: FrameReply {
    package static func decode(_ kind: UInt8, _ bytes: Span<UInt8>) throws(MalformedBytes) -> AgentItemReply {
        var wire = WireReader(bytes)
        let reply = try decode(kind, &wire)
        try wire.end()
        return reply
    }

    private static func decode(_ kind: UInt8, _ wire: inout WireReader) throws(MalformedBytes) -> AgentItemReply {
        switch FrameKind(rawValue: kind) {
        case .reply: .reply(try ItemReply(from: &wire))
        case .failure: .failure(try wire.read())
        case .locked: .locked(try wire.read())
        default: throw MalformedBytes()
        }
    }
}
