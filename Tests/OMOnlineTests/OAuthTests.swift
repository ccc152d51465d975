// OAuth 2.0's resource owner grant against glewlwyd, and against a server with other habits. docs/reference/online.md, "OAuth".

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("OAuth 2.0, resource owner") struct OAuthTests {
    private func odd() async throws -> Server { try await Server.odd.value }

    private func token(_ server: Server, _ name: String, _ revocation: String? = nil) -> OAuthService.Endpoint {
        .token(
            server.url("/token/\(name)", "http", scheme: "http"),
            revocation: revocation.map { server.url("/token/\($0)", "http", scheme: "http") })
    }

    private func token(_ trace: Trace, _ name: String, _ revocation: String? = nil) -> OAuthService.Endpoint {
        .token(trace.url("/token/\(name)"), revocation: revocation.map { trace.url("/token/\($0)") })
    }

    @Test(
        "a discovery document with a member of another type, or with a repeated member, is refused",
        arguments: [
            "\"revocation_endpoint\":5", "\"token_endpoint_auth_methods_supported\":\"client_secret_post\"",
            "\"token_endpoint_auth_methods_supported\":[\"client_secret_post\",1]",
            "\"revocation_endpoint_auth_methods_supported\":{}", "\"issuer\":\"https://a.example\"", "\"x\":01",
        ])
    func discoveryTypes(member: String) throws {
        let address = try #require(EndpointURL(reading: "https://a.example/.well-known/openid-configuration"))
        func read(_ more: String) throws -> OAuthEndpoints {
            let text = "{\"issuer\":\"https://a.example\",\"token_endpoint\":\"https://a.example/t\"\(more)}"
            return try DiscoveryDocument(
                Array(text.utf8), from: address, of: OAuthService(.discovery(address.text), clientID: "c")
            ).endpoints()
        }
        #expect(try read("").revocation == nil && read(",\"revocation_endpoint\":null").revocation == nil)
        #expect(throws: OnlineRefusal.failed(.unexpectedAnswer)) { try read("," + member) }
    }

    @Test("glewlwyd gives discovery, login, refresh and revocation, and refuses a wrong password, client or user")
    func glewlwyd() async throws {
        let server = try await Server.glewlwyd.value
        let discovery = OAuthService.Endpoint.discovery(server["issuer"] + "/.well-known/openid-configuration")
        let provider = oauth(discovery, client: "omvault", scopes: ["openid", "profile"])
        let secret = bytes("omvault-secret")

        let grant = try await provider.logIn("alice", password: bytes("correct horse 42"), clientSecret: secret)
        #expect(grant.lifetime == 3600)
        // TLS did not authenticate its clock.
        #expect(grant.serverTime == nil)
        let session = try grant.newSession()
        let first = try session.tokens()
        #expect(first.refresh != nil && first.revocation?.hasSuffix("/revoke") == true)
        #expect(await provider.refusal("bob", "p&=+%:; ü", secret: "omvault-secret") == nil)

        // This server answers only 403 to each of these.
        for (user, password) in [("alice", "wrong"), ("nobody", "correct horse 42"), ("dora", "disabled here")] {
            #expect(await provider.refusal(user, password, secret: "omvault-secret") == .forbidden(.status), "\(user)")
        }
        let client = await provider.refusal(secret: "another")
        #expect(client == .failed(.unnamedOAuthError, status: 400))

        let renewed = try await provider.refresh(session, clientSecret: secret).newSession()
        let second = try renewed.tokens()
        #expect(second.access != first.access && second.refresh != first.refresh)
        let spent = await refusal { () async throws(OnlineRefusal) in
            try await provider.refresh(session, clientSecret: secret)
        }
        #expect(spent != nil)
        _ = try await provider.logOut(renewed, clientSecret: secret)
        let revoked = await refusal { () async throws(OnlineRefusal) in
            try await provider.refresh(renewed, clientSecret: secret)
        }
        #expect(revoked != nil)
    }

    /// Table of docs/reference/online.md.
    private static let answers: [(name: String, refusal: OnlineRefusal?)] = [
        ("plain", nil), ("quoted", nil), ("bare", nil), ("short", nil),
        ("invalid-grant", .rejected), ("unauthorized", .rejected),
        ("disabled", .blocked), ("azure-disabled", .blocked), ("named-disabled", .failed(.invalidGrant, status: 400)),
        ("not-set-up", .failed(.invalidGrant, status: 400)), ("bare-grant", .rejected),
        ("denied", .forbidden(.accessDenied)), ("denied-401", .rejected), ("own-word", .rejected),
        ("own-word-400", .failed(.otherOAuthError, status: 400)),
        ("invalid-client", .failed(.invalidClient, status: 401)),
        ("unauthorized-client", .failed(.unauthorizedClient, status: 400)),
        ("invalid-scope", .failed(.invalidScope, status: 400)),
        ("invalid-request", .failed(.invalidRequest, status: 400)),
        ("no-grant", .failed(.unsupportedGrant, status: 400)),
        ("odd-error", .failed(.unnamedOAuthError, status: 400)),
        ("busy", .unreachable(.gateway)), ("busy-400", .unreachable(.gateway)),
        ("busy-later", .failed(.temporarilyUnavailable, status: 400, retryAfter: 5)),
        ("words", .rejected), ("more-words", .failed(.invalidRequest, status: 400)),
        ("failure", .rejected), ("more-failure", .failed(.invalidGrant, status: 400)),
        ("failure-request", .failed(.invalidRequest, status: 400)),
        ("limit", .failed(.tooManyRequests, status: 429)), ("broken", .failed(.serverError, status: 500)),
        ("speechless", .failed(.oauthServerError, status: 500)),
        ("html", .failed(.unexpectedAnswer, status: 200)), ("mac", .failed(.unexpectedAnswer, status: 200)),
        ("list", .failed(.unexpectedAnswer, status: 200)), ("number", .failed(.unexpectedAnswer, status: 200)),
        ("empty", .failed(.unexpectedAnswer, status: 200)),
        ("big", .failed(.answerTooLarge)), ("moved", .failed(.redirected, status: 307)),
    ]

    @Test("every answer of a token endpoint has its outcome", arguments: 0..<answers.count)
    func outcome(_ index: Int) async throws {
        let (name, expected) = Self.answers[index]
        #expect(try await oauth(token(odd(), name)).refusal() == expected, "\(name)")
    }

    @Test("missing parts of an answer get defaults: the requested scopes, no refresh token, and then no end")
    func quirks() async throws {
        let server = try await odd()
        let bare = try await oauth(token(server, "bare"), scopes: ["x", "y"]).session().tokens()
        #expect(bare.scopes == ["x", "y"] && bare.lifetime == 315_360_000 && bare.refresh == nil && bare.revocation == nil)
        #expect(bare.isAlive(bare.issued + 315_359_999) && !bare.isAlive(bare.issued + 315_360_000))
        let quoted = try await oauth(token(server, "quoted")).session().tokens()
        #expect(quoted.lifetime == 3600)
        #expect(quoted.isAlive(quoted.issued + 3599) && !quoted.isAlive(quoted.issued + 3600))
        #expect(!quoted.isAlive(quoted.issued - 1))
        let plain = try await oauth(token(server, "plain"), scopes: ["x"]).session().tokens()
        #expect(plain.scopes == ["a", "b"])
    }

    @Test("the form carries any password as its bytes, and a secret goes into the header or the place that the server names")
    func whatIsSent() async throws {
        let trace = try await Trace()
        let discovery = { (tenant: String) in
            OAuthService.Endpoint.discovery(trace.url("/\(tenant)/.well-known/openid-configuration"))
        }
        #expect(await oauth(token(trace, "plain"), scopes: ["a", "b"]).refusal("bob", "p&=+% ü") == nil)
        let noText = SecretBytes(copying: [0xFF, 0x26, 0x00])
        _ = try await oauth(token(trace, "plain"), domain: .init("acme")).logIn(
            "bob", password: noText, clientSecret: bytes(""))
        #expect(await oauth(token(trace, "plain"), client: "a b", header: true).refusal() == nil)
        #expect(await oauth(token(trace, "plain"), client: "id").refusal(secret: "s:1") == nil)
        #expect(await oauth(discovery("post"), client: "id").refusal(secret: "s:1") == nil)
        let seen = try trace.seen().filter { $0.method == "POST" }
        #expect(
            seen.map(\.body) == [
                "grant_type=password&username=bob&password=p%26%3D%2B%25%20%C3%BC&scope=a%20b&client_id=native",
                "grant_type=password&username=acme.bob&password=%FF%26%00&client_id=native",
                "grant_type=password&username=alice&password=correct%20horse%2042&client_id=a%20b",
                "grant_type=password&username=alice&password=correct%20horse%2042",
                "grant_type=password&username=alice&password=correct%20horse%2042&client_id=id&client_secret=s%3A1",
            ])
        #expect(
            seen.map { $0.fields["authorization"] } == [nil, nil, "Basic YSUyMGI6", "Basic aWQ6cyUzQTE=", nil])
        #expect(seen.allSatisfy { $0.fields["content-type"] == "application/x-www-form-urlencoded" })
    }

    @Test(
        "a client authenticates at the revocation by that endpoint's own list, else by the token endpoint's list",
        arguments: [
            ("/post", nil, "client_id=id&client_secret=s%3A1"), ("/post-basic", "Basic aWQ6cyUzQTE=", ""),
            ("", "Basic aWQ6cyUzQTE=", ""),
        ] as [(String, String?, String)])
    func revocationClient(_ row: (tenant: String, header: String?, body: String)) async throws {
        let trace = try await Trace(), secret = bytes("s:1")
        let endpoint = OAuthService.Endpoint.discovery(trace.url("\(row.tenant)/.well-known/openid-configuration"))
        let provider = oauth(endpoint, client: "id")
        let first = try await provider.session(secret: "s:1")
        // A refresh keeps the same parts.
        let session = try await provider.refresh(first, clientSecret: secret).newSession()
        _ = try trace.seen()
        _ = try await provider.logOut(session, clientSecret: secret)
        let seen = try trace.seen()
        #expect(seen.map { $0.fields["authorization"] } == [row.header, row.header])
        let tail = row.body.isEmpty ? "" : "&" + row.body
        #expect(
            seen.map(\.body) == [
                "token=rt-2&token_type_hint=refresh_token" + tail, "token=at-2&token_type_hint=access_token" + tail,
            ])
    }

    @Test("a logout without a usable revocation address is reported, and asks no server")
    func nowhereToRevoke() async throws {
        for tenant in ["/silent", "/unsafe-revocation"] {
            let trace = try await Trace()
            let provider = oauth(.discovery(trace.url("\(tenant)/.well-known/openid-configuration")))
            let session = try await provider.session()
            _ = try trace.seen()
            let untold = await refusal { () async throws(OnlineRefusal) in
                try await provider.logOut(session, clientSecret: bytes(""))
            }
            #expect(untold == .failed(.noLogout), "\(tenant)")
            #expect(try trace.seen().isEmpty, "\(tenant)")
        }
    }

    @Test("a discovery document counts only for its own issuer, and never leads to http elsewhere")
    func discovery() async throws {
        let server = try await odd()
        func refusal(_ tenant: String) async -> OnlineRefusal? {
            await oauth(
                .discovery(server.url("\(tenant)/.well-known/openid-configuration", "http", scheme: "http"))
            ).refusal()
        }
        #expect(await refusal("") == nil)
        #expect(await refusal("/tenant-a") == nil)
        for tenant in ["/wrong-issuer", "/other-tenant", "/unsafe"] {
            #expect(await refusal(tenant) == .failed(.untrustedDiscovery), "\(tenant)")
        }
        #expect(await refusal("/nothing") == .failed(.unexpectedAnswer))
        let elsewhere = oauth(.discovery(server.url("/login", "http", scheme: "http")))
        #expect(await elsewhere.refusal() == .failed(.untrustedDiscovery, status: 401))
    }

    @Test("a refresh without a new refresh token keeps the old one, and a spent one ends the session")
    func refresh() async throws {
        let server = try await odd()
        let none = bytes("")
        let keeping = oauth(token(server, "keeps"))
        let session = try await keeping.session()
        let renewed = try await keeping.refresh(session, clientSecret: none).newSession().tokens()
        #expect(renewed.refresh == "rt-1" && renewed.access == "at-2")
        let changing = oauth(token(server, "plain"))
        let changed = try await changing.refresh(session, clientSecret: none).newSession().tokens()
        #expect(changed.refresh == "rt-2")

        let spent = oauth(token(server, "first-only"))
        let old = try await spent.session()
        let refreshed = await refusal { () async throws(OnlineRefusal) in
            try await spent.refresh(old, clientSecret: none)
        }
        #expect(refreshed == .failed(.invalidGrant, status: 400))
        let checked = await refusal { () async throws(OnlineRefusal) in try await spent.check(old, clientSecret: none) }
        #expect(checked == .rejected)
    }

    @Test("a check asks no server about a living session, and renews or ends a dead one")
    func check() async throws {
        let server = try await odd(), trace = try await Trace()
        let none = bytes("")
        let living = try await oauth(token(trace, "plain")).session()
        _ = try trace.seen()
        let isAnew = try await oauth(token(trace, "plain")).check(living, clientSecret: none).hasSession()
        #expect(!isAnew)
        #expect(try trace.seen().isEmpty)
        let dead = try await oauth(token(trace, "short")).session()
        let renewed = try await oauth(token(trace, "keeps")).check(dead, clientSecret: none).newSession().tokens()
        #expect(renewed.access == "at-2")
        let gone = await refusal { () async throws(OnlineRefusal) in
            try await oauth(.token("http://127.0.0.1:\(server["closed"])/", revocation: nil)).check(
                dead, clientSecret: none)
        }
        // The caller's session is as valid as before.
        #expect(gone == .unreachable(.refused))
    }

    @Test(
        "a logout revokes both tokens, the refresh token first, and a server without revocation is reported"
    )
    func revocation() async throws {
        let trace = try await Trace()
        let none = bytes("")
        for (place, expected) in [("revoke", nil), ("revoke-unsupported", nil)] as [(String, OnlineRefusal?)] {
            let provider = oauth(token(trace, "plain", place))
            let session = try await provider.session()
            _ = try trace.seen()
            let got = await refusal { () async throws(OnlineRefusal) in
                try await provider.logOut(session, clientSecret: none)
            }
            #expect(got == expected)
            #expect(
                try trace.seen().map(\.body) == [
                    "token=rt-1&token_type_hint=refresh_token&client_id=native",
                    "token=at-1&token_type_hint=access_token&client_id=native",
                ])
        }
        let failing = oauth(token(trace, "plain", "invalid-client"))
        let session = try await failing.session()
        let got = await refusal { () async throws(OnlineRefusal) in
            try await failing.logOut(session, clientSecret: none)
        }
        #expect(got == .failed(.invalidClient, status: 401))
        let silent = oauth(token(trace, "plain"))
        let kept = try await silent.session()
        _ = try trace.seen()
        let untold = await refusal { () async throws(OnlineRefusal) in try await silent.logOut(kept, clientSecret: none) }
        #expect(untold == .failed(.noLogout))
        #expect(try trace.seen().isEmpty)
    }
}
