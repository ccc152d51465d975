// The messages of the ssh-agent protocol (draft-miller-ssh-agent) with OpenSSH's extensions (its PROTOCOL.agent).

/// A request to an ssh-agent.
package enum SSHAgentMessage: Hashable, Sendable {
    /// The longest message, in bytes. It is OpenSSH's limit too.
    package static let longest = 256 << 10
    /// What has to be there before the length of a message is known.
    package static let headCount = 4

    case identities
    case sign(key: [UInt8], data: [UInt8], flags: UInt32)
    case bind(SSHBinding)
    /// Asks for the names of the extensions.
    case query
    /// Asks whether the agent is such a front.
    case front(SSHFront)
    /// Adds or removes keys, locks the agent, or is unknown. The answer is a failure.
    case other

    /// - Parameter bytes: The message without its length.
    /// - Returns: nil if it breaks the protocol.
    package init?(_ bytes: [UInt8]) {
        guard (1...Self.longest).contains(bytes.count), let read = try? Self.read(bytes.span) else { return nil }
        self = read
    }

    /// How many bytes come after the head.
    ///
    /// - Returns: nil for more than ``longest``, and for none.
    package static func count(_ head: [UInt8]) -> Int? {
        let count = head.prefix(headCount).reduce(0) { $0 << 8 | Int($1) }
        return head.count == headCount && (1...longest).contains(count) ? count : nil
    }

    private static func read(_ bytes: Span<UInt8>) throws(CryptoError) -> SSHAgentMessage {
        var cursor = SSHCursor(bytes.indices, blame: .badSignature)
        switch try cursor.byte(bytes) {
        case 11:
            try cursor.finish()
            return .identities
        case 13:
            let (key, data) = (try cursor.string(bytes), try cursor.string(bytes))
            let flags = UInt32(try cursor.number(bytes))
            try cursor.finish()
            return .sign(key: bytes.bytes(key), data: bytes.bytes(data), flags: flags)
        case 27: return try extended(&cursor, bytes)
        default: return .other
        }
    }

    private static func extended(
        _ cursor: inout SSHCursor, _ bytes: Span<UInt8>
    ) throws(CryptoError) -> SSHAgentMessage {
        // A name may have any length, and a long one is unknown here.
        let name = try cursor.string(bytes)
        guard name.count <= 64 else { return .other }
        switch bytes.text(name) {
        case "query":
            try cursor.finish()
            return .query
        case SSHBinding.name:
            let (key, session) = (try cursor.string(bytes), try cursor.string(bytes))
            let signature = try cursor.string(bytes)
            // Each number but 0 is true (RFC 4251 section 5).
            let isForwarding = try cursor.byte(bytes) != 0
            try cursor.finish()
            return .bind(
                SSHBinding(
                    hostKey: bytes.bytes(key), session: bytes.bytes(session), signature: bytes.bytes(signature),
                    isForwarding: isForwarding))
        case SSHFront.name:
            let vault = bytes.bytes(try cursor.string(bytes))
            let confirmsAll = try cursor.flag(bytes)
            try cursor.finish()
            return .front(SSHFront(vault: vault, confirmsAll: confirmsAll))
        default: return .other
        }
    }
}
