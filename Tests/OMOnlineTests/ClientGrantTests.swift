// Tokens of a client itself: what is sent, and what each answer means. docs/reference/online.md, "OAuth".

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("OAuth 2.0, client credentials") struct ClientGrantTests {
    private func provider(_ endpoint: OAuthService.Endpoint, scopes: [String] = []) -> OAuthProvider {
        let kind = OAuthService(endpoint, clientID: "robot", scopes: scopes, grant: .clientCredentials)
        return OAuthProvider(OnlineService(.oauth(kind), deadlines: patient), kind)
    }

    @Test("the client's proof and the scopes are sent, and no user; the token comes with its scopes, and no session")
    func request() async throws {
        let trace = try await Trace()
        var grant = try await provider(.token(trace.url("/token/plain"), revocation: nil), scopes: ["a", "x"])
            .grant(clientSecret: bytes("s:e"))
        let seen = try trace.seen()
        #expect(seen.map(\.body) == ["grant_type=client_credentials&scope=a%20x"])
        #expect(seen.first?.fields["authorization"] == "Basic " + Data("robot:s%3Ae".utf8).base64EncodedString())
        #expect(grant.lifetime == 3600 && grant.scopes.names == ["a", "b"])
        let access: String? =
            switch grant.takeAccess() {
            case .some(let token): token.text
            case .none: nil
            }
        #expect(access == "at-1")
        let hasSession = grant.hasSession()
        #expect(!hasSession)
    }

    @Test("if the server names no scopes, the token has those that were asked for")
    func scopes() async throws {
        let server = try await Server.odd.value
        let endpoint = OAuthService.Endpoint.token(server.url("/token/bare", "http", scheme: "http"), revocation: nil)
        let grant = try await provider(endpoint, scopes: ["z", "a"]).grant(clientSecret: bytes("s"))
        #expect(grant.scopes.names == ["a", "z"] && grant.lifetime == 3_600)
    }

    private static let answers: [(name: String, refusal: OnlineRefusal)] = [
        ("mac", .failed(.unexpectedAnswer, status: 200)), ("empty", .failed(.unexpectedAnswer, status: 200)),
        ("html", .failed(.unexpectedAnswer, status: 200)), ("invalid-client", .failed(.invalidClient, status: 401)),
        ("unauthorized", .rejected), ("denied", .forbidden(.accessDenied)), ("busy", .unreachable(.gateway)),
        // Words about a password say nothing here, and no account is blocked.
        ("disabled", .failed(.invalidGrant, status: 400)), ("invalid-grant", .failed(.invalidGrant, status: 400)),
        ("moved", .failed(.redirected, status: 307)), ("big", .failed(.answerTooLarge)),
    ]

    @Test("every answer has its outcome", arguments: 0..<answers.count)
    func outcome(_ index: Int) async throws {
        let (name, expected) = Self.answers[index]
        let server = try await Server.odd.value
        let endpoint = OAuthService.Endpoint.token(server.url("/token/\(name)", "http", scheme: "http"), revocation: nil)
        let provider = provider(endpoint)
        let found = await refusal { () async throws(OnlineRefusal) in try await provider.grant(clientSecret: bytes("s")) }
        #expect(found == expected, "\(name)")
    }

    @Test("a set of scopes has each once and in order, refuses what is no scope, and covers its parts")
    func sets() throws {
        let set = try #require(ScopeSet(["b", "a", "b"]))
        #expect(set.names == ["a", "b"] && set.covers(ScopeSet()))
        #expect(try set.covers(#require(ScopeSet(["b"]))) && !set.covers(#require(ScopeSet(["b", "c"]))))
        #expect(try !ScopeSet().covers(#require(ScopeSet(["a"]))))
        let long = String(repeating: "a", count: 256)
        #expect(ScopeSet([long]) != nil)
        for name in ["", long + "a", "a b", "a\"", "a\\", "ä", "a\u{7}"] { #expect(ScopeSet([name]) == nil, "\(name)") }
        let many = (0..<65).map { "s\($0)" }
        #expect(ScopeSet(many) == nil && ScopeSet(many.dropLast()) != nil)
        // What a server grants beyond that is left out.
        let granted = ScopeSet(granted: ["a b", "z", long + "a"] + many)
        #expect(ScopeSet((0..<64).map { String(repeating: "a", count: 1_022) + "\($0)" }) == nil)
        for byte in 0..<32 { #expect(ScopeSet(granted: ["a\(Character(Unicode.Scalar(UInt8(byte))))", "b"]).names == ["b"]) }
        #expect(ScopeSet(granted: ["a\u{7F}", "a\u{9B}", "b"]).names == ["b"])
        #expect(granted.names.count == 64 && !granted.names.contains("z") && !granted.names.contains("a b"))
    }
}

extension SecretBytes {
    var text: String { withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) } }
}
