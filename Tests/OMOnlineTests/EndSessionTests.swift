// The one-time address that sends a browser to the page where a server ends its own session.

import Foundation
import Glibc
import NIOHTTP1
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("The end of a server's own session") struct EndSessionTests {
    private static let oauth = OAuthService(
        .token("https://i.example/token", revocation: nil), clientID: "native&1", grant: .authorizationCode,
        browser: BrowserLogin(redirect: "http://127.0.0.1"))

    private func redirect(_ page: String = "https://i.example/out", path: String = "/0a1b") throws -> EndSessionRedirect {
        let idToken = bytes("eyJ.eyJ.c")
        return try EndSessionRedirect(to: page, at: path, for: Self.oauth, idToken: idToken)
    }

    private func request(
        _ target: String = "/0a1b", isGet: Bool = true, hosts: [String] = ["127.0.0.1:99"], hasBody: Bool = false,
        mode: String? = nil, user: UInt32? = 7
    ) -> LoopbackRequest {
        LoopbackRequest(
            isGet: isGet, target: target, hosts: hosts, hasBody: hasBody, mode: mode, port: 99, user: { user })
    }

    @Test("only the browser of this user, at exactly this address, is sent on")
    func rule() throws {
        let redirect = try redirect()
        let page = try #require(redirect.rule(request(mode: "navigate"), user: 7))
        #expect(page.status == .found && page.body.isEmpty)
        #expect(page.headers["Location"] == ["https://i.example/out?id_token_hint=eyJ.eyJ.c&client_id=native%261"])
        #expect(page.headers["Referrer-Policy"] == ["no-referrer"] && page.headers["Cache-Control"] == ["no-store"])
        for (what, wrong) in [
            ("path", request("/0a1c")), ("query", request("/0a1b?x")), ("method", request(isGet: false)),
            ("body", request(hasBody: true)),
            ("host", request(hosts: ["evil.example:99"])), ("name", request(hosts: ["localhost:99"])),
            ("port", request(hosts: ["127.0.0.1:98"])), ("no host", request(hosts: [])),
            ("two hosts", request(hosts: ["127.0.0.1:99", "127.0.0.1:99"])), ("image", request(mode: "no-cors")),
            ("another user", request(user: 8)), ("no user", request(user: nil)),
        ] {
            #expect(redirect.rule(wrong, user: 7)?.status == nil, "\(what)")
        }
    }

    @Test("a page that no browser may open, or with a hint of its own, is refused; a query stays")
    func pages() throws {
        for page in [
            "javascript:alert(1)", "file:///x", "http://i.example/", "https://i.example/$(id)", "https://i.example/?client_id=x",
        ] {
            #expect(throws: OnlineRefusal.failed(.noEndpoint)) { _ = try redirect(page) }
        }
        for (page, start) in [
            ("https://i.example/out?a=b", "https://i.example/out?a=b&id_token_hint="),
            ("https://i.example/out?", "https://i.example/out?id"),
        ] {
            let location = try redirect(page).rule(request(), user: 7)?.headers["Location"].first ?? ""
            #expect(location.hasPrefix(start), "\(location)")
        }
    }

    @Test("the kernel's table of connections names the user at the other end, and no other one")
    func table() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:0063 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
               1: 0100007F:0063 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
               2: 0100007F:C350 0100007F:0063 01 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 100 0 0 10 0
            """
        func user(_ other: String, _ own: String) -> UInt32? { LoopbackPeer.user(from: other, to: own, in: table) }
        #expect(user("0100007F:C350", "0100007F:0063") == 1000)
        #expect(user("0100007F:C351", "0100007F:0063") == nil && user("0100007F:C350", "0100007F:0064") == nil)
        #expect(LoopbackPeer.user(from: "a", to: "b", in: "") == nil)
    }

    @Test("over a socket the browser is sent on once, and then the port is closed")
    func served() async throws {
        let (socket, port) = try Raw.listen()
        let redirect = try redirect()
        async let end: Void = redirect.serve(user: geteuid(), listening: [socket])
        func get(_ path: String) async throws -> String {
            try await Raw.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n", to: port)
        }
        #expect(try await get("/favicon.ico").hasPrefix("HTTP/1.1 404 "))
        let answer = try await get("/0a1b")
        #expect(answer.hasPrefix("HTTP/1.1 302 ") && answer.contains("Location: https://i.example/out?id_token_hint="))
        try await end
        let isClosed = Locked(false)
        while !isClosed.value {
            do { _ = try await get("/0a1b") } catch is Raw.NoConnection { isClosed.change { $0 = true } }
        }
    }

    @Test("of two connections that are open already, one is sent on")
    func once() async throws {
        let (socket, port) = try Raw.listen()
        let redirect = try redirect()
        async let end: Void = redirect.serve(user: geteuid(), listening: [socket])
        func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n" }
        let (first, second) = (try Raw.connect(to: port, "127.0.0.1"), try Raw.connect(to: port, "127.0.0.1"))
        // Connections are accepted in their order, so after this answer both are accepted.
        #expect(try await Raw.send(get("/favicon.ico"), to: port).hasPrefix("HTTP/1.1 404 "))
        #expect(try await Raw.send(get("/0a1b"), over: first).hasPrefix("HTTP/1.1 302 "))
        try await end
        let answer = try await Raw.send(get("/0a1b"), over: second)
        #expect(answer.hasPrefix("HTTP/1.1 404 ") && !answer.contains("id_token_hint"), "\(answer)")
    }

    @Test(
        "a process of another user is not sent on",
        .enabled(if: geteuid() == 0, "only root can start a process of another user"))
    func otherUser() async throws {
        let (socket, port) = try Raw.listen()
        let redirect = try redirect()
        async let end: Void = redirect.serve(user: geteuid(), listening: [socket])
        let address = "http://127.0.0.1:\(port)/0a1b"
        func status(_ words: [String]) async throws -> String {
            let folder = try TestFolder()
            let command = ["/usr/bin/env"] + words + ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", address]
            return try await run(command, in: folder, environment: ["PATH": "/usr/bin:/bin"]).output
        }
        #expect(try await status(["setpriv", "--reuid=65534", "--clear-groups"]) == "404")
        #expect(try await status([]) == "302")
        try await end
    }
}
