// Token exchange (RFC 8693): the exact request, and what each answer means. docs/reference/online.md, "Token exchange".

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("Token exchange") struct ExchangeTests {
    private func provider(_ endpoint: OAuthService.Endpoint, scopes: [String] = []) -> OAuthProvider {
        let kind = OAuthService(endpoint, clientID: "native", scopes: scopes, grant: .tokenExchange)
        return OAuthProvider(OnlineService(.oauth(kind), deadlines: patient), kind)
    }

    private func exchange(
        _ subject: String, actor: String = "", _ asked: TokenExchange, at url: String, scopes: [String] = []
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let subject = bytes(subject), actor = bytes(actor), secret = bytes("s")
        return try await provider(.token(url, revocation: nil), scopes: scopes)
            .exchange(subject, actor: actor, for: asked, clientSecret: secret)
    }

    @Test("the request is that of RFC 8693, to the byte")
    func request() async throws {
        let trace = try await Trace()
        let all = try #require(
            TokenExchange(
                subjectType: "id_token", actorType: "urn:example:type", resource: "https://api.example/a?b",
                audience: "cal 1"
                    .replacing(" ", with: "+")))
        let grant = try await exchange("su.b.j", actor: "ac+t", all, at: trace.url("/token/exchanged"), scopes: ["a", "x"])
        _ = try await exchange("t", try #require(TokenExchange()), at: trace.url("/token/exchanged"))
        _ = try await exchange("<a/>", try #require(TokenExchange(subjectType: "saml2")), at: trace.url("/token/exchanged"))
        let prefix = "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3A"
        let grantType = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
        let wanted = "requested_token_type=\(prefix)access_token"
        #expect(
            try trace.seen().map(\.body) == [
                "\(grantType)&resource=https%3A%2F%2Fapi.example%2Fa%3Fb&audience=cal%2B1&scope=a%20x&\(wanted)"
                    + "&subject_token=su.b.j&subject_token_type=\(prefix)id_token&actor_token=ac%2Bt"
                    + "&actor_token_type=urn%3Aexample%3Atype",
                "\(grantType)&\(wanted)&subject_token=t&subject_token_type=\(prefix)access_token",
                "\(grantType)&\(wanted)&subject_token=PGEvPg&subject_token_type=\(prefix)saml2",
            ])
        // The server's scopes are an array, and its refresh token is only revoked.
        #expect(grant.scopes.names == ["a", "b"] && grant.lifetime == 60)
        let tokens = try grant.newSession().tokens()
        #expect(tokens.refresh == nil && tokens.unused == "rt-1")
    }

    private static let answers: [(name: String, refusal: OnlineRefusal?)] = [
        ("exchanged", nil), ("exchanged-jwt", nil), ("plain", nil),
        // Another token than an access token, whatever the server calls it.
        ("exchanged-refresh", .failed(.unexpectedAnswer, status: 200)),
        ("exchanged-number", .failed(.unexpectedAnswer, status: 200)),
        ("not-applicable", .failed(.unexpectedAnswer, status: 200)),
        ("mac", .failed(.unexpectedAnswer, status: 200)), ("no-target", .failed(.invalidTarget, status: 400)),
        ("invalid-grant", .failed(.assertionRefused, status: 400)), ("invalid-request", .failed(.invalidRequest, status: 400)),
        ("no-grant", .failed(.unsupportedGrant, status: 400)), ("invalid-client", .failed(.invalidClient, status: 401)),
        ("denied", .forbidden(.accessDenied)), ("moved", .failed(.redirected, status: 307)),
    ]

    @Test("every answer has its outcome", arguments: 0..<answers.count)
    func outcome(_ index: Int) async throws {
        let (name, expected) = Self.answers[index]
        let server = try await Server.odd.value
        let url = server.url("/token/\(name)", "http", scheme: "http"), asked = try #require(TokenExchange())
        let found = await refusal { () async throws(OnlineRefusal) in try await exchange("t", asked, at: url) }
        #expect(found == expected, "\(name)")
    }

    @Test("a token that is not of its type is not sent: a JWT has dots, SAML is XML, and no token is a PEM file")
    func unusable() async throws {
        let trace = try await Trace(), key = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
        var cases = [("", "a.b.c"), ("a b", "a.b.c"), ("a\n", "a.b.c"), ("\u{e9}", "a.b.c"), ("a", ""), ("a", "a"), ("a", key)]
            .map { ("access_token", $0.0, $0.1) }
        let types = ["access_token", "refresh_token", "id_token", "saml1", "saml2", "jwt", "urn:example:type"]
        cases += (types + [TokenExchange.prefix + "saml2"]).map { ($0, key, "a.b.c") }
        cases += [("id_token", "abc", "a.b.c"), ("jwt", "a.b", "a.b.c"), ("saml1", "PGEvPg", "a.b.c")]
        for (type, subject, actor) in cases {
            let asked = try #require(TokenExchange(subjectType: type, actorType: "jwt"))
            let found = await refusal { () async throws(OnlineRefusal) in
                try await exchange(subject, actor: actor, asked, at: trace.url("/token/exchanged"))
            }
            #expect(found == .failed(.unusableAssertion), "\(type)")
        }
        #expect(try trace.seen().isEmpty)
    }

    @Test("tokens of another type than an access token are given back; a refresh token is, together with the access token")
    func givenBack() async throws {
        let trace = try await Trace(), subject = bytes("t"), none = bytes(""), asked = try #require(TokenExchange())
        func provider(_ name: String) -> OAuthProvider {
            self.provider(.token(trace.url("/token/\(name)"), revocation: trace.url("/token/revoke")))
        }
        let found = await refusal { () async throws(OnlineRefusal) in
            try await provider("exchanged-refresh").exchange(subject, actor: none, for: asked, clientSecret: none)
        }
        #expect(found == .failed(.unexpectedAnswer, status: 200))
        #expect(try trace.seen().map(\.target) == ["/token/exchanged-refresh", "/token/revoke"])
        let grant = try await provider("exchanged").exchange(subject, actor: none, for: asked, clientSecret: none)
        // Before its end the session has both: a server may take the access token back with the refresh token.
        #expect(try trace.seen().map(\.target) == ["/token/exchanged"])
        let session = try grant.newSession()
        _ = try? await provider("exchanged").logOut(session, clientSecret: none)
        let revoked = try trace.seen().map { $0.body.prefix(11) }
        #expect(revoked == ["token=rt-1&", "token=at-1&"])
    }

    @Test("a type, a resource and an audience are what a server could take")
    func values() {
        #expect(TokenExchange(subjectType: "jwt")?.subjectType == "urn:ietf:params:oauth:token-type:jwt")
        #expect(TokenExchange(subjectType: "urn:a:b")?.subjectType == "urn:a:b")
        for type in ["", "cookie", "urn:a b", "urn:a#b", ":a", "\u{e9}:a"] { #expect(TokenExchange(subjectType: type) == nil) }
        #expect(TokenExchange(actorType: "x") == nil && TokenExchange(resource: "calendar") == nil)
        #expect(TokenExchange(resource: "https://a.example#b") == nil && TokenExchange(audience: "a b") == nil)
        #expect(TokenExchange(audience: "") == nil && TokenExchange(audience: "calendar") != nil)
        let long = String(repeating: "a", count: TokenExchange.longest + 1)
        #expect(TokenExchange(audience: long) == nil && TokenExchange(audience: String(long.dropLast())) != nil)
    }
}
