// HTTP Basic against nginx, and against a server that breaks rules. docs/reference/online.md, "HTTP Basic".

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("HTTP Basic") struct BasicTests {
    private func nginx() async throws -> Server { try await Server.nginx.value }
    private func odd() async throws -> Server { try await Server.odd.value }

    @Test("the right password is accepted with cookies and the server's clock, and a wrong password or user is refused")
    func passwords() async throws {
        let server = try await nginx()
        let provider = basic(server.url("/login"), tokens: ["SID"], trusted: server.ca)
        let grant = try await provider.logIn("alice", password: bytes("correct horse 42"))
        let now = Int64(Date().timeIntervalSince1970)
        #expect(abs((grant.serverTime ?? 0) - now) < 60)
        #expect(grant.profile == .notAsked)
        let session = try grant.newSession().cookies().cookies.map(\.name)
        #expect(session == ["SID"])
        #expect(await provider.refusal("alice", "wrong") == .rejected)
        #expect(await provider.refusal("nobody", "correct horse 42") == .rejected)
        #expect(await provider.refusal("alice", "") == .rejected)
    }

    @Test("a password reaches the server as its own bytes, including special characters and invalid UTF-8")
    func passwordBytes() async throws {
        let server = try await nginx()
        let provider = basic(server.url("/login"), trusted: server.ca)
        #expect(await provider.refusal("bob", "p&=+%:; ü") == nil)
        let password = SecretBytes(copying: [0xFF, 0xFE, 0x80] + Array(" no text".utf8))
        _ = try await provider.logIn("carol", password: password)
    }

    @Test("an answer without a required token, or with a deleted one, is no login")
    func requiredTokens() async throws {
        let server = try await nginx()
        for tokens in [["SID", "OTHER"], ["GONE"], ["sid"]] {
            let refusal = await basic(server.url("/login"), tokens: tokens, trusted: server.ca).refusal()
            #expect(refusal == .failed(.tokenMissing, status: 200), "\(tokens)")
        }
    }

    /// Table of docs/reference/online.md. `down`, `away`: redirects to http and to another origin.
    private static let answers: [(path: String, refusal: OnlineRefusal)] = [
        ("/status/401", .rejected), ("/status/403", .forbidden(.status)), ("/status/423", .forbidden(.status)),
        ("/status/502", .unreachable(.gateway)), ("/status/503", .unreachable(.gateway)),
        ("/status/504", .unreachable(.gateway)), ("/status/511", .unreachable(.gateway)),
        ("/status/521", .unreachable(.gateway)), ("/status/522", .unreachable(.gateway)),
        ("/status/523", .unreachable(.gateway)), ("/status/524", .unreachable(.gateway)),
        ("/status/520", .failed(.serverError, status: 520)), ("/status/525", .failed(.serverError, status: 525)),
        ("/retry-seconds", .failed(.serverError, status: 503, retryAfter: 120)),
        ("/retry-date", .failed(.serverError, status: 503, retryAfter: 86_400)),
        ("/status/429", .failed(.tooManyRequests, status: 429)),
        ("/retry-429", .failed(.tooManyRequests, status: 429, retryAfter: 7)),
        ("/status/500", .failed(.serverError, status: 500)), ("/status/501", .failed(.serverError, status: 501)),
        ("/status/507", .failed(.serverError, status: 507)),
        ("/status/400", .failed(.unexpectedAnswer, status: 400)),
        ("/status/402", .failed(.unexpectedAnswer, status: 402)),
        ("/status/404", .failed(.unexpectedAnswer, status: 404)),
        ("/status/418", .failed(.unexpectedAnswer, status: 418)),
        ("/open", .failed(.noChallenge, status: 200)),
        ("/down", .failed(.downgraded, status: 301)), ("/away", .failed(.redirected, status: 302)),
        ("/loop", .failed(.redirected, status: 302)),
        ("/behind", .failed(.redirected, status: 302)), ("/slash", .failed(.redirected, status: 301)),
        ("/behind-down", .failed(.redirected, status: 302)),
        ("/big", .failed(.answerTooLarge)),
    ]

    @Test("every answer of a server has its outcome", arguments: 0..<answers.count)
    func outcome(_ index: Int) async throws {
        let server = try await nginx()
        let (path, expected) = Self.answers[index]
        #expect(await basic(server.url(path), trusted: server.ca).refusal() == expected, "\(path)")
    }

    @Test("a redirect within the origin is followed before the password is sent, and the password goes to its target")
    func redirectBefore() async throws {
        let server = try await nginx()
        let provider = basic(server.url("/here"), trusted: server.ca)
        #expect(await provider.refusal() == nil)
        #expect(await provider.refusal("alice", "wrong") == .rejected)
    }

    @Test("a redirect after the password is followed without it, and counts only with the required cookies")
    func redirectAfter() async throws {
        let server = try await nginx()
        let login = server.url("/behind")
        #expect(await basic(login, tokens: ["SID"], trusted: server.ca).refusal() == nil)
        let other = await basic(login, tokens: ["OTHER"], trusted: server.ca).refusal()
        #expect(other == .failed(.tokenMissing, status: 200))
        let down = await basic(server.url("/behind-down"), tokens: ["SID"], trusted: server.ca).refusal()
        #expect(down == .failed(.downgraded, status: 302))
    }

    @Test("the identity domain is before the user name, or in its header")
    func domain() async throws {
        let server = try await nginx()
        let prefix = OnlineService.Domain("acme")
        #expect(
            await basic(server.url("/tenant"), domain: prefix, trusted: server.ca).refusal("alice", "of acme") == nil)
        #expect(await basic(server.url("/tenant"), domain: prefix, trusted: server.ca).refusal() == .rejected)
        let header = OnlineService.Domain("acme", header: "X-USER-IDENTITY-DOMAIN-NAME")
        let extra = [OnlineService.Header("X-Extra", "yes")]
        let both = basic(server.url("/header"), domain: header, headers: extra, trusted: server.ca)
        #expect(await both.refusal() == nil)
        let without = basic(server.url("/header"), headers: extra, trusted: server.ca)
        #expect(await without.refusal() == .forbidden(.status))
    }

    @Test("a session is checked without a password, and logout counts a 401 as a success")
    func session() async throws {
        let server = try await nginx()
        func provider(_ path: String, _ logout: String? = nil) -> HTTPBasicProvider {
            basic(server.url(path), logout: logout.map { server.url($0) }, trusted: server.ca)
        }
        let session = try await provider("/login").session()
        #expect(
            await refusal { () async throws(OnlineRefusal) in try await provider("/checked").check(session) } == nil)
        let stranger = try await basic(server.url("/tenant"), trusted: server.ca).session("acme.alice", "of acme")
        let dead = await refusal { () async throws(OnlineRefusal) in try await provider("/checked").check(stranger) }
        #expect(dead == .rejected)
        for (path, expected) in [
            ("/logout", nil), ("/logout-401", nil), ("/away", nil),
            ("/down", .failed(.downgraded, status: 301)), ("/status/500", .failed(.serverError, status: 500)),
        ] as [(String, OnlineRefusal?)] {
            let got = await refusal { () async throws(OnlineRefusal) in
                try await provider("/login", path).logOut(session)
            }
            #expect(got == expected, "\(path)")
        }
        let token = SecretBytes(copying: Array(#"{"tokens":{}}"#.utf8))
        let foreign = await refusal { () async throws(OnlineRefusal) in try await provider("/checked").check(token) }
        #expect(foreign == .failed(.unusableSession))
    }

    @Test("the password goes only to a server that asked for it, and never with a redirect")
    func whatIsSent() async throws {
        let trace = try await Trace(), login = trace.url
        #expect(await basic(login("/no-challenge")).refusal() == .failed(.noChallenge, status: 200))
        #expect(await basic(login("/negotiate")).refusal() == .failed(.otherChallenge, status: 401))
        #expect(await basic(login("/either")).refusal() == nil)
        #expect(await basic(login("/login")).refusal() == nil)
        let seen = try trace.seen()
        #expect(seen.map(\.target) == ["/no-challenge", "/negotiate", "/either", "/either", "/login", "/login"])
        #expect(seen.map { $0.fields["authorization"] != nil } == [false, false, false, true, false, true])
        #expect(seen.last?.fields["authorization"] == "Basic YWxpY2U6Y29ycmVjdCBob3JzZSA0Mg==")
        #expect(seen.allSatisfy { $0.fields["user-agent"] == "omvault" && $0.fields["connection"] == "close" })
    }

    @Test(
        "a challenge counts as Basic by its own name only, not by quoted text, and a tab ends that name too",
        arguments: [
            ("/digest", false), ("/digest-escaped", false), ("/digest-open", false), ("/second", true), ("/tab", true),
            ("/either", true),
        ])
    func challenges(_ row: (path: String, isBasic: Bool)) async throws {
        let trace = try await Trace()
        let refusal = await basic(trace.url(row.path)).refusal()
        #expect(refusal == (row.isBasic ? nil : .failed(.otherChallenge, status: 401)))
        #expect(try trace.seen().map { $0.fields["authorization"] != nil } == (row.isBasic ? [false, true] : [false]))
    }

    @Test("five redirects are followed before the password is sent, and the sixth is not")
    func redirects() async throws {
        let trace = try await Trace()
        #expect(await basic(trace.url("/hop-5")).refusal() == nil)
        #expect(try trace.seen().map(\.target) == (0...5).reversed().map { "/hop-\($0)" } + ["/hop-0"])
        #expect(await basic(trace.url("/hop-6")).refusal() == .failed(.redirected, status: 302))
        #expect(try trace.seen().map(\.target) == (1...6).reversed().map { "/hop-\($0)" })
    }

    @Test("a header of the profile is sent unchanged, even if the library has the same header")
    func ownHeaders() async throws {
        let trace = try await Trace()
        let headers = [OnlineService.Header("User-Agent", "a/1"), .init("Accept", "text/html")]
        #expect(await basic(trace.url("/login"), headers: headers).refusal() == nil)
        let kind = OAuthService(.token(trace.url("/token/plain"), revocation: nil), clientID: "id")
        let oauth = OAuthProvider(OnlineService(.oauth(kind), headers: headers, deadlines: patient), kind)
        #expect(await oauth.refusal() == nil)
        let seen = try trace.seen()
        #expect(seen.count == 3)
        #expect(seen.allSatisfy { $0.fields["user-agent"] == "a/1" && $0.fields["accept"] == "text/html" })
    }

    @Test(
        "chunks, HTTP/1.0 without a length and early hints are understood",
        arguments: ["/chunked", "/old", "/continue", "/else"], ["http", "https"])
    func quirks(_ path: String, _ key: String) async throws {
        let server = try await odd()
        let provider = basic(server.url(path, key, scheme: key), trusted: key == "https" ? server.ca : nil)
        #expect(await provider.refusal() == nil)
    }

    @Test(
        "an answer that is cut, doubled, endless or missing is a failure, and never a login",
        arguments: [
            ("/cut", .brokenAnswer), ("/reset", .brokenAnswer), ("/nothing", .brokenAnswer),
            ("/garbage", .brokenAnswer), ("/status-000", .brokenAnswer), ("/status-099", .brokenAnswer),
            ("/two-lengths", .brokenAnswer), ("/bad-record", .brokenAnswer), ("/endless", .answerTooLarge),
            ("/headers", .answerTooLarge),
            ("/long-header", .answerTooLarge), ("/cookies", .answerTooLarge),
        ] as [(String, OnlineFailure)], ["http", "https"])
    func broken(_ row: (path: String, failure: OnlineFailure), _ key: String) async throws {
        let server = try await odd()
        let provider = basic(server.url(row.path, key, scheme: key), trusted: key == "https" ? server.ca : nil)
        #expect(await provider.refusal() == .failed(row.failure), "\(row.path) over \(key)")
    }
}

extension BasicTests {
    @Test("a server that received the password counts as reached, even if it closes its port after a redirect")
    func leaving() async throws {
        let server = try await Server("odd")
        let provider = basic(server.url("/login", "leaving", scheme: "http"), tokens: ["SID"])
        #expect(await provider.refusal() == .failed(.brokenAnswer, status: 302))
        #expect(await provider.refusal() == .unreachable(.refused))
    }
}
