public import OMOnlineModel
public import OMSecrets

/// An access token of OAuth 2.0 (bearer), and its scopes.
public struct AccessToken: ~Copyable, Sendable {
    /// The most bytes of a token.
    package static let longest = 64 << 10

    public let value: SecretBytes
    public let scopes: ScopeSet

    public init(_ value: consuming SecretBytes, scopes: ScopeSet) {
        self.value = value
        self.scopes = scopes
    }

    package borrowing func duplicate() -> AccessToken { AccessToken(value.duplicate(), scopes: scopes) }
}
