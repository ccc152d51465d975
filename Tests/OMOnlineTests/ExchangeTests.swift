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
        let grant = try await exchange("su.b", actor: "ac+t", all, at: trace.url("/token/exchanged"), scopes: ["a", "x"])
        _ = try await exchange("t", try #require(TokenExchange()), at: trace.url("/token/exchanged"))
        _ = try await exchange("<a/>", try #require(TokenExchange(subjectType: "saml2")), at: trace.url("/token/exchanged"))
        let prefix = "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3A"
        let grantType = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange"
        let wanted = "requested_token_type=\(prefix)access_token"
        #expect(
            try trace.seen().map(\.body) == [
                "\(grantType)&resource=https%3A%2F%2Fapi.example%2Fa%3Fb&audience=cal%2B1&scope=a%20x&\(wanted)"
                    + "&subject_token=su.b&subject_token_type=\(prefix)id_token&actor_token=ac%2Bt"
                    + "&actor_token_type=urn%3Aexample%3Atype",
                "\(grantType)&\(wanted)&subject_token=t&subject_token_type=\(prefix)access_token",
                "\(grantType)&\(wanted)&subject_token=PGEvPg&subject_token_type=\(prefix)saml2",
            ])
        // The server's scopes are an array, and its refresh token is not kept.
        #expect(grant.scopes.names == ["a", "b"] && grant.lifetime == 60)
        #expect(try grant.newSession().tokens().refresh == nil)
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

    @Test("a token with a blank, a line break or no byte is not sent")
    func unusable() async throws {
        let trace = try await Trace(), asked = try #require(TokenExchange(actorType: "jwt"))
        for (subject, actor) in [("", "a"), ("a b", "a"), ("a\n", "a"), ("\u{e9}", "a"), ("a", "")] {
            let found = await refusal { () async throws(OnlineRefusal) in
                try await exchange(subject, actor: actor, asked, at: trace.url("/token/exchanged"))
            }
            #expect(found == .failed(.unusableAssertion))
        }
        #expect(try trace.seen().isEmpty)
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
