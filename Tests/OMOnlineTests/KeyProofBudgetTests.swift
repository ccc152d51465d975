// The proofs of a session's key that a helper may have signed: docs/formats/online-protocol.md, "Signatures".

import OMAgentProtocol
import OMAuth
import OMOnlineModel
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMOnline

@Suite("The proofs of a question") struct KeyProofBudgetTests {
    private static let document = OAuthService.Endpoint.discovery("https://a.example/.well-known/openid-configuration")

    private func service(
        _ endpoint: OAuthService.Endpoint = document, _ constraint: SenderConstraint = .dpop, origins: [String] = []
    ) -> OnlineService {
        OnlineService(
            .oauth(
                OAuthService(
                    endpoint, clientID: "id", origins: origins,
                    tokenEndpoints: TokenEndpoints(userInfo: "https://u.example:8443/user"), constraint: constraint)),
            deadlines: patient)
    }

    private func takes(_ address: String, _ service: OnlineService) -> Bool {
        var budget = SignatureBudget(service, .refresh)
        let nonce = budget.take(.nonce("n", of: address)) != nil
        let proof = budget.take(.proof(KeyProofClaims("POST", address))) != nil
        #expect(nonce == proof, "\(address)")
        return proof
    }

    @Test("a question has 8 proofs, a login by a code some more, a helper of requests 8 for each, and no further one")
    func count() {
        func count(_ budget: SignatureBudget, _ address: String = "https://a.example/t") -> Int {
            var budget = budget, count = 0
            while budget.take(.proof(KeyProofClaims("POST", address))) != nil, count < 99_999 { count += 1 }
            return count
        }
        for (task, expected) in [
            (.refresh, 8), (.userInfo, 8), (.authorize(user: nil, seconds: 180, byDevice: false), 8),
            (.authorize(user: nil, seconds: 180, byDevice: true), 80),
        ] as [(OnlineTask, Int)] {
            #expect(count(SignatureBudget(service(), task)) == expected, "\(task)")
        }
        #expect(count(SignatureBudget(requestsTo: "https://a.example:443", proves: true, showing: nil)) == 8_000)
        #expect(count(SignatureBudget(service(Self.document, .none), .refresh)) == 0)
    }

    @Test("proofs and nonces are for the origins of the profile only, and a helper of requests has one origin")
    func origins() {
        for (address, isAllowed) in [
            ("https://a.example/t", true), ("https://A.example:443//t?x", true), ("https://b.example:7/t", true),
            ("https://a.example:8443/t", false), ("http://a.example:443/t", false), ("https://a.example.evil/t", false),
            ("https://a.example@evil.example/t", false), ("https://evil.example/?https://a.example/", false), ("", false),
        ] {
            #expect(takes(address, service(origins: ["https://b.example:7"])) == isAllowed, "\(address)")
        }
        let named = service(.token("https://a.example/t", revocation: "https://r.example/r"))
        #expect(takes("https://a.example/other", named) && takes("https://u.example:8443/user", named))
        #expect(!takes("https://r.example/r", named) && !takes("https://u.example/user", named))
        var requests = SignatureBudget(requestsTo: "https://a.example:443", proves: true, showing: nil)
        #expect(requests.take(.proof(KeyProofClaims("GET", "https://a.example/x"))) != nil)
        #expect(requests.take(.proof(KeyProofClaims("GET", "https://b.example/x"))) == nil)
        #expect(requests.take(.assertion(at: .token)) == nil)
    }

    @Test("a purpose of a proof is read strictly")
    func wire() throws {
        let id = [UInt8](repeating: 9, count: 16), hash = [UInt8](repeating: 7, count: 32)
        func read(_ purpose: SigningPurpose, changing change: (inout [UInt8]) -> Void = { _ in }) -> SigningPurpose? {
            var body = SecretBuffer()
            body.write(WireID(id), purpose)
            var bytes = body.withBytes { body in body.indices.map { body[$0] } }
            change(&bytes)
            return try? SigningPurpose(decoding: bytes.span, of: id)
        }
        let address = "https://a.example/t"
        for purpose in [
            SigningPurpose.proof(KeyProofClaims("GET", address)), .nonce("n", of: address),
            .proof(KeyProofClaims(String(repeating: "G", count: 256), String(repeating: "a", count: 2_048))),
            .proof(KeyProofClaims("M-SEARCH", address, nonce: "n.~", tokenHash: hash)),
        ] {
            #expect(read(purpose) == purpose)
            #expect(read(purpose) { $0.append(0) } == nil && read(purpose) { $0.removeLast() } == nil)
        }
        let long = String(repeating: "n", count: 1_025)
        for purpose in [
            SigningPurpose.proof(KeyProofClaims("", address)), .proof(KeyProofClaims("G T", address)),
            .proof(KeyProofClaims(String(repeating: "G", count: 257), address)), .proof(KeyProofClaims("GET", "")),
            .proof(KeyProofClaims("GET", String(repeating: "a", count: 2_049))),
            .proof(KeyProofClaims("GET", address, nonce: "")), .proof(KeyProofClaims("GET", address, nonce: "a b")),
            .proof(KeyProofClaims("GET", address, nonce: "a\"b")), .proof(KeyProofClaims("GET", address, nonce: long)),
            .nonce("ü", of: address), .nonce("n", of: ""),
        ] {
            #expect(read(purpose) == nil, "\(purpose)")
        }
    }
}
