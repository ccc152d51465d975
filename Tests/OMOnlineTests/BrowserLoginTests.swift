// Logins by authorization code, from the address that is shown to the session, at an issuer whose answers the test writes.

import Foundation
import Glibc
import OMCrypto
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMOnline

@Suite("A login in a browser") struct BrowserLoginTests {
    private static let tokens = "\"access_token\":\"at-1\",\"token_type\":\"bearer\",\"refresh_token\":\"rt-1\""

    /// - Parameter waits: How long the person takes, by the login's clock. The clock of the machine would depend on its load.
    private func provider(
        _ oauth: OAuthService, trusted: [UInt8]? = nil, waits: Duration = .zero
    ) -> BrowserLoginProvider {
        let looks = Mutex(0)
        let timer = LoginTimer(
            now: {
                looks.withLock { looks in
                    looks += 1
                    return looks > 1 ? waits : .zero
                }
            }, sleep: { _ in })
        return BrowserLoginProvider(
            OnlineService(.oauth(oauth), trusted: trusted, deadlines: patient), oauth, timer: timer)
    }

    /// A person whose browser brings the code, after the issuer has a token answer for it.
    private func person(
        _ issuer: Issuer, code: String = "c-1", query: String = "", by key: SigningKey = .p256, keyID: String? = nil,
        more: String = "", _ change: @escaping @Sendable (Claims) -> Claims = { $0 }
    ) -> Person {
        Person { step, _ in
            let opened = try Opened(step)
            let claims = Claims(issuer: issuer.name, nonce: opened["nonce"])
            let token = try key.token(change(claims), keyID: keyID)
            try await issuer.tell("token", .init("{\(Self.tokens),\"id_token\":\"\(token)\"\(more)}"))
            let answer = try await Raw.send(
                opened.request("code=\(code)&state=\(opened["state"])\(query)"), to: opened.port)
            try #require(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        }
    }

    private func logIn(
        _ oauth: OAuthService, _ person: Person, user: String? = nil, secret: String = "", listening: [Int32]? = nil
    ) async throws -> OnlineGrant {
        let sockets = try listening ?? [Raw.listen().socket]
        return try await provider(oauth).logIn(
            listening: sockets, user: user, clientSecret: bytes(secret), with: person)
    }

    private func refusal(
        _ oauth: OAuthService, _ person: Person, user: String? = nil, secret: String = ""
    ) async throws -> OnlineRefusal? {
        do {
            _ = try await logIn(oauth, person, user: user, secret: secret)
            return nil
        } catch let error as OnlineRefusal { return error }
    }

    @Test("the time that the person takes does not shorten the token's life, which the caller counts from the question")
    func life() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let oauth = issuer.service(scopes: ["openid"])
        let grant = try await provider(oauth, waits: .seconds(150)).logIn(
            listening: [Raw.listen().socket], user: nil, clientSecret: bytes(""),
            with: person(issuer, more: ",\"expires_in\":60"))
        #expect(grant.lifetime == 210)
    }

    @Test("a login asks for exactly what it should, and its session has the tokens and the user")
    func whole() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let person = person(issuer, code: "c%201", more: ",\"expires_in\":\"60\",\"scope\":[\"openid\",\"x\"]")
        var grant = try await logIn(issuer.service(scopes: ["openid", "x"]), person, user: "ada")
        let idToken = grant.takeIDToken()?.text
        #expect(idToken?.split(separator: ".").count == 3)
        #expect(grant.user == NamedUser("ada", subject: "s-1") && grant.lifetime == 60)
        #expect(grant.scopes.names == ["openid", "x"] && grant.serverTime == nil)
        let tokens = try grant.newSession().tokens()
        #expect(tokens.user == "ada" && tokens.subject == "s-1" && tokens.access == "at-1" && tokens.refresh == "rt-1")
        #expect(tokens.revocation == issuer.url("revoke"))
        #expect(person.shown.count == 1)
        let opened = try Opened(#require(person.shown.first))
        #expect(opened.address.hasPrefix(issuer.url("authorize") + "?"))
        #expect(
            opened.names == [
                "response_type", "response_mode", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method",
                "scope", "nonce",
            ])
        let seen = try issuer.asked()
        #expect(
            seen.map { "\($0.method) \($0.target)" } == [
                "GET /told/.well-known/openid-configuration", "POST /told/token", "GET /told/keys",
            ])
        let form = try #require(QueryParameters(seen[1].body))
        #expect(form.names == ["grant_type", "code", "redirect_uri", "code_verifier", "client_id"])
        #expect(form.text("code", longest: 99) == "c 1" && form.text("redirect_uri", longest: 99) == opened["redirect_uri"])
        let verifier = try #require(form.text("code_verifier", longest: 99))
        #expect(Base64URL.encode(try Digest.of(Array(verifier.utf8), .sha256)) == opened["code_challenge"])
        // The key set's request has no credential.
        #expect(seen[2].fields["authorization"] == nil && seen[2].fields["cookie"] == nil)
    }

    @Test("a confidential client proves itself as at other grants, and a token without a life that can be renewed gets an hour")
    func confidential() async throws {
        let issuer = try await Issuer()
        try await issuer.publish(["token_endpoint_auth_methods_supported": ["client_secret_post"]])
        let grant = try await logIn(issuer.service(), person(issuer), secret: "s:1")
        #expect(grant.lifetime == 3_600)
        let form = try #require(try issuer.asked().first { $0.target == "/told/token" }.flatMap { QueryParameters($0.body) })
        #expect(form.text("client_secret", longest: 9) == "s:1" && form.text("client_id", longest: 9) == "native")
    }

    @Test("without openid the user comes from the userinfo endpoint, and a server without both is not asked")
    func userInfo() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        try await issuer.tell("user", .init("{\"login\":\"ada\",\"id\":7}"))
        let named = issuer.service(scopes: ["x"], BrowserLogin(redirect: "http://127.0.0.1/cb", userClaim: "login"))
        #expect(try await logIn(named, person(issuer)).user == NamedUser("ada", subject: "7"))
        let asked = try #require(try issuer.asked().last)
        #expect(asked.target == "/told/user" && asked.fields["authorization"] == "Bearer at-1")
        // The name can get another owner, the id cannot.
        for (id, subject) in [("\"x7\"", "x7"), ("7.5", "ada"), ("-7", "ada"), ("null", "ada"), ("\"\"", "ada")] {
            try await issuer.tell("user", .init("{\"login\":\"ada\",\"id\":\(id)}"))
            #expect(try await logIn(named, person(issuer)).user == NamedUser("ada", subject: subject), "\(id)")
        }
        for (answer, expected) in [
            (Issuer.Told("no", status: 401), OnlineRefusal.failed(.unexpectedAnswer, status: 401)),
            (Issuer.Told("[]"), .failed(.unexpectedAnswer)), (Issuer.Told("{}"), .failed(.unusableName)),
        ] {
            try await issuer.tell("user", answer)
            #expect(try await refusal(named, person(issuer)) == expected)
            #expect(try revoked(issuer) == ["rt-1", "at-1"])
        }
        try await issuer.publish(["userinfo_endpoint": NSNull()])
        // A server that would name no user is refused before the person does anything.
        let silent = issuer.service(scopes: ["x"]), asker = person(issuer)
        #expect(try await refusal(silent, asker) == .failed(.unnamedUser))
        #expect(asker.shown.isEmpty)
    }

    @Test("if no one waits any more when the tokens arrive, they are revoked")
    func abandoned() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let person = person(issuer)
        person.gone.change { $0 = true }
        #expect(try await refusal(issuer.service(), person) == .failed(.cancelled))
        #expect(person.finished.value)
        #expect(try revoked(issuer) == ["rt-1", "at-1"])
    }

    @Test("an ID token without a name is completed at the userinfo endpoint, for the same subject only")
    func moreUserInfo() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let bare: @Sendable (Claims) -> Claims = { $0.with("preferred_username", nil) }
        try await issuer.tell("user", .init("{\"sub\":\"s-1\",\"preferred_username\":\"grace\"}"))
        #expect(try await logIn(issuer.service(), person(issuer, bare)).user?.name == "grace")
        try await issuer.tell("user", .init("{\"sub\":\"s-2\",\"preferred_username\":\"grace\"}"))
        #expect(try await refusal(issuer.service(), person(issuer, bare)) == .failed(.unusableIDToken))
        try await issuer.publish(["userinfo_endpoint": NSNull()])
        #expect(try await logIn(issuer.service(), person(issuer, bare)).user == NamedUser("s-1", subject: "s-1"))
    }

    private func revoked(_ issuer: Issuer) throws -> [String] {
        try issuer.asked().filter { $0.target == "/told/revoke" }
            .compactMap { QueryParameters($0.body)?.text("token", longest: 99) }
    }

    @Test("if another user logs in, or the ID token breaks a rule, the tokens are revoked and nothing is kept")
    func dropped() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        #expect(try await refusal(issuer.service(), person(issuer), user: "Ada") == .failed(.otherUser))
        #expect(try revoked(issuer) == ["rt-1", "at-1"])
        let rules: [(name: String, json: String?)] = [
            ("nonce", "\"other\""), ("nonce", nil), ("aud", "\"other\""), ("iss", "\"https://other.example\""), ("exp", "1"),
            ("at_hash", "\"AAAAAAAAAAAAAAAAAAAAAA\""), ("sub", nil),
        ]
        for (name, json) in rules {
            let person = person(issuer) { $0.with(name, json) }
            #expect(try await refusal(issuer.service(), person) == .failed(.unusableIDToken), "\(name)")
            #expect(try revoked(issuer) == ["rt-1", "at-1"], "\(name)")
        }
        let old = issuer.service(BrowserLogin(redirect: "http://127.0.0.1/cb", maximumAge: 10))
        #expect(try await refusal(old, person(issuer)) == .failed(.unusableIDToken))
        let nameless = issuer.service(BrowserLogin(redirect: "http://127.0.0.1/cb", userClaim: "login"))
        try await issuer.publish(["userinfo_endpoint": NSNull()])
        #expect(try await refusal(nameless, person(issuer)) == .failed(.unusableName))
    }

    private static let plainFields: Set = ["host", "accept", "connection", "user-agent"]

    @Test("the key of the ID token is the issuer's, of the announced kind, and fetched once more for an unknown kid")
    func keys() async throws {
        let issuer = try await Issuer()
        let (p256, other) = (try SigningKey.p256.jwk("\"kid\":\"1\""), try SigningKey.otherP256.jwk("\"kid\":\"2\""))
        func outcome(_ answers: Issuer.Told..., by key: SigningKey = .p256, keyID: String? = "1") async throws -> (
            OnlineRefusal?, Int
        ) {
            let text = "[\(answers.map(\.json).joined(separator: ","))]"
            try await Raw.post(issuer.trace.url("/tell/keys"), text)
            _ = try issuer.asked()
            let refusal = try await refusal(issuer.service(), person(issuer, by: key, keyID: keyID))
            let asked = try issuer.asked().filter { $0.target == "/told/keys" }
            // Only these fields: no credential and no cookie.
            #expect(
                asked.allSatisfy { $0.method == "GET" && $0.body.isEmpty && Set($0.fields.keys).isSubset(of: Self.plainFields) })
            return (refusal, asked.count)
        }
        try await issuer.publish()
        #expect(try await outcome(.init(keySet(p256, other))) == (nil, 1))
        #expect(try await outcome(.init(keySet(other)), .init(keySet(p256, other))) == (nil, 2))
        // Attack: the only key of the set did not sign.
        #expect(try await outcome(.init(keySet(p256)), keyID: "3") == (.failed(.unusableIDToken), 2))
        #expect(try await outcome(.init(keySet(p256)), by: .otherP256) == (.failed(.unusableIDToken), 1))
        #expect(try await outcome(.init(keySet(p256, other)), keyID: nil) == (.failed(.unusableIDToken), 1))
        #expect(try await outcome(.init(keySet(p256)), keyID: nil) == (nil, 1))
        #expect(try await outcome(.init(keySet(SigningKey.p256.jwk())), keyID: nil) == (nil, 1))
        #expect(try await outcome(.init(keySet(SigningKey.p256.jwk("\"alg\":\"ES384\"")))) == (.failed(.unusableIDToken), 2))
        #expect(try await outcome(.init(keySet(SigningKey.p256.jwk("\"use\":\"enc\"")))) == (.failed(.unusableIDToken), 2))
        for text in ["", "[]", "{\"keys\":1}", "\u{FEFF}\(keySet(p256))"] {
            #expect(try await outcome(.init(text)) == (.failed(.unusableKeySet), 1), "\(text)")
        }
        #expect(try await outcome(.init("", status: 401)) == (.failed(.unusableKeySet, status: 401), 1))
        #expect(try await outcome(.init("", status: 500)) == (.failed(.serverError, status: 500), 1))
        #expect(try await outcome(.init(String(repeating: " ", count: 300 << 10))) == (.failed(.answerTooLarge), 1))
        // The document does not announce the algorithm.
        try await issuer.publish(["id_token_signing_alg_values_supported": ["RS256", "HS256", "none"]])
        #expect(try await outcome(.init(keySet(p256))) == (.failed(.unusableIDToken), 1))
        try await issuer.publish(["id_token_signing_alg_values_supported": NSNull()])
        #expect(try await outcome(.init(keySet(p256))) == (.failed(.unusableIDToken), 1))
    }

    @Test(
        "a token answer without a usable ID token is refused, and its tokens are revoked",
        arguments: ["", ",\"id_token\":\"\"", ",\"id_token\":7", ",\"id_token\":\"x\"", ",\"id_token\":\"e30.e30.\""])
    func noIDToken(_ member: String) async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let person = Person { step, _ in
            let opened = try Opened(step)
            try await issuer.tell("token", .init("{\(Self.tokens)\(member)}"))
            _ = try await Raw.send(opened.request("code=c&state=\(opened["state"])"), to: opened.port)
        }
        #expect(try await refusal(issuer.service(), person) == .failed(.unusableIDToken))
        #expect(try revoked(issuer) == ["rt-1", "at-1"])
    }

    @Test(
        "HS256 with the public key, and none, are refused",
        arguments: [
            "{\"alg\":\"HS256\"}", "{\"alg\":\"none\"}", "{\"alg\":\"ES256\",\"crit\":[\"x\"]}",
            "{\"alg\":\"ES256\",\"b64\":true}",
        ])
    func forbiddenAlgorithms(_ header: String) async throws {
        let issuer = try await Issuer()
        try await issuer.publish(["id_token_signing_alg_values_supported": ["HS256", "none", "ES256"]])
        let person = Person { step, _ in
            let opened = try Opened(step)
            let claims = Claims(issuer: issuer.name, nonce: opened["nonce"]).json
            let message = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
            let signature: [UInt8] =
                header.contains("ES256")
                ? try SigningKey.p256.key.sign(Array(message.utf8), .ecdsaFixed(.sha256))
                : try Self.hmac(message, SigningKey.p256.jwk())
            let token = "\(message).\(Base64URL.encode(signature))"
            try await issuer.tell("token", .init("{\(Self.tokens),\"id_token\":\"\(token)\"}"))
            _ = try await Raw.send(opened.request("code=c&state=\(opened["state"])"), to: opened.port)
        }
        #expect(try await refusal(issuer.service(), person) == .failed(.unusableIDToken))
    }

    private static func hmac(_ message: String, _ key: String) throws -> [UInt8] {
        let tag = try HMAC.tag(of: message.utf8Span.span, .sha256, key: bytes(key))
        return tag.withBytes { tag in tag.indices.map { tag[$0] } }
    }

    @Test(
        "a document with an address that must not be opened shows nothing",
        arguments: [
            ("file:///etc/passwd", OnlineFailure.noLoginPage), ("javascript:alert(1)", .noLoginPage), ("-flag", .noLoginPage),
            ("ISSUER/$(id)", .noLoginPage), ("", .noLoginPage), ("http://a.example/x", .noLoginPage),
            ("ISSUER/x?state=1", .noLoginPage), ("https://other.example/x", .foreignEndpoint),
        ])
    func hostilePage(_ row: (address: String, failure: OnlineFailure)) async throws {
        let issuer = try await Issuer()
        let address = row.address.replacing("ISSUER", with: issuer.name)
        try await issuer.publish(["authorization_endpoint": address])
        let person = Person { _, _ in throw NoSession() }
        #expect(try await refusal(issuer.service(), person) == .failed(row.failure))
        #expect(person.shown.isEmpty)
        try await issuer.publish(["device_authorization_endpoint": address])
        let oauth = issuer.service()
        if !address.contains(issuer.name) {
            #expect(await deviceRefusal(oauth, person) == .failed(row.failure))
            #expect(person.shown.isEmpty)
        }
    }

    private func deviceRefusal(_ oauth: OAuthService, _ person: Person) async -> OnlineRefusal? {
        do throws(OnlineRefusal) {
            _ = try await provider(oauth).logInByDevice(user: nil, clientSecret: bytes(""), with: person)
            return nil
        } catch { return error }
    }

    @Test("a document that forbids PKCE, or names its keys elsewhere or nowhere, is refused before anything is shown")
    func hostileDocument() async throws {
        let issuer = try await Issuer()
        let rows: [([String: Any], OnlineFailure)] = [
            (["code_challenge_methods_supported": ["plain"]], .noProofKey),
            (["code_challenge_methods_supported": [String]()], .noProofKey),
            (["code_challenge_methods_supported": "S256"], .unexpectedAnswer),
            (["authorization_response_iss_parameter_supported": "true"], .unexpectedAnswer),
            (["jwks_uri": "https://other.example/keys"], .foreignEndpoint), (["jwks_uri": NSNull()], .unusableKeySet),
            (["jwks_uri": "file:///etc/passwd"], .unusableKeySet), (["jwks_uri": 7], .unexpectedAnswer),
            (["issuer": "http://127.0.0.1:1"], .untrustedDiscovery), (["authorization_endpoint": NSNull()], .noLoginPage),
        ]
        for (changes, failure) in rows {
            try await issuer.publish(changes)
            let person = Person { _, _ in throw NoSession() }
            #expect(try await refusal(issuer.service(), person) == .failed(failure), "\(changes)")
            #expect(person.shown.isEmpty, "\(changes)")
        }
        try await issuer.publish(["code_challenge_methods_supported": ["plain", "S256"]])
        #expect(try await refusal(issuer.service(), person(issuer)) == nil)
    }

    @Test("without a document the addresses, the issuer and the keys are the profile's")
    func withoutDocument() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        func service(_ keySet: String?, issuer name: String?) -> OAuthService {
            OAuthService(
                .token(issuer.url("token"), revocation: nil), clientID: "native", scopes: ["openid"], grant: .authorizationCode,
                issuer: name,
                browser: BrowserLogin(redirect: "http://127.0.0.1/cb", authorization: issuer.url("authorize"), keySet: keySet))
        }
        #expect(try await refusal(service(issuer.url("keys"), issuer: issuer.name), person(issuer)) == nil)
        #expect(
            try await refusal(service(issuer.url("keys"), issuer: "https://i.example"), person(issuer))
                == .failed(.unusableIDToken))
        for oauth in [service(nil, issuer: issuer.name), service(issuer.url("keys"), issuer: nil)] {
            #expect(try await refusal(oauth, person(issuer)) == .failed(.unusableKeySet))
        }
        #expect(try await refusal(service("file:///x", issuer: issuer.name), person(issuer)) == .failed(.unsafeAddress))
    }

    @Test("with the metadata in the profile no document is fetched, and every rule for metadata holds")
    func withConfiguration() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        _ = try issuer.asked()
        func service(_ changes: [String: Any] = [:], issuer name: String? = nil) throws -> OAuthService {
            let document = issuer.document.merging(changes) { $1 }.filter { !($0.value is NSNull) }
            let text = String(decoding: try JSONSerialization.data(withJSONObject: document), as: UTF8.self)
            return OAuthService(
                .configuration(text), clientID: "native", scopes: ["openid"], grant: .authorizationCode,
                issuer: name ?? issuer.name, browser: BrowserLogin(redirect: "http://127.0.0.1/cb"))
        }
        let grant = try await logIn(service(), person(issuer), user: "ada")
        #expect(try grant.newSession().tokens().revocation == issuer.url("revoke"))
        #expect(try issuer.asked().map { "\($0.method) \($0.target)" } == ["POST /told/token", "GET /told/keys"])
        for (changes, name, failure) in [
            ([:], "https://i.example", .untrustedDiscovery), (["issuer": "https://i.example"], nil, .untrustedDiscovery),
            (["authorization_endpoint": "https://other.example/a"], nil, .foreignEndpoint),
            (["jwks_uri": "https://other.example/keys"], nil, .foreignEndpoint),
            (["code_challenge_methods_supported": ["plain"]], nil, .noProofKey),
            (["token_endpoint": NSNull()], nil, .untrustedDiscovery),
        ] as [([String: Any], String?, OnlineFailure)] {
            let person = Person { _, _ in throw NoSession() }
            #expect(try await refusal(service(changes, issuer: name), person) == .failed(failure), "\(changes)")
            #expect(person.shown.isEmpty, "\(changes)")
        }
        #expect(try issuer.asked().isEmpty)
    }

    @Test("the answer names the issuer if the document says so, and another one is refused before the code is used")
    func issuers() async throws {
        let issuer = try await Issuer()
        try await issuer.publish(["authorization_response_iss_parameter_supported": true])
        #expect(try await refusal(issuer.service(), person(issuer)) == .failed(.otherIssuer))
        #expect(try await refusal(issuer.service(), person(issuer, query: "&iss=\(issuer.name)")) == nil)
        _ = try issuer.asked()
        try await issuer.publish()
        #expect(
            try await refusal(issuer.service(), person(issuer, query: "&iss=https://i.example")) == .failed(.otherIssuer))
        #expect(try issuer.asked().allSatisfy { $0.target != "/told/token" })
    }

    @Test("a refusal in the browser, and one of the code, end the login with their reasons")
    func refused() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let denied = Person { step, _ in
            let opened = try Opened(step)
            let answer = try await Raw.send(
                opened.request("error=access_denied&state=\(opened["state"])"), to: opened.port)
            #expect(answer.contains("did not log you in") && !answer.contains("access_denied"))
        }
        #expect(try await refusal(issuer.service(), denied) == .forbidden(.accessDenied))
        for (answer, expected) in [
            (Issuer.Told("{\"error\":\"invalid_grant\"}", status: 400), OnlineRefusal.failed(.invalidGrant, status: 400)),
            (Issuer.Told("no", status: 401), .failed(.invalidClient, status: 401)),
            (Issuer.Told("{\"error\":\"invalid_client\"}", status: 401), .failed(.invalidClient, status: 401)),
            (Issuer.Told("", status: 403), .forbidden(.status)),
            (Issuer.Told("{\(Self.tokens.replacing("bearer", with: "dpop"))}"), .failed(.tokenBound)),
            (Issuer.Told("[" + String(repeating: "[", count: 200)), .failed(.unexpectedAnswer, status: 200)),
        ] {
            let person = Person { step, _ in
                let opened = try Opened(step)
                try await issuer.tell("token", answer)
                _ = try await Raw.send(opened.request("code=c&state=\(opened["state"])"), to: opened.port)
            }
            #expect(try await refusal(issuer.service(), person) == expected)
        }
    }

    @Test(
        "a redirect of an endpoint that gets a secret is not followed", arguments: ["token", "keys", "user", "device"],
        [302, 307, 308])
    func redirects(_ path: String, _ status: Int) async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let moved = Issuer.Told("", status: status, fields: ["Location: \(issuer.url("elsewhere"))"])
        let service = issuer.service(scopes: path == "user" ? ["x"] : ["openid"])
        let expected = OnlineRefusal.failed(.redirected, status: UInt16(status))
        try await issuer.tell(path, moved)
        if path == "device" {
            #expect(await deviceRefusal(service, Person { _, _ in throw NoSession() }) == expected)
        } else {
            let person = Person { step, _ in
                let opened = try Opened(step)
                if path != "token" {
                    let token = try SigningKey.p256.token(Claims(issuer: issuer.name, nonce: opened["nonce"]))
                    try await issuer.tell("token", .init("{\(Self.tokens),\"id_token\":\"\(token)\"}"))
                }
                _ = try await Raw.send(opened.request("code=c&state=\(opened["state"])"), to: opened.port)
            }
            #expect(try await refusal(service, person) == expected)
        }
        #expect(try issuer.asked().allSatisfy { $0.target != "/told/elsewhere" })
    }

    @Test("a person can paste the address, after wrong texts too, and without any socket")
    func pasted() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        for (redirect, sockets) in [
            ("com.example.app:/done", []), ("http://127.0.0.1/cb", []), ("http://127.0.0.1/cb", [try Raw.listen().socket]),
        ] {
            let person = Person(pastes: true) { step, person in
                let opened = try Opened(step)
                let token = try SigningKey.p256.token(Claims(issuer: issuer.name, nonce: opened["nonce"]))
                try await issuer.tell("token", .init("{\(Self.tokens),\"id_token\":\"\(token)\"}"))
                person.paste("hello")
                person.paste("\(opened["redirect_uri"])?code=c&state=x")
                person.paste("\(opened["redirect_uri"])?code=c&state=\(opened["state"])\n")
            }
            let grant = try await logIn(issuer.service(BrowserLogin(redirect: redirect)), person, listening: sockets)
            #expect(grant.user?.name == "ada")
        }
        let person = Person(pastes: true) { _, person in for _ in 0..<16 { person.paste("no") } }
        #expect(try await refusal(issuer.service(), person) == .failed(.wrongAnswers))
        // No socket, and a person who does not paste: there is no way for an answer.
        let service = issuer.service()
        await #expect(throws: OnlineRefusal.failed(.cancelled)) {
            _ = try await logIn(service, Person { _, _ in }, listening: [])
        }
    }

    @Test("a cancelled login ends, and its sockets are closed", arguments: [true, false])
    func cancelled(_ pastes: Bool) async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        // No other test listens at this address, so no process takes the port when it is free.
        let (socket, port) = try Raw.listen("127.0.7.\(pastes ? 1 : 2)")
        let oauth = issuer.service(), provider = provider(oauth)
        let (shown, isShown) = AsyncStream<Void>.makeStream()
        let person = Person(pastes: pastes) { _, _ in isShown.yield() }
        let login = Task {
            await OMOnlineTests.refusal { () async throws(OnlineRefusal) in
                try await provider.logIn(listening: [socket], user: nil, clientSecret: bytes(""), with: person)
            }
        }
        for await _ in shown { break }
        login.cancel()
        #expect(await login.value == .failed(.cancelled))
        try await eventually { (try? Raw.connect(to: port, "127.0.7.\(pastes ? 1 : 2)")).map { close($0) } == nil }
    }

    @Test("a refresh checks its ID token: the same user, signed by the issuer; else the new tokens are revoked")
    func refreshed() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let oauth = issuer.service()
        let provider = OAuthProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth)
        let session = try await logIn(oauth, person(issuer)).newSession()
        func refreshed(_ claims: Claims?, by key: SigningKey = .p256) async throws -> OnlineRefusal? {
            let member = try claims.map { ",\"id_token\":\"\(try key.token($0))\"" } ?? ""
            try await issuer.tell("token", .init("{\"access_token\":\"at-2\",\"refresh_token\":\"rt-2\"\(member)}"))
            _ = try issuer.asked()
            return await OMOnlineTests.refusal { () async throws(OnlineRefusal) in
                try await provider.refresh(session, clientSecret: bytes(""))
            }
        }
        let good = Claims(issuer: issuer.name, nonce: nil)
        #expect(try await refreshed(nil) == nil)
        #expect(try await refreshed(good) == nil)
        for claims in [good.with("sub", "\"s-2\""), good.with("aud", "\"x\""), good.with("iss", "\"https://x.example\"")] {
            #expect(try await refreshed(claims) == .failed(.unusableIDToken))
            #expect(try revoked(issuer) == ["rt-2", "at-2"])
        }
        #expect(try await refreshed(good, by: .otherP256) == .failed(.unusableIDToken))
        // The keys cannot be had: the token is not read, and the new refresh token is not lost.
        try await issuer.tell("keys", .init("", status: 500))
        #expect(try await refreshed(good.with("sub", "\"s-2\"")) == nil)
    }
}
