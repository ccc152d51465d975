// The values of a profile about tokens and assertions of other servers, and about backends of mobile applications.

package import OMOnlineModel

extension Profile {
    /// The source of an assertion, and its form. The source is `file:/PATH`, `cred:NAME` or `vault:ITEM:FIELD`.
    package struct AssertionSource: Hashable, Sendable {
        package let key: ProfileKey
        package let kind: AssertionKind
        package let source: String
    }

    /// Of a user. If there are two, the JWT counts.
    package var oauthUserAssertion: AssertionSource? { first([(.oauthUserJWT, .jwt), (.oauthUserSAML2, .saml2)]) }

    /// Whether a login's assertion is a JWT that the client's key signs for it: there is a key, and no source.
    package var mintsAssertion: Bool {
        serverKind == .oauthAssertion && oauthUserAssertion == nil && clientProof.key != nil
    }

    /// Of the client, in place of its secret. Nil if `OAuthClientAuthMethod` does not let it count, or if the client has a key.
    package var oauthClientAssertion: AssertionSource? {
        let forms = clientProof.readyMade
        return first([(.oauthClientJWT, .jwt), (.oauthClientSAML2, .saml2)].filter { forms.contains($0.1) })
    }

    /// What proves the client: a ready-made assertion, else its secret.
    package var oauthClientSource: (key: ProfileKey, source: String)? {
        guard !isImplicit else { return nil }
        return oauthClientAssertion.map { ($0.key, $0.source) } ?? oauthClientSecretSource.map { (.oauthClientSecret, $0) }
    }

    private func first(_ keys: [(ProfileKey, AssertionKind)]) -> AssertionSource? {
        for (key, kind) in keys {
            if case .text(let source)? = values[key] { return AssertionSource(key: key, kind: kind, source: source) }
        }
        return nil
    }

    /// The backend at the server that this profile is for.
    package var mobileBackendID: String? { plainText(.mobileBackendID) }
    package var mobileBackendVersion: String? { plainText(.mobileBackendVersion) }
    /// The headers of each request to the server. `MobileBackendID` counts, and not a header of its name in `CustomAuthHeaders`.
    package var serverHeaders: [(name: String, value: String)] {
        guard let mobileBackendID else { return customHeaders }
        let name = "Oracle-Mobile-Backend-ID"
        return customHeaders.filter { $0.name.lowercased() != name.lowercased() } + [(name, mobileBackendID)]
    }
    /// The longest life of a token that was exchanged, in seconds.
    package var tokenExchangeTimeout: Int64 { effective(.tokenExchangeTimeout).flatMap(Self.digits) ?? 21_600 }
    public var tokenExchangeDialect: TokenExchangeDialect {
        plainText(.tokenExchangeDialect).flatMap(TokenExchangeDialect.init) ?? .rfc8693
    }

    private func plainText(_ key: ProfileKey) -> String? { if case .text(let text)? = values[key] { text } else { nil } }
}
