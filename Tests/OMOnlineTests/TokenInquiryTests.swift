// Questions about a token, at an issuer whose answers the test writes. docs/reference/online.md, "Questions about a token".

import Foundation
import NIOHTTP1
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("Questions about a token") struct TokenInquiryTests {
    private func provider(_ issuer: Issuer, scopes: [String] = ["openid"]) -> OAuthProvider {
        let oauth = issuer.service(scopes: scopes, BrowserLogin(redirect: "http://127.0.0.1/cb", userClaim: "login"))
        return OAuthProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth)
    }

    private static func session(subject: String? = "s-1") throws -> SecretBytes {
        try ServerSession.tokens(
            .init(access: "at-1", refresh: "rt-1", issued: 0, lifetime: 1, scopes: ["openid"], subject: subject)
        ).sealable()
    }

    private static func told(
        _ body: sending () async throws(OnlineRefusal) -> OnlineGrant
    ) async -> String {
        do throws(OnlineRefusal) {
            var grant = try await body()
            return grant.takeClaims()?.text ?? "none"
        } catch { return "\(error)" }
    }

    private func userInfo(_ issuer: Issuer, scopes: [String] = ["openid"], subject: String? = "s-1") async throws -> String {
        let provider = provider(issuer, scopes: scopes)
        return await Self.told { () async throws(OnlineRefusal) in
            guard let session = try? Self.session(subject: subject) else { throw .failed(.helper) }
            return try await provider.userInfo(session)
        }
    }

    private func introspection(_ issuer: Issuer, secret: String = "s:e") async throws -> String {
        let provider = provider(issuer)
        return await Self.told { () async throws(OnlineRefusal) in
            guard let session = try? Self.session() else { throw .failed(.helper) }
            return try await provider.introspect(session, clientSecret: bytes(secret))
        }
    }

    @Test("claims of the session's user come as they are, and those of another user do not come")
    func claims() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        try await issuer.tell("user", .init("\u{FEFF}{\"sub\": \"s-1\", \"n\": 1.50, \"l\": [null, {\"a\": true}]}"))
        #expect(try await userInfo(issuer) == #"{"l":[null,{"a":true}],"n":1.50,"sub":"s-1"}"#)
        let seen = try #require(try issuer.asked().last)
        #expect(seen.target == "/told/user" && seen.fields["authorization"] == "Bearer at-1")
        let other = "\(OnlineRefusal.failed(.otherSubject))"
        for (body, expected) in [
            (#"{"sub":"s-2"}"#, other), (#"{"sub":1}"#, other), (#"{"name":"ada"}"#, other),
            (#"{"sub":"s-1"}"#, #"{"sub":"s-1"}"#),
        ] {
            try await issuer.tell("user", .init(body))
            #expect(try await userInfo(issuer) == expected, "\(body)")
        }
        // Without OpenID Connect `sub` may be missing. Then `id` says who it is, else the name, as at the login.
        for (body, subject, isOfUser) in [
            (#"{"id":7,"login":"ada"}"#, "7", true), (#"{"id":8,"login":"ada"}"#, "7", false),
            (#"{"id":7,"login":"ada"}"#, "ada", false), (#"{"login":"ada"}"#, "7", false),
            (#"{"login":"ada"}"#, "ada", true), (#"{"login":"bob"}"#, "ada", false), (#"{"mail":"ada"}"#, "ada", false),
            (#"{"id":"s-2","sub":"s-1"}"#, "s-1", true), (#"{"id":"s-1","sub":"s-2"}"#, "s-1", false),
        ] {
            try await issuer.tell("user", .init(body))
            #expect(try await userInfo(issuer, scopes: ["x"], subject: subject) == (isOfUser ? body : other), "\(body)")
        }
        // A login with a password has named no user.
        try await issuer.tell("user", .init(#"{"sub":"s-2"}"#))
        #expect(try await userInfo(issuer, scopes: ["x"], subject: nil) == #"{"sub":"s-2"}"#)
        #expect(try await userInfo(issuer, scopes: ["x"]) == other)
    }

    @Test("a refused token, an answer without an object and a missing endpoint have refusals that end no session")
    func refusals() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        for (answer, expected) in [
            (Issuer.Told("no", status: 401), OnlineRefusal.failed(.tokenRefused, status: 401)),
            (.init("no", status: 403), .failed(.tokenRefused, status: 403)),
            (.init("[]"), .failed(.unexpectedAnswer)), (.init("eyJ.eyJ.x"), .failed(.unexpectedAnswer)),
            (.init("{\"a\":1", status: 200), .failed(.unexpectedAnswer)),
            (.init("", status: 500), .failed(.serverError, status: 500)),
            (.init("", status: 302, fields: ["Location: /elsewhere"]), .failed(.redirected, status: 302)),
            (.init("{\"x\":\"\(String(repeating: "y", count: 64 << 10))\"}"), .failed(.answerTooLarge)),
        ] {
            try await issuer.tell("user", answer)
            #expect(try await userInfo(issuer) == "\(expected)")
            #expect(!expected.endsSession)
        }
        try await issuer.publish(["userinfo_endpoint": NSNull()])
        #expect(try await userInfo(issuer) == "\(OnlineRefusal.failed(.noEndpoint))")
        try await issuer.publish(["userinfo_endpoint": "https://elsewhere.example/user"])
        #expect(try await userInfo(issuer) == "\(OnlineRefusal.failed(.foreignEndpoint))")
    }

    @Test("the introspection has the client's proof; an active token's claims come, and an inactive token is refused")
    func introspected() async throws {
        let issuer = try await Issuer()
        let endpoint = ["introspection_endpoint": issuer.url("introspect")]
        try await issuer.publish(endpoint)
        try await issuer.tell("introspect", .init(#"{"active":true,"exp":1764300000.5,"scope":"a b"}"#))
        #expect(try await introspection(issuer) == #"{"active":true,"exp":1764300000.5,"scope":"a b"}"#)
        let seen = try #require(try issuer.asked().last)
        #expect(seen.body == "token=at-1&token_type_hint=access_token")
        #expect(seen.fields["authorization"] == "Basic " + Data("native:s%3Ae".utf8).base64EncodedString())
        try await issuer.publish([
            "introspection_endpoint": issuer.url("introspect"),
            "introspection_endpoint_auth_methods_supported": ["client_secret_post"],
        ])
        _ = try await introspection(issuer, secret: "s")
        #expect(
            try issuer.asked().last?.body == "token=at-1&token_type_hint=access_token&client_id=native&client_secret=s")
        for (answer, expected) in [
            (Issuer.Told(#"{"active":false,"sub":"s-1"}"#), OnlineRefusal.failed(.inactiveToken)),
            (.init(#"{"active":"true"}"#), .failed(.unexpectedAnswer)), (.init("{}"), .failed(.unexpectedAnswer)),
            (.init("", status: 401), .failed(.invalidClient, status: 401)),
            (.init(#"{"error":"invalid_client"}"#, status: 401), .failed(.invalidClient, status: 401)),
            (.init(#"{"error":"invalid_grant"}"#, status: 400), .failed(.unexpectedAnswer, status: 400)),
            (.init(#"{"error":"access_denied"}"#, status: 403), .failed(.invalidClient, status: 403)),
            (.init("", status: 503), .unreachable(.gateway)),
        ] {
            try await issuer.tell("introspect", answer)
            #expect(try await introspection(issuer) == "\(expected)", "\(answer.body)")
            #expect(!expected.endsSession)
        }
        try await issuer.publish()
        #expect(try await introspection(issuer) == "\(OnlineRefusal.failed(.noEndpoint))")
    }

    @Test("a redirect of an endpoint that gets a token is not followed", arguments: [302, 307, 308])
    func redirects(_ status: Int) async throws {
        let issuer = try await Issuer()
        try await issuer.publish([
            "introspection_endpoint": issuer.url("introspect"), "revocation_endpoint": issuer.url("revoke"),
        ])
        let moved = Issuer.Told("", status: status, fields: ["Location: \(issuer.url("elsewhere"))"])
        for path in ["introspect", "revoke", "token"] { try await issuer.tell(path, moved) }
        let expected = "\(OnlineRefusal.failed(.redirected, status: UInt16(status)))"
        #expect(try await introspection(issuer) == expected)
        let provider = provider(issuer), secret = bytes("s:e"), session = try Self.session()
        let revocable = try ServerSession.tokens(
            .init(access: "at-1", refresh: "rt-1", issued: 0, lifetime: 1, scopes: [], revocation: issuer.url("revoke"))
        ).sealable()
        let refused = [
            await Self.told { () async throws(OnlineRefusal) in try await provider.refresh(session, clientSecret: secret) },
            await Self.told { () async throws(OnlineRefusal) in try await provider.logOut(revocable, clientSecret: secret) },
        ]
        #expect(refused == [expected, expected])
        let seen = try issuer.asked()
        #expect(seen.count { $0.body.contains("rt-1") || $0.body.contains("at-1") } == 3)
        #expect(seen.allSatisfy { $0.target != "/told/elsewhere" })
    }

    @Test("a life in any form counts, and a token without one gets an hour")
    func life() throws {
        for (member, expected) in [
            ("", 3_600), (",\"expires_in\":null", 3_600), (",\"expires_in\":\"soon\"", 3_600), (",\"expires_in\":[1]", 3_600),
            (",\"expires_in\":-1", 0), (",\"expires_in\":0", 0), (",\"expires_in\":1e99", 315_360_000),
            (",\"expires_in\":\"3600\"", 3_600), (",\"expires_in\":\"inf\"", 3_600), (",\"expires_in\":59.9", 59),
        ] as [(String, UInt32)] {
            let body = Array("{\"access_token\":\"a\"\(member)}".utf8)
            let said = try TokenResponse(HTTPResponse(status: 200, headers: [:], body: body), sendsPassword: false)
            #expect(said.lifetime == expected, "\(member)")
        }
    }
}
