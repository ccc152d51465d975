// Which endpoints of a discovery document may be used.

import NIOHTTP1
import OMOnlineModel
import OMSecrets
import Testing

@testable import OMOnline

@Suite("A discovery document") struct DiscoveryDocumentTests {
    private static let address = "https://a.example/t/.well-known/openid-configuration"

    private func document(
        issuer: String?, _ origins: [String] = [], named: String = "https://a.example/t", token: String,
        revocation: String? = nil, more: String = ""
    ) throws(OnlineRefusal) -> DiscoveryDocument {
        let second = revocation.map { ",\"revocation_endpoint\":\"\($0)\"" } ?? ""
        let text = "{\"issuer\":\"\(named)\",\"token_endpoint\":\"\(token)\"\(second)\(more)}"
        guard let address = EndpointURL(reading: Self.address) else { throw .failed(.unsafeAddress) }
        let service = OAuthService(.discovery(Self.address), clientID: "c", issuer: issuer, origins: origins)
        return try DiscoveryDocument(Array(text.utf8), from: address, of: service)
    }

    @Test(
        "with an issuer in the profile the document names exactly that one",
        arguments: [
            ("https://a.example/t", true), ("https://a.example/t/", false), ("https://A.example/t", false),
            ("https://a.example:443/t", false), ("https://a.example", false),
        ])
    func issuer(known: String, isRight: Bool) throws {
        let token = "https://a.example/token"
        if isRight {
            #expect(try document(issuer: known, token: token).endpoints().token.text == token)
        } else {
            #expect(throws: OnlineRefusal.failed(.untrustedDiscovery)) { try document(issuer: known, token: token) }
        }
    }

    @Test(
        "with an issuer an endpoint has the document's origin or an allowed one; without one it has the port",
        arguments: [
            // The address, the allowed origins, and the verdicts with and without an issuer. Nil: it is used.
            ("https://a.example/x", [], nil, nil),
            ("https://b.example/x", [], OnlineFailure.foreignEndpoint, nil),
            ("https://b.example/x", ["https://b.example"], nil, nil),
            ("https://b.example:8443/x", ["https://b.example"], .foreignEndpoint, .untrustedDiscovery),
            ("https://b.example:8443/x", ["https://c.example", "https://b.example:8443"], nil, .untrustedDiscovery),
            ("https://b.example/x", ["http://b.example"], .foreignEndpoint, nil),
            // Never http, whatever is allowed.
            ("http://127.0.0.1/x", ["http://127.0.0.1"], .untrustedDiscovery, .untrustedDiscovery),
        ] as [(String, [String], OnlineFailure?, OnlineFailure?)])
    func origins(address: String, allowed: [String], strict: OnlineFailure?, lax: OnlineFailure?) throws {
        for (issuer, origins, verdict) in [("https://a.example/t", allowed, strict), (nil, [], lax)] {
            func read() throws -> OAuthEndpoints { try document(issuer: issuer, origins, token: address).endpoints() }
            if let verdict {
                #expect(throws: OnlineRefusal.failed(verdict)) { try read() }
            } else {
                #expect(try read().token.text == address)
            }
        }
    }

    @Test(
        "metadata in the profile obey the rules of a document at the issuer's origin",
        arguments: [
            // The members, and the verdict. Nil: it is used.
            (#""issuer":"https://a.example/t","token_endpoint":"https://a.example/x""#, nil),
            (#""openid-configuration":{"issuer":"https://a.example/t","token_endpoint":"https://a.example/x"}"#, nil),
            (#""issuer":"https://a.example/t","token_endpoint":"https://c.example/x""#, nil),
            (#""issuer":"https://a.example/t","token_endpoint":"https://b.example/x""#, OnlineFailure.foreignEndpoint),
            (#""issuer":"https://a.example/t","token_endpoint":"https://a.example:8443/x""#, .foreignEndpoint),
            (#""issuer":"https://a.example/t","token_endpoint":"http://127.0.0.1/x""#, .untrustedDiscovery),
            (
                #""issuer":"https://a.example/t","token_endpoint":"https://a.example/x","revocation_endpoint":"https://b.example/r""#,
                .foreignEndpoint
            ),
            // Another issuer than the profile's, byte for byte.
            (#""issuer":"https://a.example/t/","token_endpoint":"https://a.example/x""#, .untrustedDiscovery),
            (#""issuer":"https://A.example/t","token_endpoint":"https://a.example/x""#, .untrustedDiscovery),
            (#""issuer":"https://a.example/t""#, .untrustedDiscovery),
            (#""token_endpoint":"https://a.example/x""#, .untrustedDiscovery),
            (#""issuer":7,"token_endpoint":"https://a.example/x""#, .untrustedDiscovery),
            (#""issuer":"https://a.example/t","token_endpoint":["https://a.example/x"]"#, .untrustedDiscovery),
        ] as [(String, OnlineFailure?)])
    func configured(members: String, verdict: OnlineFailure?) throws {
        func read(_ text: String) throws(OnlineRefusal) -> OAuthEndpoints {
            let service = OAuthService(
                .configuration(text), clientID: "c", issuer: "https://a.example/t", origins: ["https://c.example"])
            return try DiscoveryDocument(configured: Array(text.utf8), of: service).endpoints()
        }
        if let verdict {
            #expect(throws: OnlineRefusal.failed(verdict)) { try read("{\(members)}") }
        } else {
            #expect(try read("{\(members)}").token.path == "/x")
        }
        #expect(throws: OnlineRefusal.failed(.untrustedDiscovery)) { try read("{\(members)") }
    }

    @Test("the issuer of metadata in a profile is https or this machine, without a query, and the metadata have a bound")
    func configuredIssuer() throws {
        func verdict(_ issuer: String, padding: Int = 0) -> OnlineRefusal? {
            let text =
                "{\"issuer\":\"\(issuer)\",\"token_endpoint\":\"https://a.example/x\"}" + String(repeating: " ", count: padding)
            let service = OAuthService(.configuration(text), clientID: "c", issuer: issuer, origins: ["https://a.example"])
            do throws(OnlineRefusal) {
                _ = try DiscoveryDocument(configured: Array(text.utf8), of: service).endpoints()
                return nil
            } catch { return error }
        }
        #expect(verdict("https://a.example") == nil && verdict("http://127.0.0.1:8080") == nil)
        #expect(verdict("http://a.example") == .failed(.unsafeAddress))
        #expect(verdict("https://a.example?x") == .failed(.untrustedDiscovery))
        #expect(verdict("https://a.example", padding: 256 << 10) == .failed(.untrustedDiscovery))
    }

    @Test("origins alone bind the endpoints too, also the address in a session from before")
    func originsAlone() async throws {
        #expect(throws: OnlineRefusal.failed(.foreignEndpoint)) {
            try document(issuer: nil, ["https://c.example"], token: "https://b.example/x").endpoints()
        }
        let tokens = ServerSession.Tokens(
            access: "a", refresh: "r", issued: 0, lifetime: nil, scopes: [], revocation: "https://b.example/r",
            revocationTakesSecretInBody: nil)
        let session = try ServerSession.tokens(tokens).sealable(), secret = SecretBytes(copying: [1])
        for (issuer, origins) in [("https://a.example/t", []), (nil, ["https://c.example"])] as [(String?, [String])] {
            let oauth = OAuthService(.discovery(Self.address), clientID: "c", issuer: issuer, origins: origins)
            let provider = OAuthProvider(OnlineService(.oauth(oauth)), oauth)
            await #expect(throws: OnlineRefusal.failed(.noLogout)) {
                _ = try await provider.logOut(session, clientSecret: secret)
            }
        }
    }

    @Test(
        "a document that is cut or nested too deeply is none, and neither is such an answer with a token; one byte order mark is skipped"
    )
    func broken() throws {
        let address = try #require(EndpointURL(reading: Self.address))
        func deep(_ text: String, _ count: Int) -> String {
            text.dropLast() + ",\"x\":" + String(repeating: "[", count: count) + String(repeating: "]", count: count) + "}"
        }
        func read(_ text: String) throws(OnlineRefusal) {
            _ = try DiscoveryDocument(
                Array(text.utf8), from: address, of: OAuthService(.discovery(Self.address), clientID: "c", issuer: nil))
        }
        func token(_ text: String) throws(OnlineRefusal) {
            _ = try TokenResponse(HTTPResponse(status: 200, headers: [:], body: Array(text.utf8)), sendsPassword: false)
        }
        let document = "{\"issuer\":\"https://a.example/t\",\"token_endpoint\":\"https://a.example/x\"}"
        let answer = "{\"access_token\":\"a\",\"token_type\":\"Bearer\"}"
        for change in [{ $0 }, { "\u{FEFF}" + $0 }, { deep($0, 31) }] as [(String) -> String] {
            try read(change(document))
            try token(change(answer))
        }
        let changes: [(String) -> String] = [
            { String($0.dropLast()) }, { String($0.prefix($0.count / 2)) }, { _ in "" }, { $0 + "}" }, { deep($0, 200) },
            { deep($0, 100_000) }, { "\u{FEFF}\u{FEFF}" + $0 },
        ]
        for (index, change) in changes.enumerated() {
            #expect(throws: OnlineRefusal.failed(.unexpectedAnswer), "\(index)") { try read(change(document)) }
            #expect(throws: OnlineRefusal.failed(.unexpectedAnswer, status: 200), "\(index)") { try token(change(answer)) }
        }
    }

    @Test("a foreign address for revocations is refused with an issuer, and not used without one")
    func revocation() throws {
        func read(_ issuer: String?) throws -> OAuthEndpoints {
            try document(issuer: issuer, token: "https://a.example/x", revocation: "https://b.example:1/r").endpoints()
        }
        #expect(throws: OnlineRefusal.failed(.foreignEndpoint)) { try read("https://a.example/t") }
        #expect(try read(nil).revocation == nil)
    }

    @Test("all endpoints at safe addresses are shown, in the order of their kinds")
    func named() throws {
        let names = ServerEndpoint.Kind.allCases.filter { $0.isOfOAuth && $0 != .token }.map(\.name)
        let more = names.reversed().map { ",\"\($0)\":\"https://b.example/\($0)\"" }.joined()
        let found = try document(issuer: nil, token: "https://a.example/token", more: more).named()
        #expect(ServerEndpoint.isOrdered(found) && found.map(\.kind.name) == ["token_endpoint"] + names)
        // An unsafe one is left out, and one of another type means another kind of document.
        let unsafe = ",\"jwks_uri\":\"http://b.example/k\",\"userinfo_endpoint\":null"
        #expect(try document(issuer: nil, token: "https://a.example/x", more: unsafe).named().map(\.kind) == [.token])
        #expect(throws: OnlineRefusal.failed(.unexpectedAnswer)) {
            try document(issuer: nil, token: "https://a.example/x", more: ",\"jwks_uri\":[]").named()
        }
    }

    @Test("a helper connects to the ports of the allowed origins, and to 443 only without an issuer")
    func ports() {
        func ports(_ issuer: String?, _ origins: [String]) -> Set<UInt16> {
            OnlineService(
                .oauth(OAuthService(.discovery("https://a.example:8443/d"), clientID: "c", issuer: issuer, origins: origins))
            ).ports
        }
        #expect(ports(nil, []) == [443, 8443] && ports("https://a.example:8443", []) == [8443])
        #expect(ports("https://a.example:8443", ["https://b.example:9", "https://c.example"]) == [9, 443, 8443])
    }
}
