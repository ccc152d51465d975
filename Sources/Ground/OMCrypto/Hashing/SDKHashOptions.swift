internal import OMSecrets

/// The three switches of the SDK's call. With base64 off, the other two are ignored without an error, as the SDK does. With
/// it on, they are independent of each other.
public struct SDKHashOptions: Hashable, Sendable {
    public var appendsSalt: Bool
    public var usesBase64: Bool
    public var hasPrefix: Bool

    public init(appendsSalt: Bool = true, usesBase64: Bool = true, hasPrefix: Bool = true) {
        (self.appendsSalt, self.usesBase64, self.hasPrefix) = (appendsSalt, usesBase64, hasPrefix)
    }

    func text(_ digest: borrowing SecretBytes, salt: [UInt8], prefix: String) -> SecretBytes {
        guard usesBase64 else { return digest.duplicate() }
        var body = SecretBuffer(capacity: digest.count + salt.count)
        body.append(digest)
        if appendsSalt { body.append(salt.span) }
        var text = SecretBuffer()
        if hasPrefix { text.append(prefix.utf8Span.span) }
        text.append(Base64.encode(body.finish()))
        return text.finish()
    }
}
