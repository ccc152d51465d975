/// A password as the user typed it: 1 byte to 1 MiB, unchanged.
public struct Password: ~Copyable, Sendable {
    public static let maximumCount = 1 << 20

    public let bytes: SecretBytes

    /// - Throws: ``SecretsError/passwordLength``.
    public init(_ bytes: consuming SecretBytes) throws(SecretsError) {
        guard (1...Self.maximumCount).contains(bytes.count) else { throw .passwordLength }
        self.bytes = bytes
    }

    private init(sized bytes: consuming SecretBytes) { self.bytes = bytes }

    /// A second password with the same bytes.
    public borrowing func duplicate() -> Password { Password(sized: bytes.duplicate()) }
}
