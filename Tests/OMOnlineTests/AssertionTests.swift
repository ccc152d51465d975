// Logins with assertions (RFC 7523, 7522): the exact requests, and what each answer means. docs/reference/online.md, "Assertions".

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMOnline

/// Gives each assertion a number, as often as a question may.
private final class CountingSigner: IdentitySigner {
    let purposes = Locked<[SigningPurpose]>([])
    private let budget: Locked<SignatureBudget>

    init(_ service: OAuthService) {
        budget = Locked(
            SignatureBudget(
                OnlineService(.oauth(service), deadlines: patient), .assertion(user: nil, nil, keepsSession: true)))
    }

    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        var isAllowed = false
        budget.change { isAllowed = $0.take(purpose) != nil }
        guard isAllowed else { throw .failed(.helper) }
        purposes.change { $0.append(purpose) }
        return bytes("a.b.\(purposes.value.count)")
    }
}

@Suite("A login with an assertion") struct AssertionTests {
    private static let jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln-_"

    private func provider(
        _ endpoint: OAuthService.Endpoint, scopes: [String] = [], client: AssertionKind? = nil,
        naming browser: BrowserLogin = BrowserLogin(), issuer: String? = nil
    ) -> OAuthProvider {
        let kind = OAuthService(
            endpoint, clientID: "native", scopes: scopes, grant: .assertion, issuer: issuer, browser: browser,
            clientAssertion: client)
        return OAuthProvider(OnlineService(.oauth(kind), deadlines: patient), kind)
    }

    /// The one request of a login at a server that takes everything.
    private func request(
        _ assertion: String, _ kind: AssertionKind, client: AssertionKind? = nil, secret: String = ""
    ) async throws -> SeenRequest {
        let trace = try await Trace()
        let assertion = bytes(assertion), secret = bytes(secret)
        _ = try await provider(.token(trace.url("/token/plain"), revocation: nil), scopes: ["a", "x"], client: client)
            .logIn(nil, assertion: assertion, kind, keepsSession: true, clientSecret: secret)
        let seen = try trace.seen()
        #expect(seen.count == 1)
        return try #require(seen.first)
    }

    @Test("the request of a JWT is that of RFC 7523, to the byte")
    func jwt() async throws {
        let seen = try await request(Self.jwt, .jwt)
        #expect(
            seen.body
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=eyJhbGciOiJFUzI1NiJ9."
                + "eyJzdWIiOiJhIn0.c2ln-_&scope=a%20x&client_id=native")
        #expect(seen.fields["authorization"] == nil && seen.fields["content-type"] == "application/x-www-form-urlencoded")
    }

    @Test("the request of SAML is that of RFC 7522, to the byte: base64url without padding, and not read")
    func saml() async throws {
        // Neither its elements nor its end matter here.
        let seen = try await request("\n<a b='>>>???'>\u{e9}</", .saml2, secret: "s:e")
        #expect(
            seen.body
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Asaml2-bearer&assertion="
                + "CjxhIGI9Jz4-Pj8_Pyc-w6k8Lw&scope=a%20x")
        #expect(seen.fields["authorization"] == "Basic " + Data("native:s%3Ae".utf8).base64EncodedString())
    }

    @Test("an assertion that the client's key signs is the grant, to the byte, beside the client's own proof with another one")
    func minted() async throws {
        let trace = try await Trace()
        func request(_ method: ClientProof.Method, secret: String) async throws -> (SeenRequest, [SigningPurpose]) {
            let oauth = OAuthService(
                .token(trace.url("/token/plain"), revocation: nil), clientID: "native", scopes: ["a", "x"], grant: .assertion,
                issuer: "https://i.example", browser: BrowserLogin(), proof: ClientProof(method, key: "robot"))
            let signer = CountingSigner(oauth), assertion = bytes(""), secret = bytes(secret)
            _ = try await OAuthProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth, signer: signer)
                .logIn(nil, assertion: assertion, nil, keepsSession: true, clientSecret: secret)
            return (try #require(try trace.seen().first), signer.purposes.value)
        }
        let grant = "scope=a%20x&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.1"
        let (alone, one) = try await request(.none, secret: "")
        #expect(alone.body == grant + "&client_id=native" && one == [.assertion(at: .token)])
        let (basic, _) = try await request(.secretInHeader, secret: "s")
        #expect(basic.body == grant && basic.fields["authorization"] == "Basic " + Data("native:s".utf8).base64EncodedString())
        let (both, two) = try await request(.automatic, secret: "")
        #expect(
            both.body == grant + "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
                + "&client_assertion=a.b.2&client_id=native")
        #expect(two == [.assertion(at: .token), .assertion(at: .token)])
    }

    @Test("a client that proves itself with an assertion sends it with its type, its id and no secret")
    func client() async throws {
        let seen = try await request(Self.jwt, .jwt, client: .jwt, secret: Self.jwt)
        #expect(
            seen.body.hasSuffix(
                "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
                    + "&client_assertion=eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln-_&client_id=native"))
        #expect(seen.fields["authorization"] == nil && !seen.body.contains("client_secret"))
        let saml = try await request(Self.jwt, .jwt, client: .saml2, secret: "<a/>")
        #expect(
            saml.body.hasSuffix(
                "&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Asaml2-bearer"
                    + "&client_assertion=PGEvPg&client_id=native"))
    }

    @Test("a ready-made assertion counts with auto, a JWT with private_key_jwt too, and never beside a key or without its source")
    func method() {
        func method(_ kind: AssertionKind, _ proof: ClientProof, hasSecret: Bool = true) -> ClientMethod {
            let oauth = OAuthService(
                .token("https://a.example/t", revocation: nil), clientID: "native", scopes: [], grant: .clientCredentials,
                proof: proof, clientAssertion: kind)
            return ClientMethod(oauth, offered: nil, hasSecret: hasSecret)
        }
        #expect(method(.jwt, ClientProof()) == .readyMade(.jwt) && method(.saml2, ClientProof()) == .readyMade(.saml2))
        #expect(method(.jwt, ClientProof(.signedAssertion)) == .readyMade(.jwt))
        #expect(method(.saml2, ClientProof(.signedAssertion)) == .assertion)
        #expect(method(.jwt, ClientProof(key: "k")) == .assertion)
        #expect(method(.jwt, ClientProof(.none)) == .none && method(.jwt, ClientProof(.certificate)) == .none)
        #expect(method(.jwt, ClientProof(), hasSecret: false) == .secret(isInBody: false))
    }

    @Test(
        "what is no assertion is not sent",
        arguments: [
            ("", AssertionKind.jwt), ("a.b", .jwt), ("a.b.c.d", .jwt), ("a.b.c\n", .jwt), ("-----BEGIN PRIVATE KEY-----", .jwt),
            ("a.b.c d", .jwt), ("", .saml2), ("PGEvPg", .saml2), (" \n", .saml2), ("-----BEGIN PRIVATE KEY-----\n<", .saml2),
        ])
    func unusable(_ text: String, _ kind: AssertionKind) async throws {
        let trace = try await Trace()
        let assertion = bytes(text), secret = bytes("")
        let provider = provider(.token(trace.url("/token/plain"), revocation: nil))
        let found = await refusal { () async throws(OnlineRefusal) in
            try await provider.logIn(nil, assertion: assertion, kind, keepsSession: false, clientSecret: secret)
        }
        #expect(found == .failed(.unusableAssertion))
        #expect(try trace.seen().isEmpty)
    }

    private static let answers: [(name: String, refusal: OnlineRefusal)] = [
        ("mac", .failed(.unexpectedAnswer, status: 200)), ("html", .failed(.unexpectedAnswer, status: 200)),
        ("invalid-client", .failed(.invalidClient, status: 401)), ("unauthorized", .failed(.unnamedOAuthError, status: 401)),
        ("own-word", .failed(.otherOAuthError, status: 401)), ("denied", .forbidden(.accessDenied)),
        // Words about a password say nothing here, and no account is blocked.
        ("disabled", .failed(.assertionRefused, status: 400)), ("invalid-grant", .failed(.assertionRefused, status: 400)),
        ("no-grant", .failed(.unsupportedGrant, status: 400)), ("busy", .unreachable(.gateway)),
        ("moved", .failed(.redirected, status: 307)), ("big", .failed(.answerTooLarge)),
    ]

    @Test("every answer has its outcome", arguments: 0..<answers.count)
    func outcome(_ index: Int) async throws {
        let (name, expected) = Self.answers[index]
        let server = try await Server.odd.value
        let provider = provider(.token(server.url("/token/\(name)", "http", scheme: "http"), revocation: nil))
        let assertion = bytes(Self.jwt), secret = bytes("s")
        let found = await refusal { () async throws(OnlineRefusal) in
            try await provider.logIn(nil, assertion: assertion, .jwt, keepsSession: true, clientSecret: secret)
        }
        if name == "unauthorized" {
            #expect(found == .failed(.invalidClient, status: 401), "\(name)")
        } else {
            #expect(found == expected, "\(name)")
        }
    }

    // MARK: - The user

    private func logIn(
        _ issuer: Issuer, as user: String?, scopes: [String] = ["openid"], naming browser: BrowserLogin = BrowserLogin()
    ) async throws(OnlineRefusal) -> OnlineGrant {
        let endpoint = OAuthService.Endpoint.discovery(issuer.url(".well-known/openid-configuration"))
        let provider = provider(endpoint, scopes: scopes, naming: browser, issuer: issuer.name)
        let assertion = bytes(Self.jwt), secret = bytes("")
        return try await provider.logIn(user, assertion: assertion, .jwt, keepsSession: true, clientSecret: secret)
    }

    private func issuer(_ idToken: String? = nil, of issuer: Issuer) async throws {
        try await issuer.publish()
        let member = idToken.map { ",\"id_token\":\"\($0)\"" } ?? ""
        try await issuer.tell("token", .init("{\"access_token\":\"at-1\",\"token_type\":\"Bearer\"\(member)}"))
        try await issuer.tell("user", .init("{\"sub\":\"s-2\",\"preferred_username\":\"bob\"}"))
    }

    @Test("the server names the user: in a verified ID token, else at its userinfo endpoint, else not at all")
    func named() async throws {
        let one = try await Issuer()
        let claims = Claims(issuer: one.name, nonce: nil)
        try await issuer(try SigningKey.p256.token(claims), of: one)
        let first = try await logIn(one, as: nil)
        #expect(first.user == NamedUser("ada", subject: "s-1"))
        #expect(try first.newSession().tokens().subject == "s-1")
        try await issuer(of: one)
        let second = try await logIn(one, as: nil)
        #expect(second.user == NamedUser("bob", subject: "s-2"))
        let third = try await logIn(one, as: nil, scopes: ["read"])
        #expect(third.user == nil)
    }

    @Test("a server that names another user than the one who was to log in gets its tokens back")
    func otherUser() async throws {
        let one = try await Issuer()
        try await issuer(of: one)
        _ = try one.asked()
        let found = await refusal { () async throws(OnlineRefusal) in try await logIn(one, as: "ada") }
        #expect(found == .failed(.otherUser))
        #expect(try one.asked().contains { $0.target == "/told/revoke" && $0.body.contains("at-1") })
        let right = try await logIn(one, as: "bob")
        #expect(right.user?.name == "bob")
        // A server that names no user says nothing about that one.
        let unnamed = await refusal { () async throws(OnlineRefusal) in try await logIn(one, as: "bob", scopes: ["read"]) }
        #expect(unnamed == .failed(.unnamedUser))
        #expect(try one.asked().contains { $0.target == "/told/revoke" })
    }

    @Test("an ID token with a wrong signature ends the login, and the tokens are given back")
    func forged() async throws {
        let one = try await Issuer()
        try await issuer(try SigningKey.otherP256.token(Claims(issuer: one.name, nonce: nil)), of: one)
        _ = try one.asked()
        let found = await refusal { () async throws(OnlineRefusal) in try await logIn(one, as: nil) }
        #expect(found == .failed(.unusableIDToken))
        #expect(try one.asked().contains { $0.target == "/told/revoke" })
    }

    @Test("a token without a session asks for no user, and has no refresh token with it")
    func alone() async throws {
        let trace = try await Trace()
        let provider = provider(
            .token(trace.url("/token/plain"), revocation: nil), naming: BrowserLogin(userInfo: trace.url("/told/user")))
        let assertion = bytes(Self.jwt), secret = bytes("")
        let grant = try await provider.logIn(nil, assertion: assertion, .jwt, keepsSession: false, clientSecret: secret)
        #expect(grant.scopes.names == ["a", "b"] && grant.lifetime == 3600)
        let hasSession = grant.hasSession()
        #expect(!hasSession)
        #expect(try trace.seen().count == 1)
    }
}
