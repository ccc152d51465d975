// Logins by the implicit grant, from the address that is shown to the session, at an issuer whose answers the test writes.

import Foundation
import OMCrypto
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("A login by the implicit grant") struct ImplicitLoginTests {
    private func service(
        _ issuer: Issuer, scopes: [String] = ["openid"], _ browser: BrowserLogin = BrowserLogin(redirect: "http://127.0.0.1/cb"),
        _ proof: ClientProof = ClientProof(.none)
    ) -> OAuthService {
        OAuthService(
            .discovery(issuer.url(".well-known/openid-configuration")), clientID: "native", scopes: scopes, grant: .implicit,
            issuer: issuer.name, browser: browser, proof: proof)
    }

    private func logIn(
        _ oauth: OAuthService, _ person: Person, user: String? = nil, listening: [Int32]? = nil
    ) async throws -> OnlineGrant {
        let provider = BrowserLoginProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth)
        return try await provider.logInByImplicitGrant(
            listening: try listening ?? [Raw.listen().socket], user: user, with: person)
    }

    private func refusal(_ oauth: OAuthService, _ person: Person, user: String? = nil) async throws -> OnlineRefusal? {
        do {
            _ = try await logIn(oauth, person, user: user)
            return nil
        } catch let error as OnlineRefusal { return error }
    }

    /// A person whose browser plays the script of the page: it posts the fragment to the address of the page.
    ///
    /// - Parameter change: Changes the claims of an ID token that is right otherwise. It gives nil for no ID token.
    private func person(
        _ issuer: Issuer, more: String = "", _ change: @escaping @Sendable (Claims) -> Claims? = { $0 }
    ) -> Person {
        Person { step, _ in
            let opened = try Opened(step)
            try await Self.play(try Self.fragment(opened, issuer, change) + more, opened)
        }
    }

    private static func fragment(
        _ opened: Opened, _ issuer: Issuer, _ change: (Claims) -> Claims? = { $0 }
    ) throws -> String {
        let claims = try Claims(issuer: issuer.name, nonce: opened["nonce"]).with(
            "at_hash", "\"\(#require(IDToken.hash(of: "at-1", .es256)))\"")
        let token = try change(claims).map { "&id_token=\(try SigningKey.p256.token($0))" } ?? ""
        return "access_token=at-1&token_type=bearer&state=\(opened["state"])\(token)"
    }

    private static func play(_ fragment: String, _ opened: Opened) async throws {
        let page = try FragmentScript(await Raw.send(opened.request(""), to: opened.port))
        try #require(page.isAllowed)
        let post =
            "POST /cb HTTP/1.1\r\nHost: \(opened.host)\r\nOrigin: http://\(opened.host)\r\nSec-Fetch-Mode: cors\r\n"
            + "Sec-Fetch-Site: same-origin\r\nContent-Length: \(fragment.utf8.count)\r\n\r\n\(fragment)"
        try #require(await Raw.send(post, to: opened.port).hasPrefix("HTTP/1.1 200"))
    }

    private func revoked(_ issuer: Issuer) throws -> [String] {
        try issuer.asked().filter { $0.target == "/told/revoke" }
            .compactMap { QueryParameters($0.body)?.text("token", longest: 99) }
    }

    @Test("a login asks for exactly what it should, and its session has the token, the user and no refresh token")
    func whole() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let person = person(issuer, more: "&expires_in=60&scope=openid+x&refresh_token=rt-1")
        var grant = try await logIn(service(issuer, scopes: ["openid", "x"]), person, user: "ada")
        #expect(grant.takeIDToken()?.text.split(separator: ".").count == 3)
        #expect(grant.user == NamedUser("ada", subject: "s-1") && grant.scopes.names == ["openid", "x"])
        #expect(grant.serverTime == nil)
        let tokens = try grant.newSession().tokens()
        #expect(tokens.access == "at-1" && tokens.refresh == nil && tokens.unused == nil && tokens.lifetime == 60)
        #expect(tokens.user == "ada" && tokens.subject == "s-1" && tokens.revocation == issuer.url("revoke"))
        let opened = try Opened(#require(person.shown.first))
        #expect(person.shown.count == 1 && person.finished.value)
        #expect(opened.names == ["response_type", "client_id", "redirect_uri", "state", "scope", "nonce"])
        #expect(opened["response_type"] == "id_token token")
        // There is no code, so the token endpoint is not asked.
        #expect(
            try issuer.asked().map { "\($0.method) \($0.target)" } == [
                "GET /told/.well-known/openid-configuration", "GET /told/keys",
            ])
    }

    @Test("the ID token must name the access token, and each other rule of the code flow holds; else the token is revoked")
    func idToken() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let rules: [(name: String, json: String?)] = [
            ("at_hash", nil), ("at_hash", "\"AAAAAAAAAAAAAAAAAAAAAA\""), ("nonce", nil), ("nonce", "\"other\""),
            ("aud", "\"other\""), ("iss", "\"https://other.example\""), ("exp", "1"), ("sub", nil),
        ]
        for (name, json) in rules {
            let person = person(issuer) { $0.with(name, json) }
            #expect(try await refusal(service(issuer), person) == .failed(.unusableIDToken), "\(name)")
            #expect(try revoked(issuer) == ["at-1"], "\(name)")
        }
        #expect(try await refusal(service(issuer), person(issuer) { _ in nil }) == .failed(.unusableIDToken))
        #expect(try await refusal(service(issuer), person(issuer), user: "Ada") == .failed(.otherUser))
        #expect(try revoked(issuer) == ["at-1", "at-1"])
        let bound = Person { step, _ in
            let opened = try Opened(step)
            try await Self.play(Self.fragment(opened, issuer).replacing("bearer", with: "dpop"), opened)
        }
        #expect(try await refusal(service(issuer), bound) == .failed(.tokenBound))
        #expect(try await refusal(service(issuer), person(issuer)) == nil)
    }

    @Test("an ID token is asked for and needed, whatever the scopes are: a token alone may be another client's")
    func alone() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        try await issuer.tell("user", .init("{\"sub\":\"s-1\",\"preferred_username\":\"ada\"}"))
        let person = person(issuer) { _ in nil }
        #expect(try await refusal(service(issuer, scopes: ["x"]), person) == .failed(.unusableIDToken))
        let opened = try Opened(#require(person.shown.first))
        #expect(opened.names == ["response_type", "client_id", "redirect_uri", "state", "scope", "nonce"])
        #expect(opened["response_type"] == "id_token token")
        #expect(try issuer.asked().allSatisfy { $0.target != "/told/user" })
    }

    @Test("a document that does not list the answer is refused before anything is shown; a token endpoint is not needed")
    func document() async throws {
        let issuer = try await Issuer()
        for (types, failure) in [
            (["code"], .unsupportedResponse), (["code", "token"], .unsupportedResponse), ([], .unsupportedResponse),
            (["code token id_token"], .unsupportedResponse), (["token id_token"], nil), (["id_token token", "code"], nil),
        ] as [([String], OnlineFailure?)] {
            try await issuer.publish(["response_types_supported": types, "token_endpoint": NSNull()])
            let person = person(issuer)
            #expect(try await refusal(service(issuer), person) == failure.map { .failed($0) }, "\(types)")
            #expect(person.shown.isEmpty == (failure != nil), "\(types)")
        }
        // No code, so no PKCE.
        try await issuer.publish(["code_challenge_methods_supported": ["plain"]])
        #expect(try await refusal(service(issuer), person(issuer)) == nil)
        try await issuer.publish(["authorization_response_iss_parameter_supported": true])
        #expect(try await refusal(service(issuer), person(issuer)) == .failed(.otherIssuer))
        #expect(try await refusal(service(issuer), person(issuer, more: "&iss=\(issuer.name)")) == nil)
    }

    @Test("a request is pushed without a secret, and the browser gets its name alone")
    func pushed() async throws {
        let issuer = try await Issuer()
        try await issuer.publish(["pushed_authorization_request_endpoint": issuer.url("push")])
        try await issuer.tell("push", .init("{\"request_uri\":\"urn:a:b\",\"expires_in\":60}"))
        let form = Locked("")
        let person = Person { step, _ in
            guard case .open(let address) = step else { throw NoSession() }
            let asked = try issuer.asked().first { $0.target == "/told/push" }
            form.change { $0 = asked?.body ?? "" }
            #expect(address == issuer.url("authorize") + "?client_id=native&request_uri=urn%3Aa%3Ab")
            let opened = try Opened(.open("http://127.0.0.1/?\(asked?.body ?? "")"))
            try await Self.play(Self.fragment(opened, issuer), opened)
        }
        #expect(try await logIn(service(issuer), person).user?.name == "ada")
        #expect(
            try #require(QueryParameters(form.value)).names == [
                "response_type", "client_id", "redirect_uri", "state", "scope", "nonce",
            ])
    }

    @Test("without a document the pages are the profile's, and its own address ends the token")
    func withoutDocument() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let oauth = OAuthService(
            .pages(revocation: issuer.url("revoke")), clientID: "native", scopes: ["openid"], grant: .implicit,
            issuer: issuer.name,
            browser: BrowserLogin(
                redirect: "http://127.0.0.1/cb", authorization: issuer.url("authorize"), keySet: issuer.url("keys")))
        let service = OnlineService(.oauth(oauth), deadlines: patient)
        let port = try #require(EndpointURL(reading: issuer.name)).port
        #expect(service.ports == [UInt16(port)])
        let session = try await logIn(oauth, person(issuer)).newSession()
        #expect(try issuer.asked().map(\.target) == ["/told/keys"])
        _ = try await OAuthProvider(service, oauth).logOut(session, clientSecret: bytes(""))
        let asked = try issuer.asked()
        #expect(asked.map(\.target) == ["/told/revoke"])
        let form = try #require(asked.first.flatMap { QueryParameters($0.body) })
        #expect(form.names == ["token", "token_type_hint", "client_id"] && asked.first?.fields["authorization"] == nil)
        // Nothing can renew it.
        await #expect(throws: OnlineRefusal.self) {
            _ = try await OAuthProvider(service, oauth).refresh(session, clientSecret: bytes(""))
        }
    }

    @Test("a person can paste the address with the fragment; a token in its query, and a refusal, end the login")
    func pasted() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        for (redirect, sockets) in [("com.example.app:/done", []), ("http://127.0.0.1/cb", [])] as [(String, [Int32])] {
            let person = Person(pastes: true) { step, person in
                let opened = try Opened(step)
                person.paste("\(opened["redirect_uri"])#access_token=at-1&state=x")
                person.paste("\(opened["redirect_uri"])#\(try Self.fragment(opened, issuer))\n")
            }
            let oauth = service(issuer, BrowserLogin(redirect: redirect))
            #expect(try await logIn(oauth, person, listening: sockets).user?.name == "ada")
        }
        let inQuery = Person { step, _ in
            let opened = try Opened(step)
            _ = try await Raw.send(opened.request(Self.fragment(opened, issuer)), to: opened.port)
        }
        #expect(try await refusal(service(issuer), inQuery) == .failed(.tokenInQuery))
        let denied = Person { step, _ in
            let opened = try Opened(step)
            _ = try await Raw.send(opened.request("error=access_denied&state=\(opened["state"])"), to: opened.port)
        }
        #expect(try await refusal(service(issuer), denied) == .forbidden(.accessDenied))
    }
}
