// MACs over public bytes. A MAC proves that a holder of the key wrote them.

/// HMAC-SHA-256 over a context and a message: 32 bytes.
public enum MAC {
    public static let count = 32

    public static func tag(of message: [UInt8], using key: borrowing Key<Authenticating>, context: Context) -> [UInt8] {
        key.bytes.withBytes { key in
            HMACSHA256.tag(keyBytes: key) { update in
                update(context.encoded.span)
                update(message.span)
            }.withBytes { [UInt8](copying: $0) }
        }
    }

    /// - Throws: ``SecretsError/cannotOpen`` if the tag belongs to another message.
    public static func check(
        _ tag: [UInt8], of message: [UInt8], using key: borrowing Key<Authenticating>, context: Context
    ) throws(SecretsError) {
        guard ConstantTime.areEqual(self.tag(of: message, using: key, context: context).span, tag.span) else {
            throw .cannotOpen
        }
    }
}
