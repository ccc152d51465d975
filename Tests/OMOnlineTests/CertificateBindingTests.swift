// Tokens that are bound to the client's certificate, against nginx and Glewlwyd. docs/reference/online.md, "Client certificates".

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("Tokens that are bound to a certificate") struct CertificateBindingTests {
    private static let mutual = Task { try await Server("mutual") }
    private static let glewlwyd = Task { try await Server("glewlwyd-mutual") }

    private func grant(
        _ server: Server, _ name: String?, _ endpoint: OAuthService.Endpoint, id: String = "c",
        constraint: SenderConstraint = .mtls
    ) async throws -> Result<String, OnlineRefusal> {
        let client = try name.map { try server.client($0) }
        let method: ClientProof.Method = id == "c" ? .automatic : .certificate
        let kind = OAuthService(
            endpoint, clientID: id, scopes: id == "c" ? [] : ["profile"], grant: .clientCredentials, proof: ClientProof(method),
            constraint: constraint)
        let service = OnlineService(.oauth(kind), trusted: server.ca, deadlines: patient, chain: client?.chain)
        do throws(OnlineRefusal) {
            var grant = try await OAuthProvider(service, kind, signer: client?.signer).grant(
                clientSecret: SecretBytes(copying: []))
            guard let access = grant.takeAccess() else { return .failure(.failed(.unexpectedAnswer)) }
            return .success(access.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
        } catch { return .failure(error) }
    }

    @Test("a JWT must name our certificate, and a token endpoint must ask for it; else the tokens are revoked")
    func binding() async throws {
        let server = try await Self.mutual.value
        func asked(
            _ name: String, _ path: String, at port: String = "port", _ constraint: SenderConstraint = .mtls
        ) async throws -> OnlineRefusal? {
            let endpoint = OAuthService.Endpoint.token(
                server.url(path, port), revocation: server.url("/revoke/\(name)\(path)", port))
            switch try await grant(server, name, endpoint, constraint: constraint) {
            case .success: return nil
            case .failure(let refusal): return refusal
            }
        }
        #expect(try await asked("p256", "/token-bound") == nil)
        // A token that is taken is not revoked, and so nothing is waited for.
        try #require(try await asked("p384", "/token-bound") == .failed(.foreignBinding))
        try #require(try await asked("p256", "/token-unbound") == .failed(.foreignBinding))
        #expect(try await asked("p256", "/token") == nil)
        try #require(try await asked("p256", "/token-any", at: "open") == .failed(.certificateNotAsked))
        #expect(try await asked("p384", "/token-bound", .none) == nil)
        for revoked in ["p384/token-bound", "p256/token-unbound", "p256/token-any"] {
            try await eventually {
                String(decoding: server.contents("log"), as: UTF8.self).contains("POST /revoke/\(revoked) HTTP/1.1\" 200")
            }
        }
        let log = String(decoding: server.contents("log"), as: UTF8.self)
        #expect(!log.contains("POST /revoke/p256/token-bound") && !log.contains("POST /revoke/p256/token "))
    }

    @Test("Glewlwyd binds its tokens to the certificate that has the client's name, and refuses every other client")
    func glewlwyd() async throws {
        let server = try await Self.glewlwyd.value
        let document = OAuthService.Endpoint.discovery("\(server["issuer"])/.well-known/openid-configuration")
        let token = try await grant(server, "robot", document, id: "robot").get()
        let certificate = try server.client("robot").chain.certificates[0]
        let thumbprint = try #require(CertificateBinding.thumbprint(of: certificate))
        #expect(CertificateBinding(token) == .thumbprint(thumbprint))
        for name in ["foreign", "p256"] {
            #expect(
                try await grant(server, name, document, id: "robot") == .failure(.failed(.certificateRefused, status: 403)))
        }
        // At the plain endpoint, which is for clients with another proof.
        #expect(try await grant(server, nil, document, id: "robot", constraint: .none) == .failure(.forbidden(.status)))
    }

    @Test("a token that is no JWT says nothing about its binding, and a JWT says one thing")
    func reading() {
        func token(_ header: String, _ claims: String) -> String {
            [header, claims, "s"].map { Data($0.utf8).base64EncodedString() }.map { text in
                text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            }.joined(separator: ".")
        }
        let jwt = #"{"alg":"none"}"#
        #expect(CertificateBinding(token(jwt, #"{"cnf":{"x5t#S256":"abc"}}"#)) == .thumbprint("abc"))
        for claims in ["{}", #"{"cnf":{}}"#, #"{"cnf":"x5t#S256"}"#, #"{"cnf":{"jkt":"abc"}}"#, #"{"cnf":{"x5t#S256":1}}"#] {
            #expect(CertificateBinding(token(jwt, claims)) == CertificateBinding.none, "\(claims)")
        }
        for opaque in [
            "", "abc", "a.b.c", "..", token("{}", "{}"), token(jwt, "[]"), token(jwt, "{}") + ".x", token(jwt, "{}") + ".",
        ] {
            #expect(CertificateBinding(opaque) == .opaque, "\(opaque)")
        }
    }

    @Test("a try says whether a server asks for the certificate, whether it demands it, and whether it takes it")
    func trial() async throws {
        let server = try await Self.mutual.value
        func trial(_ name: String, _ path: String, at port: String = "port", tls12: Bool = false) async throws
            -> CertificateTrial?
        {
            let (chain, signer) = try server.client(name, tls12: tls12)
            let address = server.url(path, port)
            let service = OnlineService(
                .certificate(BasicService(login: address)), trusted: server.ca, deadlines: patient, chain: chain)
            return try await CertificateTrialProvider(service, at: address, signer: signer).run().trial
        }
        func made(
            _ asking: CertificateTrial.Asking, _ without: UInt16, _ with: UInt16, _ isAccepted: Bool, isTLS13: Bool = true
        ) -> CertificateTrial {
            CertificateTrial(
                asking, without: .status(without), with: .status(with), isAccepted: isAccepted, isTLS13: isTLS13)
        }
        #expect(try await trial("p256", "/login") == made(.demanded, 400, 200, true))
        #expect(try await trial("foreign", "/login") == made(.demanded, 400, 400, false))
        #expect(try await trial("p256", "/login", at: "optional") == made(.demanded, 403, 200, true))
        #expect(try await trial("ed25519", "/everyone", at: "optional") == made(.optional, 200, 200, true))
        #expect(try await trial("revoked", "/everyone", at: "optional") == made(.optional, 200, 400, false))
        // The password is asked for in both cases.
        #expect(try await trial("rsa", "/basic", at: "optional") == made(.optional, 401, 401, true))
        #expect(try await trial("p256", "/everyone", at: "open") == made(.never, 200, 200, false))
        #expect(try await trial("p256", "/login", at: "old", tls12: true) == made(.demanded, 400, 200, true, isTLS13: false))
        await #expect(throws: OnlineRefusal.failed(.oldTLS)) { try await trial("p256", "/login", at: "old") }
    }
}
