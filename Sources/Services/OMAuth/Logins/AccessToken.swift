public import OMOnlineModel
public import OMSecrets

/// An access token of OAuth 2.0 (bearer), and its scopes.
public struct AccessToken: ~Copyable, Sendable {
    /// The most bytes of a token.
    package static let longest = 64 << 10

    public let value: SecretBytes
    public let scopes: ScopeSet
    /// The ID token of the same login, which was verified. Empty if there is none.
    package let idToken: SecretBytes

    public init(_ value: consuming SecretBytes, scopes: ScopeSet) {
        self.init(value, scopes: scopes, idToken: SecretBytes(copying: []))
    }

    package init(_ value: consuming SecretBytes, scopes: ScopeSet, idToken: consuming SecretBytes) {
        self.value = value
        self.scopes = scopes
        self.idToken = idToken
    }

    package borrowing func duplicate() -> AccessToken {
        AccessToken(value.duplicate(), scopes: scopes, idToken: idToken.duplicate())
    }

    /// The same without the ID token.
    package borrowing func duplicateAlone() -> AccessToken { AccessToken(value.duplicate(), scopes: scopes) }
}
