// Tokens that are bound to a key of the session, at an issuer whose answers the test writes.

import OMAuth
import OMCrypto
import OMJSON
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMOnline

/// Signs with the key of one session, as often as a question may.
private final class BoundSigner: IdentitySigner {
    let noted = Locked<[String]>([])
    let key: TokenKey
    private let budget: Locked<SignatureBudget>

    init(_ service: OAuthService, _ task: OnlineTask) throws {
        key = try #require(TokenKey.make())
        budget = Locked(SignatureBudget(OnlineService(.oauth(service), deadlines: patient), task))
    }

    func sign(_ purpose: SigningPurpose) async throws(OnlineRefusal) -> SecretBytes {
        var taken: SignatureContent?
        budget.change { taken = $0.take(purpose) }
        switch taken {
        case .proof(let claims): return try key.prove(claims, now: 1_700_000_000)
        case .nonce(let nonce, let address):
            noted.change { $0.append(nonce) }
            key.note(nonce, of: address)
            return bytes(nonce)
        default: throw .failed(.helper)
        }
    }
}

/// The parts of a proof that a request brought.
private struct SeenProof {
    let claims: [String: JSON]
    let header: [String: JSON]

    init(_ request: SeenRequest) throws {
        let token = try #require(request.fields["dpop"])
        let named = Array(try Self.part(token, 0).utf8)
        header = try #require(try JSON(parsing: named.span).members)
        let jwk = try #require(header["jwk"]).serialized
        let verified = try JWS(bytes(token)).verified(
            by: JWKSet(Array("{\"keys\":[\(jwk)]}".utf8)), allowing: [.es256])
        claims = try #require(verified.payload.withBytes { try? JSON(parsing: $0) }?.members)
    }

    private static func part(_ token: String, _ index: Int) throws -> String {
        var text = String(token.split(separator: ".")[index]).replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        return String(decoding: try Base64.decode(text), as: UTF8.self)
    }

    subscript(_ name: String) -> String? { claims[name]?.text }
}

@Suite("Tokens that are bound to a key") struct BoundTokenTests {
    private static let bound = "{\"access_token\":\"at-1\",\"token_type\":\"DPoP\",\"refresh_token\":\"rt-1\"}"
    private static let plain = "{\"access_token\":\"at-1\",\"token_type\":\"Bearer\",\"refresh_token\":\"rt-1\"}"
    private static let wanted = "{\"error\":\"use_dpop_nonce\"}"

    private func service(
        _ issuer: Issuer, _ constraint: SenderConstraint = .dpop, _ grant: OAuthService.Grant = .resourceOwner
    ) -> OAuthService {
        OAuthService(
            .discovery(issuer.url(".well-known/openid-configuration")), clientID: "native", scopes: ["x"], grant: grant,
            issuer: issuer.name,
            browser: grant == .authorizationCode ? BrowserLogin(redirect: "http://127.0.0.1/cb", userClaim: "login") : nil,
            constraint: constraint)
    }

    /// The refusal of a login with a password, and the requests beside those for documents.
    private func logIn(
        _ issuer: Issuer, _ constraint: SenderConstraint = .dpop
    ) async throws -> (refusal: OnlineRefusal?, asked: [SeenRequest], signer: BoundSigner) {
        let oauth = service(issuer, constraint), signer = try BoundSigner(oauth, .login(user: "ada"))
        let provider = OAuthProvider(OnlineService(.oauth(oauth), deadlines: patient), oauth, signer: signer)
        var refused: OnlineRefusal?
        do { _ = try await provider.logIn("ada", password: bytes("p"), clientSecret: bytes("")) } catch let refusal
            as OnlineRefusal
        {
            refused = refusal
        }
        return (refused, try issuer.asked().filter { !$0.target.contains(".well-known") }, signer)
    }

    @Test("each try has a proof of its own; a nonce that the server wants goes into the second, and the newest one is kept")
    func nonce() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        try await issuer.tell(
            "token", .init(Self.wanted, status: 400, fields: ["DPoP-Nonce: n-1"]), .init(Self.bound, fields: ["DPoP-Nonce: n-2"]))
        let login = try await logIn(issuer)
        #expect(login.refusal == nil && login.asked.map(\.target) == ["/told/token", "/told/token"])
        let proofs = try login.asked.map { try SeenProof($0) }
        #expect(proofs.map { $0["nonce"] } == [nil, "n-1"] && login.signer.noted.value == ["n-2"])
        #expect(proofs.allSatisfy { $0["htm"] == "POST" && $0["htu"] == issuer.url("token") && $0["ath"] == nil })
        #expect(proofs.allSatisfy { $0.header["typ"]?.text == "dpop+jwt" && $0.header["alg"]?.text == "ES256" })
        #expect(Set(proofs.map { $0["jti"] }).count == 2)
        try await issuer.tell("token", .init(Self.bound, fields: ["DPoP-Nonce: n-3"]))
        #expect(try await logIn(issuer).signer.noted.value == ["n-3"])
    }

    private struct NoCaller: WebRequester.Caller {
        func next() async throws(OnlineRefusal) -> [UInt8] { [] }
        func take(status: UInt16, headers: [(name: String, value: String)]) async throws(OnlineRefusal) {}
        func take(_ piece: [UInt8]) async throws(OnlineRefusal) {}
        let keepsBack = false
        func hasPause() {}
    }

    @Test("the proof of a request has the nonce that its client names, whatever another answer brought, and no header names it")
    func nonceOfRequest() async throws {
        let issuer = try await Issuer()
        try await issuer.tell("page", .init(""))
        let address = try #require(EndpointURL(reading: issuer.url("page"))), signer = try BoundSigner(service(issuer), .userInfo)
        let requester = try WebRequester(
            address.origin, scheme: "DPoP", token: bytes("at-1"), trusting: nil, deadlines: patient, provedBy: signer)
        signer.key.note("n-2", of: address.text)
        try await requester.send(
            WebRequester.Request("GET", address.path, headers: [("DPoP-Nonce", "n-1")], body: .none, limit: 60_000),
            for: NoCaller())
        let asked = try issuer.asked()
        #expect(try asked.map { try SeenProof($0)["nonce"] } == ["n-1"] && asked[0].fields["dpop-nonce"] == nil)
    }

    @Test("a server that asks for nonces without end gets two requests, and a server that names no nonce gets one")
    func repeated() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        try await issuer.tell("token", .init(Self.wanted, status: 400, fields: ["DPoP-Nonce: n-1"]))
        let login = try await logIn(issuer)
        #expect(login.refusal == .failed(.nonceRepeated, status: 400) && login.asked.count == 2)
        for fields in [[], ["DPoP-Nonce: a b"]] {
            try await issuer.tell("token", .init(Self.wanted, status: 400, fields: fields))
            let login = try await logIn(issuer)
            #expect(login.refusal == .failed(.nonceRepeated, status: 400) && login.asked.count == 1)
        }
        try await issuer.tell("token", .init("{\"error\":\"invalid_dpop_proof\"}", status: 403))
        let refused = try await logIn(issuer)
        #expect(refused.refusal == .failed(.proofRefused, status: 403) && refused.asked.count == 1)
    }

    @Test(
        "an endpoint that takes tokens and asks for nonces without end gets two requests, and a refused proof has words of its own"
    )
    func repeatedAtResource() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        let oauth = service(issuer)
        let session = try ServerSession.tokens(.init(access: "at-1", issued: 0, scopes: [])).sealable()
        func asked(_ fields: String...) async throws -> (refusal: OnlineRefusal?, count: Int) {
            try await issuer.tell("user", .init("", status: 401, fields: fields))
            let provider = OAuthProvider(
                OnlineService(.oauth(oauth), deadlines: patient), oauth, signer: try BoundSigner(oauth, .userInfo))
            var refused: OnlineRefusal?
            do { _ = try await provider.userInfo(session) } catch let refusal as OnlineRefusal { refused = refusal }
            return (refused, try issuer.asked().filter { $0.target == "/told/user" }.count)
        }
        let challenge = "WWW-Authenticate: DPoP error="
        for (fields, expected, count) in [
            (["\(challenge)\"use_dpop_nonce\"", "DPoP-Nonce: u-1"], .nonceRepeated, 2),
            (["\(challenge)\"use_dpop_nonce\"", "X: y"], .nonceRepeated, 1),
            (["\(challenge)\"invalid_dpop_proof\"", "X: y"], .proofRefused, 1),
            (["\(challenge)\"invalid_token\"", "X: y"], .tokenRefused, 1),
        ] as [([String], OnlineFailure, Int)] {
            let told = try await asked(fields[0], fields[1])
            #expect(told.refusal == .failed(expected, status: 401) && told.count == count, "\(fields)")
        }
    }

    @Test("plain tokens for a profile that demands a key, and bound ones for a profile without one, are revoked")
    func unbound() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        for (answer, constraint, expected) in [
            (Self.plain, .dpop, .tokenNotBound), (Self.bound, .none, .tokenBound),
            ("{\"access_token\":\"at-1\",\"refresh_token\":\"rt-1\"}", .dpop, .tokenNotBound),
        ] as [(String, SenderConstraint, OnlineFailure)] {
            try await issuer.tell("token", .init(answer))
            let login = try await logIn(issuer, constraint)
            #expect(login.refusal == .failed(expected), "\(answer)")
            #expect(login.asked.map(\.target) == ["/told/token", "/told/revoke", "/told/revoke"])
            #expect((login.asked[0].fields["dpop"] != nil) == (constraint == .dpop))
        }
    }

    @Test("a login in a browser names its key, and the question for the user has a proof with the hash of the token")
    func browser() async throws {
        let issuer = try await Issuer()
        try await issuer.publish()
        try await issuer.tell("token", .init(Self.bound))
        let challenge = "WWW-Authenticate: DPoP error=\"use_dpop_nonce\""
        try await issuer.tell(
            "user", .init("", status: 401, fields: [challenge, "DPoP-Nonce: u-1"]),
            .init("{\"login\":\"ada\"}", fields: ["DPoP-Nonce: u-2"]))
        let oauth = service(issuer, .dpop, .authorizationCode)
        let signer = try BoundSigner(oauth, .authorize(user: nil, seconds: 60, byDevice: false))
        let thumbprint = signer.key.thumbprint
        let person = Person { step, _ in
            let opened = try Opened(step)
            #expect(opened["dpop_jkt"] == thumbprint)
            _ = try await Raw.send(opened.request("code=c-1&state=\(opened["state"])"), to: opened.port)
        }
        let provider = BrowserLoginProvider(
            OnlineService(.oauth(oauth), deadlines: patient), oauth, signer: signer, keyThumbprint: thumbprint)
        _ = try await provider.logIn(listening: [Raw.listen().socket], user: "ada", clientSecret: bytes(""), with: person)
        let asked = try issuer.asked().filter { ["/told/token", "/told/user"].contains($0.target) }
        #expect(asked.map(\.target) == ["/told/token", "/told/user", "/told/user"])
        #expect(asked.map { $0.fields["authorization"] } == [nil, "DPoP at-1", "DPoP at-1"])
        let proofs = try asked.map { try SeenProof($0) }
        // SHA-256 of "at-1".
        let hash = "R8PYaIQdcYEdkSc9TeGyiUqSAedmCQuOQImPRh1E3HI"
        #expect(proofs.map { $0["ath"] } == [nil, hash, hash])
        #expect(proofs.map { $0["nonce"] } == [nil, nil, "u-1"] && signer.noted.value == ["u-2"])
    }

    @Test("a key that has ended signs nothing, and other bytes are no key")
    func ended() throws {
        let key = try #require(TokenKey.make()), sealed = key.sealable
        let again = TokenKey.read(sealed), other = TokenKey.read(try PrivateKey.generate(.ec(.p384)).unencryptedPKCS8())
        let none = TokenKey.read(bytes("no key"))
        #expect(again?.thumbprint == key.thumbprint && other == nil && none == nil)
        key.end()
        #expect(throws: OnlineRefusal.failed(.unusableClientKey)) {
            _ = try key.prove(KeyProofClaims("GET", "https://a.example/"), now: 1).count
        }
    }
}
