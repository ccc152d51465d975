// The reach of a server: whether it answers, whether it is the right server, and how long that may take.

import Foundation
import Glibc
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("Reaching a server") struct ReachTests {
    private func nginx() async throws -> Server { try await Server.nginx.value }
    private func odd() async throws -> Server { try await Server.odd.value }

    @Test("a certificate that is expired, self-signed or from an untrusted authority is never accepted")
    func certificates() async throws {
        let server = try await nginx()
        for key in ["port_expired", "port_foreign", "port_self"] {
            let refusal = await basic(server.url("/login", key, host: "localhost"), trusted: server.ca).refusal()
            #expect(refusal == .untrusted(.certificate), "\(key)")
        }
        #expect(await basic(server.url("/login", host: "127.0.0.1"), trusted: server.ca).refusal() == nil)
    }

    @Test("a trusted certificate of another host name or address is never accepted")
    func names() async throws {
        let server = try await nginx()
        for host in ["localhost", "127.0.0.1"] {
            let refusal = await basic(server.url("/login", "port_name", host: host), trusted: server.ca).refusal()
            #expect(refusal == .untrusted(.name), "\(host)")
        }
    }

    @Test("TrustedCA allows only its certificates, and without it the system's certificates count")
    func trust() async throws {
        let server = try await nginx()
        let own = server.contents("selfsigned")
        #expect(await basic(server.url("/login", "port_self"), trusted: own).refusal() == nil)
        #expect(await basic(server.url("/login"), trusted: own).refusal() == .untrusted(.certificate))
        #expect(await basic(server.url("/login"), trusted: nil).refusal() == .untrusted(.certificate))
        #expect(await basic(server.url("/login"), trusted: own + server.ca).refusal() == nil)
        for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let refusal = await basic(server.url("/login"), trusted: Array(pem.utf8)).refusal()
            #expect(refusal == .failed(.unusableTrust), "\(pem)")
        }
    }

    @Test("a server without TLS, or with TLS 1.1 at most, is not trusted")
    func handshake() async throws {
        let server = try await odd()
        for key in ["garbage", "tls11"] {
            let refusal = await basic(server.url("/login", key), trusted: server.ca).refusal()
            #expect(refusal == .untrusted(.handshake), "\(key)")
        }
    }

    @Test("a closed port and an unknown name are told apart from a server")
    func unreachable() async throws {
        let server = try await odd()
        #expect(await basic(server.url("/", "closed")).refusal() == .unreachable(.refused))
        #expect(await basic("https://no-such-name.invalid/").refusal() == .unreachable(.nameNotFound))
    }

    @Test(
        "a connection that ends before TLS is established, by FIN or RST, leads to no server",
        arguments: ["closing", "closing_at_once", "resetting", "half_hello"])
    func closed(_ key: String) async throws {
        let server = try await odd()
        #expect(await basic(server.url("/login", key), trusted: server.ca).refusal() == .unreachable(.closed))
        let token = OAuthService.Endpoint.token(server.url("/token/plain", key), revocation: nil)
        #expect(await oauth(token, trusted: server.ca).refusal() == .unreachable(.closed))
    }

    @Test("a certificate without alternative names counts for its common name only")
    func commonName() async throws {
        let server = try await odd()
        #expect(await basic(server.url("/else", "https_without_names"), trusted: server.ca).refusal() == nil)
        let address = server.url("/else", "https_without_names", host: "127.0.0.1")
        #expect(await basic(address, trusted: server.ca).refusal() == .untrusted(.name))
    }

    @Test(
        "a silent server costs the time to connect, and a slow one costs the total time",
        arguments: [
            ("blackhole", "https", "/", 300, 300_000), ("blackhole", "http", "/", 60_000, 600),
            // Long enough for the first request on a busy machine. Only the second request is slow.
            ("http", "http", "/drip-head", 60_000, 4_000), ("http", "http", "/drip-body", 60_000, 4_000),
            ("http", "http", "/informational", 60_000, 4_000),
        ] as [(String, String, String, UInt32, UInt32)])
    func deadlines(_ row: (key: String, scheme: String, path: String, connect: UInt32, total: UInt32)) async throws {
        let server = try await odd()
        let deadlines = OnlineDeadlines(connect: row.connect, total: row.total)
        let provider = basic(server.url(row.path, row.key, scheme: row.scheme), deadlines: deadlines)
        let start = ContinuousClock.now
        #expect(await provider.refusal() == .unreachable(.timedOut))
        let took = start.duration(to: .now)
        // The awaited answer never comes, so only the deadline ends the wait, even on a slow machine.
        #expect(took >= .milliseconds(Int(min(row.connect, row.total))), "\(took)")
    }

    @Test("the address of a name that answers is found, although its other addresses refuse or do not connect")
    func addresses() async throws {
        let server = try await odd()
        // A machine without IPv6, or without such an address of localhost, shows less.
        let keys = addressesOfLocalhost() > 1 && server.facts["v6"] != nil ? ["http", "v6", "half"] : ["http"]
        for key in keys {
            #expect(await basic(server.url("/login", key, scheme: "http")).refusal() == nil, "\(key)")
            #expect(await basic(server.url("/login", key, scheme: "http", host: "LocalHost")).refusal() == nil, "\(key)")
        }
        if server.facts["v6"] != nil {
            #expect(await basic(server.url("/login", "v6", scheme: "http", host: "[::1]")).refusal() == nil)
        }
    }

    private func addressesOfLocalhost() -> Int {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo("localhost", nil, &hints, &list) == 0 else { return 0 }
        defer { freeaddrinfo(list) }
        return sequence(first: list, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.count
    }

    @Test("a cancelled question ends at once and gives no result")
    func cancellation() async throws {
        let server = try await odd()
        let provider = basic(server.url("/", "blackhole", scheme: "http"))
        let asking = Task { await provider.refusal() }
        asking.cancel()
        #expect(await asking.value == .failed(.cancelled))
    }

    @Test(
        "an address that would carry the password in clear, or has two readings, is refused before anything is sent",
        arguments: [
            "http://server.example/login", "http://127.0.0.1.example.com/", "http://user@localhost/",
            "ftp://localhost/",
            "https://user:secret@localhost/", "https://", "https:///login", "localhost", "", "https://local host/",
            "https://localhost\\@elsewhere.example/", "https://localhost:0/", "https://localhost:99999/",
            "https://localhost:/", "https://[::1/", "https://localhost/#fragment", "https://lo\u{0441}alhost/",
            "file:///etc/passwd", "https://localhost/a\r\nX: y", "http://128.0.0.1/", "http://[::2]/",
            // One reader of addresses sees this machine, and another reader sees a different one.
            "http://0127.0.0.1/", "http://127.0.0.01/", "http://127.1/", "http://2130706433/", "http://0x7f.0.0.1/",
            "http://127.0.0.0x1/", "http://127.0.0.1./", "http://127.0.0.256/", "http://[::ffff:127.0.0.1]/",
            "http://[0:0:0:0:0:0:0:1]/", "http://[::1%25lo]/", "http://[127.0.0.1]/",
            // Any name server could answer this.
            "http://a.localhost/", "http://localhost./", "http://localhost.localdomain/",
            // This holds over TLS too, because no certificate fits.
            "https://0127.0.0.1/", "https://127.1/", "https://[:::]/",
        ])
    func unsafeAddress(_ text: String) async {
        #expect(await basic(text).refusal() == .failed(.unsafeAddress))
    }

    @Test("user names and headers that no request can carry are refused before anything is sent")
    func unsafeWords() async throws {
        let server = try await odd()
        let login = server.url("/login", "http", scheme: "http")
        for user in ["", "a:b", "a\nb", "a\0b", "a\u{7F}"] {
            #expect(await basic(login).refusal(user) == .failed(.unusableUser), "\(user)")
        }
        let good = OnlineService.Header("X-A", "b")
        for headers in [
            [OnlineService.Header("Authorization", "x")], [.init("cookie", "x")], [.init("CONTENT-LENGTH", "0")],
            [.init("host", "x")], [.init("Transfer-Encoding", "chunked")], [.init("", "x")], [.init("X A", "x")],
            [.init("X-A", "b\r\nX-B: c")], [.init("X-Ä", "x")], Array(repeating: good, count: 11),
        ] {
            #expect(await basic(login, headers: headers).refusal() == .failed(.unusableHeaders), "\(headers)")
        }
        #expect(await basic(login, headers: Array(repeating: good, count: 10)).refusal() == nil)
        let domain = OnlineService.Domain("a", header: "Authorization")
        #expect(await basic(login, domain: domain).refusal() == .failed(.unusableHeaders))
    }
}
