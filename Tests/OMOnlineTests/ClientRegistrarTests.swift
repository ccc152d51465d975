// The registration of a client at an OAuth server: RFC 7591 and RFC 7592. docs/reference/profiles.md, "Registration".

import Foundation
import OMOnlineModel
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMOnline

@Suite("The registration of a client") struct ClientRegistrarTests {
    private static let metadata = ClientMetadata(
        name: "omvault", redirects: ["http://127.0.0.1/cb"], grants: ["authorization_code", "refresh_token"], proof: "none",
        scopes: ["openid", "profile"])

    private static var answer: [String: Any] {
        [
            "client_id": "c-1", "client_secret": "s-1", "client_secret_expires_at": 1_900_000_000,
            "registration_access_token": "r-1", "client_name": "Ours", "redirect_uris": ["http://127.0.0.1/cb"],
            "grant_types": ["authorization_code"], "token_endpoint_auth_method": ["client_secret_basic"], "scope": "openid",
        ]
    }

    /// What came of a step: the registration, and its secrets as texts.
    private struct Outcome: Hashable {
        var client: ClientRegistration?
        var secret: String?
        var token: String?
    }

    private func ask(
        _ issuer: Issuer, _ step: ClientStep, token: String = "", statement: String = "", origins: [String] = []
    ) async -> Result<Outcome, OnlineRefusal> {
        let oauth = issuer.service(origins: origins)
        do throws(OnlineRefusal) {
            var grant = try await ClientRegistrar(OnlineService(.oauth(oauth)), oauth)
                .ask(step, token: bytes(token), statement: bytes(statement))
            let client = grant.client, access = text(grant.takeAccess())
            return .success(Outcome(client: client, secret: access, token: text(grant.takeSession())))
        } catch { return .failure(error) }
    }

    private func publish(_ issuer: Issuer, _ changes: [String: Any] = [:]) async throws {
        try await issuer.publish(["registration_endpoint": issuer.url("register")])
        let members = Self.answer.merging(["registration_client_uri": issuer.url("register/c-1")]) { $1 }
            .merging(changes) { $1 }.filter { !($0.value is NSNull) }
        let data = try JSONSerialization.data(withJSONObject: members)
        try await issuer.tell("register", Issuer.Told(String(decoding: data, as: UTF8.self), status: 201))
        try await issuer.tell("register/c-1", Issuer.Told(String(decoding: data, as: UTF8.self)))
    }

    @Test("a client is registered with inline values only; the server's secrets come back, and so does what it keeps")
    func register() async throws {
        let issuer = try await Issuer()
        try await publish(issuer)
        let kept = ClientMetadata(
            name: "Ours", redirects: ["http://127.0.0.1/cb"], grants: ["authorization_code"], proof: "client_secret_basic",
            scopes: ["openid"])
        let registered = ClientRegistration(
            id: "c-1", secretExpiry: 1_900_000_000, address: issuer.url("register/c-1"), metadata: kept)
        let outcome = Outcome(client: registered, secret: "s-1", token: "r-1")
        #expect(await ask(issuer, .register(Self.metadata, at: nil), token: "first", statement: "a.b.c") == .success(outcome))
        let asked = try #require(try issuer.asked().last)
        #expect(asked.target == "/told/register" && asked.fields["authorization"] == "Bearer first")
        #expect(
            asked.body == """
                {"application_type":"native","client_name":"omvault","grant_types":["authorization_code","refresh_token"],\
                "redirect_uris":["http:\\/\\/127.0.0.1\\/cb"],"response_types":["code"],"scope":"openid profile",\
                "software_statement":"a.b.c","token_endpoint_auth_method":"none"}
                """ || asked.body.contains("\"redirect_uris\":[\"http://127.0.0.1/cb\"]"), "\(asked.body)")
        #expect(!asked.body.contains("_uri\"") && asked.body.contains("\"software_statement\":\"a.b.c\""))

        #expect(await ask(issuer, .read(at: issuer.url("register/c-1")), token: "r-1") == .success(outcome))
        let read = try #require(try issuer.asked().last)
        #expect(read.target == "/told/register/c-1" && read.fields["authorization"] == "Bearer r-1" && read.body.isEmpty)

        let step = ClientStep.update(Self.metadata, id: "c-1", at: issuer.url("register/c-1"))
        #expect(await ask(issuer, step, token: "r-1") == .success(outcome))
        #expect(try #require(try issuer.asked().last).body.contains("\"client_id\":\"c-1\""))

        // Without a proof the server's document decides.
        for (methods, expected) in [(["none", "client_secret_basic"], "none"), (["client_secret_basic"], "client_secret_basic")] {
            try await publish(issuer)
            try await issuer.publish(
                ["registration_endpoint": issuer.url("register"), "token_endpoint_auth_methods_supported": methods])
            _ = await ask(issuer, .register(ClientMetadata(), at: nil))
            #expect(try #require(try issuer.asked().last).body.contains("\"token_endpoint_auth_method\":\"\(expected)\""))
        }

        // A client with a key gives its public half, inline.
        let keyed = ClientMetadata(proof: "private_key_jwt", publicKey: "{\"kty\":\"OKP\"}")
        _ = await ask(issuer, .register(keyed, at: nil))
        #expect(try #require(try issuer.asked().last).body.contains("\"jwks\":{\"keys\":[{\"kty\":\"OKP\"}]}"))

        try await issuer.tell("register/c-1", Issuer.Told("", status: 204))
        #expect(await ask(issuer, .remove(at: issuer.url("register/c-1")), token: "r-1") == .success(Outcome()))
    }

    @Test("a server's refusals say what is wrong")
    func refusals() async throws {
        let issuer = try await Issuer()
        try await publish(issuer)
        let step = ClientStep.register(Self.metadata, at: nil)
        for (answer, expected): (Issuer.Told, OnlineRefusal) in [
            (.init("{\"error\":\"invalid_redirect_uri\"}", status: 400), .failed(.redirectRefused, status: 400)),
            (.init("{\"error\":\"invalid_client_metadata\"}", status: 400), .failed(.registrationRefused, status: 400)),
            (.init("{\"error\":\"unapproved_software_statement\"}", status: 400), .failed(.registrationRefused, status: 400)),
            (.init("no", status: 400), .failed(.registrationRefused, status: 400)),
            (.init("{\"error\":\"invalid_token\"}", status: 401), .rejected), (.init("no", status: 401), .rejected),
            (.init("[]"), .failed(.unexpectedAnswer)), (.init("{}"), .failed(.unexpectedAnswer)),
            (.init("{\"client_id\":\"\"}"), .failed(.unexpectedAnswer)),
            (.init("{\"client_id\":\"a\\u001b[2J\"}"), .failed(.unexpectedAnswer)),
            (.init("{\"client_id\":\"a\",\"client_secret\":\"a\\nb\"}"), .failed(.unexpectedAnswer)),
            (
                .init(
                    "{\"client_id\":\"a\",\"registration_access_token\":\"r 2\",\"registration_client_uri\":\"\(issuer.url("c"))\"}"
                ), .failed(.unexpectedAnswer)
            ),
            (.init("{\"client_id\":\"a\",\"redirect_uris\":[\"\\u202e\"]}"), .failed(.unexpectedAnswer)),
        ] {
            try await issuer.tell("register", answer)
            #expect(await ask(issuer, step) == .failure(expected), "\(answer.body) \(answer.status)")
        }
        try await issuer.publish()
        #expect(await ask(issuer, step) == .failure(.failed(.noRegistration)))
        // A token that would end its header.
        let bad = await ask(issuer, .read(at: issuer.url("register/c-1")), token: "a\r\nX: y")
        #expect(bad == .failure(.failed(.unusableSession)))
    }

    @Test("the token of a registration goes to the origin that registered the client, and to no other")
    func foreign() async throws {
        let issuer = try await Issuer()
        // The same server under another name is another origin.
        let other = issuer.url("register/c-1").replacing("localhost", with: "127.0.0.1")
        for address in [other, "https://other.example/c-1", "nonsense"] {
            try await publish(issuer, ["registration_client_uri": address])
            // The client is registered in any case. It is kept without what manages it.
            let kept = try await ask(issuer, .register(Self.metadata, at: nil)).get()
            #expect(kept.client?.id == "c-1" && kept.client?.address == nil && kept.token == nil, "\(address)")
            #expect(kept.secret == "s-1")
            let read = try await ask(issuer, .read(at: issuer.url("register/c-1")), token: "r-0").get()
            #expect(read.client?.address == nil && read.token == "r-1", "\(address)")
        }
        #expect(await ask(issuer, .read(at: other), token: "r-1") == .failure(.failed(.foreignEndpoint)))
        #expect(await ask(issuer, .remove(at: other), token: "r-1") == .failure(.failed(.foreignEndpoint)))
        #expect(try issuer.asked().allSatisfy { ["Bearer r-0", nil].contains($0.fields["authorization"]) })
        // Without management the client has an id only.
        try await publish(
            issuer,
            [
                "registration_client_uri": NSNull(), "registration_access_token": NSNull(), "client_secret": NSNull(),
                "client_secret_expires_at": 0, "token_endpoint_auth_method": "none",
            ])
        let outcome = try await ask(issuer, .register(Self.metadata, at: nil)).get()
        #expect(outcome.client?.address == nil && outcome.secret == nil && outcome.token == nil)
        #expect(outcome.client?.secretExpiry == nil && outcome.client?.metadata.proof == "none")
    }

    @Test("steps and registrations are read as they were written; cut, longer, or beyond a bound they are refused")
    func wire() throws {
        let registration = ClientRegistration(
            id: "c-1", secretExpiry: 5, address: "https://id.example/c", metadata: Self.metadata)
        let id = [UInt8](repeating: 7, count: 16)
        func read(_ registration: ClientRegistration, _ step: ClientStep, extra: [UInt8] = []) -> ClientRegistration? {
            var body = OnlineReply.accepted(OnlineAcceptance(session: bytes("t"), client: registration))
                .encoded(id, .client(step))
            for byte in extra { body.append(byte) }
            return try? body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
                switch try OnlineReply.decode(bytes, to: id, .client(step)) {
                case .accepted(let acceptance): acceptance.client
                case .refused: nil
                case .asked: nil
                }
            }
        }
        #expect(read(registration, .read(at: "a")) == registration)
        #expect(read(registration, .read(at: "a"), extra: [0]) == nil)
        #expect(read(ClientRegistration(id: "", metadata: Self.metadata), .read(at: "a")) == nil)
        let long = ClientMetadata(scopes: Array(repeating: "s", count: 65))
        #expect(read(ClientRegistration(id: "c", metadata: long), .read(at: "a")) == nil)
        // The answer to the last step has nothing.
        #expect(read(registration, .remove(at: "a")) == nil)
        let service = OnlineService(.oauth(OAuthService(.token("https://id.example/t", revocation: nil), clientID: "id")))
        for step: ClientStep in [
            .register(Self.metadata, at: nil), .register(Self.metadata, at: "https://id.example/r"), .read(at: "a"),
            .update(Self.metadata, id: "c", at: "a"), .remove(at: "a"),
        ] {
            let question = OnlineQuestion.client(step, token: bytes("t"), statement: bytes("s"), of: service)
            guard let encoded = question.encoded() else {
                Issue.record("not encoded: \(step)")
                continue
            }
            encoded.withBytes { bytes in
                #expect((try? OnlineQuestion(decoding: bytes).task) == .client(step))
                let cut = bytes.extracting(0..<bytes.count - 1)
                #expect((try? OnlineQuestion(decoding: cut).task) == nil)
            }
        }
        #expect(
            !OnlineTask.client(.read(at: "a")).fits(OnlineService(.basic(BasicService(login: "https://a.example", logout: nil)))))
    }

    private func text(_ secret: consuming SecretBytes?) -> String? {
        switch consume secret {
        case .none: nil
        case .some(let secret): secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        }
    }
}
