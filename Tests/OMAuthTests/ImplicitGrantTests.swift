// Profiles with the implicit grant: what acts there, and who may use it.

import OMOnlineModel
import Testing

@testable import OMAuth

@Suite("Profiles with the implicit grant") struct ImplicitGrantTests {
    /// - Parameter more: Values beside the usual ones. Nil leaves one out.
    private func profile(_ more: [String: String?] = [:]) throws -> Profile {
        let values: [String: String?] = [
            "AuthServerType": "OAuthAuthentication", "OAuthAuthZGrantType": "OAuthImplicit", "OAuthClientID": "native",
            "OAuthAuthZEndpoint": "https://id.example.org/authorize", "OAuthRedirectEndpoint": "http://127.0.0.1",
            "OAuthScope": "openid",
        ].merging(more) { $1 }
        return try Profile(ProfileName("p"), values: values.compactMapValues { $0.map { .text($0) } })
    }

    @Test("a login needs the caller's consent, whatever its kind, and no other grant does")
    func consent() throws {
        let implicit = try profile(),
            code = try profile([
                "OAuthAuthZGrantType": "OAuthAuthorizationCode", "OAuthTokenEndpoint": "https://id.example.org/token",
            ])
        func outcome(_ question: BrowserQuestion) -> OnlineRefusal? {
            do throws(OnlineRefusal) {
                try question.check()
                return nil
            } catch { return error }
        }
        for kind in [BrowserQuestion.Kind.loopback, .paste] {
            #expect(outcome(BrowserQuestion(implicit, kind: kind)) == .failed(.insecureGrant))
            #expect(outcome(BrowserQuestion(implicit, kind: kind, allowingInsecureGrant: true)) == nil)
            #expect(outcome(BrowserQuestion(code, kind: kind)) == nil)
        }
        for allows in [false, true] {
            #expect(
                outcome(BrowserQuestion(implicit, kind: .device, allowingInsecureGrant: allows)) == .failed(.unsupportedGrant))
        }
    }

    @Test("the server is that of the page, or of the document; no token endpoint is needed")
    func server() throws {
        let plain = try profile()
        #expect(plain.isImplicit && plain.serverKind == .oauthBrowser && plain.serverOrigin == "https://id.example.org:443")
        let discovered = try profile(["oauth_discoveryURL": "https://other.example/.well-known/openid-configuration"])
        #expect(discovered.serverOrigin == "https://other.example:443")
        #expect(try profile(["OAuthTokenEndpoint": "https://token.example/t"]).serverOrigin == "https://id.example.org:443")
        // A token endpoint has no effect, so it does not switch the document off.
        let both = try profile([
            "oauth_discoveryURL": "https://other.example/.well-known/openid-configuration",
            "OAuthTokenEndpoint": "https://token.example/t",
        ])
        #expect(both.oauthDocument == both.oauthDiscoveryURL && both.oauthTokenEndpoint == nil)
        let metadata = try profile([
            "AuthServerType": "OpenIDConnect10", "OAuthTokenEndpoint": "https://token.example/t",
            "OpenIDConnectConfiguration": "{\"issuer\":\"https://id.example.org\"}",
        ])
        #expect(metadata.openIDConfiguration != nil && metadata.effect(of: .openIDConnectConfiguration) == .acts)
        #expect(throws: AuthError.profile(.missing(.oauthAuthorizationEndpoint))) {
            _ = try profile(["OAuthAuthZEndpoint": nil])
        }
    }

    @Test("without openid a profile is refused: no ID token would say for which client a token is")
    func scope() throws {
        for scopes in [nil, "profile", "openid2 x", "OpenID"] {
            #expect(throws: AuthError.profile(.implicitWithoutOpenID), "\(scopes ?? "")") {
                _ = try profile(["OAuthScope": scopes])
            }
        }
        #expect(try profile(["OAuthScope": "profile openid"]).browserScopes(asking: ["x"]) == ["openid", "x"])
        // There the type asks for it.
        let document = "https://id.example.org/.well-known/openid-configuration"
        let typed = try profile([
            "AuthServerType": "OpenIDConnect10", "OAuthScope": nil, "OpenIDConnectDiscoveryURL": document,
        ])
        #expect(typed.isImplicit && typed.browserScopes() == ["openid"])
    }

    @Test("the client proves nothing and the token is not remembered, and no key can be bound to it")
    func proof() throws {
        let given = try profile([
            "OAuthClientSecret": "cred:a", "OAuthTokenEndpoint": "https://id.example.org/t", "RememberTokens": "true",
            "OAuthClientAuthMethod": "client_secret_basic",
        ])
        #expect(given.clientProof.method == .none && given.oauthClientSource == nil && !given.remembersTokens)
        for key in [ProfileKey.oauthClientSecret, .oauthTokenEndpoint, .rememberTokens, .oauthClientAuthMethod] {
            #expect(given.effect(of: key) == .none, "\(key)")
        }
        #expect(given.effect(of: .oauthRedirectEndpoint) == .acts && given.effect(of: .tokenRelease) == .acts)
        for bound in ["dpop", "mtls"] {
            #expect(throws: AuthError.profile(.implicitBinding)) {
                _ = try profile(["OAuthSenderConstraint": bound, "ClientCertificate": "identity:a"])
            }
        }
        #expect(try profile(["OAuthSenderConstraint": "none"]).senderConstraint == .none)
    }
}
