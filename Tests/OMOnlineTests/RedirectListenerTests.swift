// The small HTTP server of a login: what it answers to raw bytes, and what it survives.

import Foundation
import Glibc
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("The listener of a login") struct RedirectListenerTests {
    /// A listener that expects an answer at `/cb`.
    private final class Waiting: Sendable {
        let listener: RedirectListener
        let rules: RedirectRules
        let port: Int

        init(_ hosts: [String] = ["127.0.0.1"], name: String = "127.0.0.1") async throws {
            var sockets: [Int32] = [], port = 0
            for host in hosts {
                let (socket, bound) = try Raw.listen(host, port: port)
                sockets.append(socket)
                port = bound
            }
            rules = RedirectRules(state: "the-state", issuer: nil, needsIssuer: false)
            listener = try await RedirectListener(sockets, rules)
            self.port = port
            #expect(listener.port == port)
            rules.expect(try RedirectAddress("http://\(name)/cb", port: listener.port))
        }

        func request(_ target: String, host: String? = nil, method: String = "GET", more: String = "") -> String {
            "\(method) \(target) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(port)")\r\n\(more)\r\n"
        }

        func send(_ text: String) async throws -> String { try await Raw.send(text, to: port) }
    }

    private static let right = "/cb?code=secret-code&state=the-state"

    @Test("the right answer gets a page without script and without a word of the request, and nothing else gets it")
    func page() async throws {
        let waiting = try await Waiting()
        for (request, status) in [
            (waiting.request("/favicon.ico"), 404), (waiting.request("/"), 404), (waiting.request("/cb?x=secret-code"), 400),
            (waiting.request("/cb?code=secret-code&state=other"), 400), (waiting.request(Self.right, method: "POST"), 404),
            (waiting.request(Self.right, method: "HEAD"), 404), (waiting.request(Self.right, method: "OPTIONS"), 404),
            (waiting.request(Self.right, host: "evil.example:\(waiting.port)"), 404),
            (waiting.request(Self.right, host: "localhost:\(waiting.port)"), 404),
            (waiting.request(Self.right, more: "Host: 127.0.0.1:\(waiting.port)\r\n"), 404),
            (waiting.request(Self.right, more: "Content-Length: 1\r\n") + "x", 404),
            (waiting.request(Self.right, more: "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n0\r\n\r\n", 404),
            (waiting.request("http://127.0.0.1:\(waiting.port)\(Self.right)"), 404),
            (waiting.request(Self.right, more: "X: \(String(repeating: "y", count: 9 << 10))\r\n"), 431),
            (waiting.request("/cb?code=\(String(repeating: "y", count: 9 << 10))&state=the-state"), 431),
            ("GET \(Self.right) HTTP/1.0\r\n\r\n", 404), ("hello\r\n\r\n", 400), ("\u{0}\u{1}\r\n\r\n", 400),
        ] {
            let answer = try await waiting.send(request)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(60)): \(answer.prefix(60))")
            #expect(!answer.contains("secret-code") && !answer.contains("the-state"))
        }
        let answer = try await waiting.send(waiting.request(Self.right))
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        let (head, body) = (answer.prefix { $0 != "<" }, answer.drop { $0 != "<" })
        for field in [
            "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'", "Cache-Control: no-store",
            "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "Connection: close",
            "Content-Type: text/html; charset=utf-8",
        ] { #expect(head.lowercased().contains(field.lowercased() + "\r\n"), "\(field)") }
        #expect(!body.contains("script") && !answer.contains("secret-code") && !answer.lowercased().contains("set-cookie"))
        #expect(try await waiting.listener.answer() == .code("secret-code"))
    }

    @Test("sixteen wrong answers end the wait, and requests for other pages do not count")
    func wrongAnswers() async throws {
        let waiting = try await Waiting()
        for _ in 0..<20 { _ = try await waiting.send(waiting.request("/favicon.ico")) }
        for _ in 0..<16 { #expect(try await waiting.send(waiting.request("/cb?code=a&state=x")).hasPrefix("HTTP/1.1 400 ")) }
        await #expect(throws: OnlineRefusal.failed(.wrongAnswers)) { _ = try await waiting.listener.answer() }
    }

    @Test("connections that send nothing, byte by byte or never end do not keep the browser out")
    func slowConnections() async throws {
        let waiting = try await Waiting(), port = waiting.port
        let idle = try (0..<40).map { _ in try Raw.connect(to: port, "127.0.0.1") }
        defer { for each in idle { close(each) } }
        for (index, each) in idle.enumerated() {
            let text = String("GET \(Self.right) HTTP/1.1\r\n".prefix(index))
            _ = text.withCString { write(each, $0, index) }
        }
        #expect(try await waiting.send(waiting.request(Self.right)).hasPrefix("HTTP/1.1 200 "))
        #expect(try await waiting.listener.answer() == .code("secret-code"))
    }

    @Test("localhost is reached at both addresses, and the sockets must have one port")
    func localhost() async throws {
        var found: Waiting?
        // Another process may have the port at the second address.
        for _ in 0..<50 where found == nil { found = try? await Waiting(["127.0.0.1", "::1"], name: "localhost") }
        guard let both = found else {
            #expect(throws: (any Error).self, "there is an IPv6 address") { close(try Raw.listen("::1").socket) }
            return
        }
        let request = both.request(Self.right, host: "LOCALHOST:\(both.port)")
        #expect(try await Raw.send(request, to: both.port, host: "::1").hasPrefix("HTTP/1.1 200 "))
        #expect(try await both.listener.answer() == .code("secret-code"))
    }

    @Test("sockets with two ports, or at an address of the network, are refused")
    func foreignSockets() async throws {
        let rules = RedirectRules(state: "s", issuer: nil, needsIssuer: false)
        let two = [try Raw.listen().socket, try Raw.listen().socket]
        await #expect(throws: OnlineRefusal.failed(.helper)) { _ = try await RedirectListener(two, rules) }
        let open = try Raw.listen("0.0.0.0").socket
        await #expect(throws: OnlineRefusal.failed(.helper)) { _ = try await RedirectListener([open], rules) }
    }

    @Test("a browser's answer with curl")
    func curl() async throws {
        let waiting = try await Waiting(), folder = try TestFolder()
        let result = try await run(
            ["/usr/bin/curl", "-s", "-i", "http://127.0.0.1:\(waiting.port)\(Self.right)"], in: folder)
        #expect(result.status == 0 && result.output.contains("You can close this page."))
        #expect(try await waiting.listener.answer() == .code("secret-code"))
    }
}
