// The words of a profile for how its client proves itself, as RFC 8414 has them.

package import OMOnlineModel

extension ClientProof.Method {
    package var word: String {
        switch self {
        case .automatic: "auto"
        case .none: "none"
        case .secretInHeader: "client_secret_basic"
        case .secretInBody: "client_secret_post"
        case .signedAssertion: "private_key_jwt"
        case .certificate: "tls_client_auth"
        case .selfSignedCertificate: "self_signed_tls_client_auth"
        }
    }

    static var words: [String] { allCases.map(\.word) }
}

extension ClientProof.Audience {
    package var word: String {
        switch self {
        case .issuer: "issuer"
        case .endpoint: "endpoint"
        }
    }

    static var words: [String] { allCases.map(\.word) }
}

extension ClientProof.PushedRequests {
    package var word: String {
        switch self {
        case .automatic: "auto"
        case .required: "require"
        case .off: "off"
        }
    }

    static var words: [String] { allCases.map(\.word) }
}

extension SenderConstraint {
    package var word: String {
        switch self {
        case .none: "none"
        case .dpop: "dpop"
        case .mtls: "mtls"
        }
    }

    static var words: [String] { allCases.map(\.word) }
}

extension Profile {
    /// The key that the tokens of the client are bound to.
    package var senderConstraint: SenderConstraint {
        serverKind.hasTokens || serverKind == .oauthClientCredentials
            ? choice(.oauthSenderConstraint, \SenderConstraint.word) ?? .none : .none
    }

    /// How the client proves itself. Without a discovery document the profile's own addresses, or those of the metadata
    /// in it, are those that an assertion may be for.
    package var clientProof: ClientProof {
        let key: String? =
            if case .text(let text)? = values[.oauthClientKey] { ProfileValueParser.identity(text) } else { nil }
        let given: [(ServerEndpoint.Kind, ServerURL?)] = [
            (.token, oauthTokenEndpoint), (.revocation, oauthRevocationEndpoint), (.device, url(.oauthDeviceEndpoint)),
            (.pushedRequest, url(.oauthPushedRequestEndpoint)),
        ]
        let named = given.compactMap { kind, url in url.map { ServerEndpoint(kind, $0.text) } }
        // There the client is public: its proof would be in the browser, and the browser sends none.
        guard !isImplicit else {
            return ClientProof(
                .none, pushedRequests: choice(.oauthPushedRequests, \ClientProof.PushedRequests.word) ?? .automatic,
                pushedRequestEndpoint: url(.oauthPushedRequestEndpoint)?.text)
        }
        return ClientProof(
            choice(.oauthClientAuthMethod, \ClientProof.Method.word) ?? .automatic, key: key,
            audience: choice(.oauthAssertionAudience, \ClientProof.Audience.word) ?? .issuer,
            pushedRequests: choice(.oauthPushedRequests, \ClientProof.PushedRequests.word) ?? .automatic,
            pushedRequestEndpoint: url(.oauthPushedRequestEndpoint)?.text,
            endpoints: oauthTokenEndpoint == nil ? openIDConfiguration?.endpoints ?? [] : named)
    }

    private func choice<Value: CaseIterable>(_ key: ProfileKey, _ word: KeyPath<Value, String>) -> Value? {
        guard case .text(let text)? = values[key] else { return nil }
        return Value.allCases.first { $0[keyPath: word] == text }
    }
}
