// How a client proves itself with a key, and pushed requests, at an issuer whose answers the test writes.

import Foundation
import Glibc
import OMCrypto
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMOnline

/// Signs with a key of the test, as often as a question may.
private final class KeySigner: IdentitySigner {
    let purposes = Locked<[SigningPurpose]>([])
    private let key: SigningKey
    private let budget: Locked<SignatureBudget>

    init(_ service: OAuthService, _ task: OnlineTask, _ key: SigningKey = .p256) {
        self.key = key
        budget = Locked(SignatureBudget(OnlineService(.oauth(service), deadlines: patient), task))
    }

    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        var isAllowed = false
        budget.change { isAllowed = $0.take(purpose) != nil }
        guard isAllowed else { throw .failed(.helper) }
        purposes.change { $0.append(purpose) }
        guard case .assertion(_, let algorithms) = purpose else { throw .failed(.unusableClientKey) }
        let fitting = ClientAssertion.algorithm(for: key.key.kind, of: algorithms)
        guard fitting != nil else { throw .failed(.noKeyAlgorithm) }
        do throws(CryptoError) {
            return try ClientAssertion(clientID: "native", audience: "https://i.example").signed(
                by: key.key, certificate: nil, now: 1_700_000_000, algorithms: algorithms)
        } catch { throw .failed(.unusableClientKey) }
    }
}

@Suite("The proof of a client") struct ClientProofTests {
    private static let tokens = "\"access_token\":\"at-1\",\"token_type\":\"bearer\",\"refresh_token\":\"rt-1\""
    private static let type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

    private func service(_ issuer: Issuer, _ proof: ClientProof, _ grant: OAuthService.Grant = .clientCredentials) -> OAuthService
    {
        OAuthService(
            .discovery(issuer.url(".well-known/openid-configuration")), clientID: "native", scopes: ["x"], grant: grant,
            issuer: issuer.name,
            browser: grant == .authorizationCode
                ? BrowserLogin(redirect: "http://127.0.0.1/cb", userClaim: "login") : nil,
            proof: proof)
    }

    /// The form and the header of the one question for a token.
    private func granted(
        _ issuer: Issuer, _ proof: ClientProof, secret: String = "", _ signed: Locked<[SigningPurpose]>? = nil
    ) async throws -> String {
        let oauth = service(issuer, proof), signer = KeySigner(oauth, .grant)
        defer { signed?.change { $0 = signer.purposes.value } }
        let provider = OAuthProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth, signer: signer)
        do { _ = try await provider.grant(clientSecret: bytes(secret)) } catch let refusal as OnlineRefusal {
            _ = try issuer.asked()
            return "\(refusal)"
        }
        let seen = try #require(try issuer.asked().first { $0.target == "/told/token" })
        let form = try #require(QueryParameters(seen.body))
        #expect(form.has("client_assertion") == (form.text("client_assertion_type", longest: 99) == Self.type))
        let names = form.names.filter { $0.hasPrefix("client_") }.sorted().joined(separator: " ")
        return names + (seen.fields["authorization"] == nil ? "" : " header")
    }

    @Test("the strongest method that profile and server share is used, and the profile's own word goes before that")
    func methods() async throws {
        let issuer = try await Issuer()
        let assertion = "client_assertion client_assertion_type client_id", keyed = "robot"
        for (offered, proof, secret, expected) in [
            (nil, ClientProof(key: keyed), "", assertion), (nil, ClientProof(key: keyed), "s", assertion),
            (["private_key_jwt", "client_secret_basic"], ClientProof(key: keyed), "s", assertion),
            (["client_secret_basic"], ClientProof(key: keyed), "s", " header"),
            (["client_secret_post"], ClientProof(key: keyed), "s", "client_id client_secret"),
            (["client_secret_basic"], ClientProof(key: keyed), "", assertion),
            (["private_key_jwt"], ClientProof(), "s", " header"),
            (["private_key_jwt"], ClientProof(.secretInBody, key: keyed), "s", "client_id client_secret"),
            (["private_key_jwt"], ClientProof(.secretInHeader, key: keyed), "s", " header"),
            (["client_secret_post"], ClientProof(.signedAssertion, key: keyed), "s", assertion),
            (["client_secret_post"], ClientProof(.none), "s", "client_id"),
        ] as [([String]?, ClientProof, String, String)] {
            try await issuer.publish(offered.map { ["token_endpoint_auth_methods_supported": $0] } ?? [:])
            try await issuer.tell("token", .init("{\(Self.tokens)}"))
            #expect(try await granted(issuer, proof, secret: secret) == expected, "\(offered ?? []) \(proof)")
        }
    }

    @Test("a server's list of algorithms counts; without a signer, and at another address than the known one, nothing is sent")
    func bounds() async throws {
        let issuer = try await Issuer()
        let keyed = ClientProof(key: "robot"), algorithms = "token_endpoint_auth_signing_alg_values_supported"
        try await issuer.tell("token", .init("{\(Self.tokens)}"))
        try await issuer.publish([algorithms: ["PS256", "ES256"]])
        #expect(try await granted(issuer, keyed).hasPrefix("client_assertion"))
        try await issuer.publish([algorithms: ["PS256", "RS256"]])
        let asked = Locked<[SigningPurpose]>([])
        #expect(try await granted(issuer, keyed, asked) == "\(OnlineRefusal.failed(.noKeyAlgorithm))")
        #expect(asked.value == [.assertion(at: .token, algorithms: 3)])
        // No key here can do it, so nothing is signed.
        try await issuer.publish([algorithms: ["HS256", "ES512"]])
        #expect(try await granted(issuer, keyed, asked) == "\(OnlineRefusal.failed(.noKeyAlgorithm))")
        #expect(asked.value.isEmpty)
        try await issuer.publish()
        for (address, works) in [(issuer.url("token"), true), (issuer.url("Token"), false)] {
            let known = ClientProof(key: "robot", audience: .endpoint, endpoints: [ServerEndpoint(.token, address)])
            let signed = Locked<[SigningPurpose]>([])
            let told = try await granted(issuer, known, signed)
            #expect(works == told.hasPrefix("client_assertion"), "\(told)")
            #expect(signed.value == (works ? [.assertion(at: .token)] : []))
        }
        let oauth = service(issuer, keyed)
        let alone = OAuthProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth)
        await #expect(throws: OnlineRefusal.failed(.unusableClientKey)) { _ = try await alone.grant(clientSecret: bytes("")) }
        #expect(try issuer.asked().allSatisfy { $0.method == "GET" })
    }

    // MARK: - Pushed requests

    private static let name = "urn:example:1?&x"

    private func logIn(
        _ issuer: Issuer, _ proof: ClientProof, as user: String? = nil, error: String? = nil
    ) async throws -> (refusal: OnlineRefusal?, shown: [BrowserStep]) {
        let oauth = service(issuer, proof, .authorizationCode)
        let signer = KeySigner(oauth, .authorize(user: user, seconds: 60, byDevice: false))
        let person = Person { step, _ in
            let opened = try Opened(step)
            let pushed = try issuer.asked().first { $0.target == "/told/push" }.flatMap { QueryParameters($0.body) }
            func value(_ name: String) throws -> String { try #require(pushed?.text(name, longest: 999)) }
            try await issuer.tell("token", .init("{\(Self.tokens)}"))
            try await issuer.tell("user", .init("{\"login\":\"ada\"}"))
            #expect(opened.names == ["client_id", "request_uri"] && opened["request_uri"] == Self.name)
            let redirect = try #require(EndpointURL(reading: try value("redirect_uri")))
            let query = (error.map { "error=\($0)" } ?? "code=c-1") + "&state=\(try value("state"))"
            _ = try await Raw.send(
                "GET \(redirect.path)?\(query) HTTP/1.1\r\nHost: 127.0.0.1:\(redirect.port)\r\n\r\n", to: redirect.port)
        }
        let provider = BrowserLoginProvider(
            OnlineService(.oauth(oauth), deadlines: patient), oauth, signer: signer)
        do {
            _ = try await provider.logIn(
                listening: [Raw.listen().socket], user: user, clientSecret: bytes(""), with: person)
            return (nil, person.shown)
        } catch let refusal as OnlineRefusal { return (refusal, person.shown) }
    }

    @Test("a request that is pushed has the client's proof, and the browser gets its name alone")
    func pushed() async throws {
        let issuer = try await Issuer()
        try await issuer.publish(["pushed_authorization_request_endpoint": issuer.url("push")])
        try await issuer.tell("push", .init("{\"request_uri\":\"\(Self.name)\",\"expires_in\":60}", status: 201))
        let login = try await logIn(issuer, ClientProof(key: "robot"))
        #expect(login.refusal == nil && login.shown.count == 1)
        #expect(
            try await logIn(issuer, ClientProof(key: "robot"), error: "invalid_request_uri").refusal == .failed(.requestExpired))
    }

    @Test("a login as another user revokes both tokens, with the assertions that its question has")
    func revoked() async throws {
        let issuer = try await Issuer()
        try await issuer.publish(["pushed_authorization_request_endpoint": issuer.url("push")])
        try await issuer.tell("push", .init("{\"request_uri\":\"\(Self.name)\",\"expires_in\":60}", status: 201))
        let required = ClientProof(key: "robot", pushedRequests: .required)
        #expect(try await logIn(issuer, required, as: "bob").refusal == .failed(.otherUser))
        let revoked = try issuer.asked().filter { $0.target == "/told/revoke" }
            .compactMap { QueryParameters($0.body)?.text("token", longest: 99) }
        #expect(revoked == ["rt-1", "at-1"])
    }

    @Test("pushed requests that one side demands and the other does not take end the login, before the person does anything")
    func demanded() async throws {
        let issuer = try await Issuer()
        let required = ClientProof(key: "robot", pushedRequests: .required), off = ClientProof(key: "robot", pushedRequests: .off)
        try await issuer.publish()
        #expect(try await logIn(issuer, required).refusal == .failed(.noPushedRequests))
        try await issuer.publish(["require_pushed_authorization_requests": true])
        #expect(try await logIn(issuer, ClientProof()).refusal == .failed(.noPushedRequests))
        try await issuer.publish([
            "require_pushed_authorization_requests": true, "pushed_authorization_request_endpoint": issuer.url("push"),
        ])
        #expect(try await logIn(issuer, off).refusal == .failed(.noPushedRequests))
        try await issuer.publish(["pushed_authorization_request_endpoint": "https://other.example/push"])
        #expect(try await logIn(issuer, required).refusal == .failed(.foreignEndpoint))
        try await issuer.publish(["pushed_authorization_request_endpoint": issuer.url("push")])
        for (answer, expected) in [
            (Issuer.Told("{\"error\":\"invalid_client\"}", status: 401), OnlineRefusal.failed(.invalidClient, status: 401)),
            (Issuer.Told("{\"request_uri\":\"a\",\"expires_in\":0}", status: 201), .failed(.requestExpired)),
            (Issuer.Told("{\"request_uri\":\"\",\"expires_in\":60}", status: 201), .failed(.unexpectedAnswer)),
            (Issuer.Told("{\"request_uri\":\"a b\",\"expires_in\":60}", status: 201), .failed(.unexpectedAnswer)),
        ] {
            try await issuer.tell("push", answer)
            let login = try await logIn(issuer, required)
            #expect(login.refusal == expected && login.shown.isEmpty)
        }
    }
}
