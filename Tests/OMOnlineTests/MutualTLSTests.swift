// Certificates of clients against nginx and OpenSSL. docs/reference/online.md, "Client certificates".

import Foundation
import NIOSSL
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("Client certificates in TLS") struct MutualTLSTests {
    private static let mutual = Task { try await Server("mutual") }

    private func server() async throws -> Server { try await Self.mutual.value }

    private func provider(
        _ server: Server, _ path: String, _ name: String, at port: String = "port", tokens: [String] = [], tls12: Bool = false,
        logout: String? = nil
    ) throws -> (provider: CertificateProvider, signer: LocalSigner) {
        let (chain, signer) = try server.client(name, tls12: tls12)
        let addresses = BasicService(
            login: server.url(path, port), logout: logout.map { server.url($0, port) }, requiredTokens: tokens)
        let service = OnlineService(.certificate(addresses), trusted: server.ca, deadlines: patient, chain: chain)
        return (CertificateProvider(service, addresses, signer: signer), signer)
    }

    private func refusal(
        _ server: Server, _ path: String, _ name: String, at port: String = "port", tokens: [String] = [], tls12: Bool = false
    ) async throws -> OnlineRefusal? {
        let provider = try provider(server, path, name, at: port, tokens: tokens, tls12: tls12).provider
        return await OMOnlineTests.refusal { () async throws(OnlineRefusal) in try await provider.logIn() }
    }

    @Test(
        "a key of each type logs in, by one signature of TLS 1.3's own text",
        arguments: ["p256", "p384", "p521", "rsa", "ed25519"])
    func kinds(_ name: String) async throws {
        let server = try await server()
        for port in ["port", "optional"] {
            let (provider, signer) = try provider(server, "/login", name, at: port, tokens: ["SID"])
            let grant = try await provider.logIn()
            #expect(grant.serverTime != nil)
            let cookies = try grant.newSession().cookies().cookies.map(\.name)
            #expect(cookies == ["SID"])
            let prefix = [UInt8](repeating: 0x20, count: 64) + Array("TLS 1.3, client CertificateVerify".utf8) + [0]
            #expect(signer.texts.map { Array($0.prefix(prefix.count)) } == [prefix])
            #expect(signer.texts.map { [32, 48].contains($0.count - prefix.count) } == [true])
        }
    }

    @Test(
        "a foreign, an expired and a revoked certificate are refused as certificates, whether nginx demands one or not",
        arguments: ["foreign", "expired", "revoked"])
    func wrong(_ name: String) async throws {
        let server = try await server()
        for port in ["port", "optional"] {
            #expect(try await refusal(server, "/login", name, at: port) == .failed(.certificateRefused, status: 400))
        }
    }

    @Test("a server that lets every client in, or that never asks for a certificate, logs no client in")
    func unproven() async throws {
        let server = try await server()
        #expect(
            try await refusal(server, "/everyone", "p256", at: "optional") == .failed(.noCertificateNeeded, status: 200))
        #expect(try await refusal(server, "/first", "p256", at: "open") == .failed(.certificateNotAsked, status: 200))
        #expect(try await refusal(server, "/login", "p256", at: "open") == .failed(.certificateNotAsked, status: 403))
    }

    @Test("a redirect, and an answer without a required cookie, is no login")
    func tokens() async throws {
        let server = try await server()
        #expect(try await refusal(server, "/moved", "p256") == .failed(.redirected, status: 302))
        #expect(try await refusal(server, "/moved", "p256", tokens: ["SID"]) == nil)
        #expect(try await refusal(server, "/bare", "p256", tokens: ["SID"]) == .failed(.tokenMissing, status: 200))
    }

    @Test("the session is checked and ended with the certificate")
    func session() async throws {
        let server = try await server()
        let (provider, signer) = try provider(server, "/login", "p256", logout: "/logout")
        let session = try await provider.logIn().newSession()
        _ = try await provider.check(session)
        _ = try await provider.logOut(session)
        #expect(signer.texts.count == 3)
        let wrong = try self.provider(server, "/login", "revoked", logout: "/logout").provider
        let refusal = await OMOnlineTests.refusal { () async throws(OnlineRefusal) in try await wrong.check(session) }
        #expect(refusal == .failed(.certificateRefused, status: 400))
    }

    @Test("a server with TLS 1.2 alone gets no certificate, unless the profile shows it there")
    func oldTLS() async throws {
        let server = try await server()
        #expect(try await refusal(server, "/login", "p256", at: "old") == .failed(.oldTLS))
        let (provider, signer) = try provider(server, "/login", "p256", at: "old", tls12: true)
        _ = try await provider.logIn()
        // The text begins with a ClientHello.
        #expect(signer.texts.map(HandshakeTranscript.isOne) == [true])
        #expect(try await refusal(server, "/login", "rsa", at: "old", tls12: true) == nil)
        #expect(try await refusal(server, "/login", "ed25519", at: "old", tls12: true) == nil)
        #expect(
            try await refusal(server, "/login", "foreign", at: "old", tls12: true)
                == .failed(.certificateRefused, status: 400))
    }

    @Test("a signer's refusal is the login's, and ends it before any request with the certificate")
    func locked() async throws {
        let server = try await server()
        let (chain, _) = try server.client("p256")
        let addresses = BasicService(login: server.url("/login"))
        let service = OnlineService(.certificate(addresses), trusted: server.ca, deadlines: patient, chain: chain)
        let provider = CertificateProvider(service, addresses, signer: LockedSigner())
        let refusal = await OMOnlineTests.refusal { () async throws(OnlineRefusal) in try await provider.logIn() }
        #expect(refusal == .failed(.cancelled))
    }

    // MARK: - Beside another proof

    private func basic(
        _ server: Server, _ path: String, _ name: String?, at port: String = "port"
    ) throws -> (provider: HTTPBasicProvider, signer: LocalSigner?) {
        let client = try name.map { try server.client($0) }
        let kind = BasicService(login: server.url(path, port))
        let service = OnlineService(.basic(kind), trusted: server.ca, deadlines: patient, chain: client?.chain)
        return (HTTPBasicProvider(service, kind, signer: client?.signer), client?.signer)
    }

    @Test("HTTP Basic behind nginx takes the password and the certificate, and each refusal names its cause")
    func basicWithCertificate() async throws {
        let server = try await server()
        let (right, signer) = try basic(server, "/basic", "p256")
        #expect(await right.refusal() == nil)
        #expect(signer?.texts.count == 1)
        #expect(await right.refusal("alice", "wrong") == .rejected)
        for name in ["foreign", "expired", "revoked"] {
            #expect(await (try basic(server, "/basic", name).provider).refusal() == .failed(.certificateRefused, status: 400))
        }
        #expect(await (try basic(server, "/basic", nil).provider).refusal() == .failed(.unexpectedAnswer, status: 400))
        // Not asked for: the password alone decides.
        let (plain, unasked) = try basic(server, "/basic", "p256", at: "open")
        #expect(await plain.refusal() == nil)
        #expect(unasked?.texts == [])
    }

    @Test("the certificate goes to the origins of the profile and to no other, at each of which nginx asks for it")
    func origins() async throws {
        let server = try await server()
        let (chain, signer) = try server.client("p256")
        let addresses = BasicService(login: server.url("/login"), logout: server.url("/logout", "optional"))
        let service = OnlineService(.certificate(addresses), trusted: server.ca, deadlines: patient, chain: chain)
        let shown = try ShownCertificate(chain, of: service, signedBy: signer)
        func goes(_ text: String) throws -> Bool { shown.goes(to: try EndpointURL(text)) }
        #expect(try goes(server.url("/other")))
        #expect(try goes(server.url("/logout", "optional")))
        #expect(try !goes(server.url("/login", "open")))
        #expect(try !goes(server.url("/login", host: "127.0.0.1")))
        #expect(try !goes(server.url("/login", scheme: "http")))
        let exchange = try HTTPExchange(service, signer)
        var elsewhere = Visit(exchange: exchange, headers: [])
        let answer = try await elsewhere.get(try EndpointURL(server.url("/login", host: "127.0.0.1")))
        #expect(answer.status == 400)
        #expect(signer.texts == [])
    }

    @Test("a connection that shows the certificate is not renegotiated, and is TLS 1.3 unless the profile says otherwise")
    func settings() async throws {
        let server = try await server()
        for allowsTLS12 in [false, true] {
            let (chain, signer) = try server.client("p256", tls12: allowsTLS12)
            let service = OnlineService(
                .certificate(BasicService(login: server.url("/login"))), trusted: server.ca, deadlines: patient, chain: chain)
            let exchange = try HTTPExchange(service, signer)
            let settings = try #require(exchange.settingsWithCertificate(to: try EndpointURL(server.url("/login"))))
            #expect(settings.renegotiationSupport == .none)
            #expect(settings.minimumTLSVersion == (allowsTLS12 ? .tlsv12 : .tlsv13))
        }
    }

    // MARK: - OAuth

    private func client(
        _ server: Server, _ name: String?, origins: [String], path: String? = nil, at port: String = "port"
    ) throws -> OAuthProvider {
        let client = try name.map { try server.client($0) }
        let endpoint: OAuthService.Endpoint =
            path.map { .token(server.url($0, port), revocation: nil) }
            ?? .discovery(server.url("/.well-known/openid-configuration", "open"))
        let kind = OAuthService(endpoint, clientID: "c", grant: .clientCredentials, origins: origins)
        let service = OnlineService(.oauth(kind), trusted: server.ca, deadlines: patient, chain: client?.chain)
        return OAuthProvider(service, kind, signer: client?.signer)
    }

    private func grant(_ provider: OAuthProvider) async -> Result<String, OnlineRefusal> {
        do throws(OnlineRefusal) {
            var grant = try await provider.grant(clientSecret: SecretBytes(copying: []))
            guard let access = grant.takeAccess() else { return .failure(.failed(.unexpectedAnswer)) }
            return .success(access.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
        } catch { return .failure(error) }
    }

    @Test("a client with a certificate gets its token at the alias that the document names, and no other client does")
    func alias() async throws {
        let server = try await server()
        let origin = server.url("")
        #expect(await grant(try client(server, "p256", origins: [origin])) == .success("of CN=p256"))
        #expect(
            await grant(try client(server, "foreign", origins: [origin])) == .failure(.failed(.certificateRefused, status: 400)))
        #expect(await grant(try client(server, nil, origins: [origin])) == .failure(.failed(.invalidClient, status: 401)))
        #expect(await grant(try client(server, "p256", origins: [])) == .failure(.failed(.foreignEndpoint)))
    }

    @Test("403 without a word from a token endpoint that asked for the certificate is about the certificate")
    func empty() async throws {
        let server = try await server()
        #expect(
            await grant(try client(server, "p256", origins: [], path: "/silent"))
                == .failure(.failed(.certificateRefused, status: 403)))
        #expect(
            await grant(try client(server, "p256", origins: [], path: "/silent", at: "open"))
                == .failure(.forbidden(.status)))
    }
}
