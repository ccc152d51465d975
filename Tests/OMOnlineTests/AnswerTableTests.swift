// docs/reference/login.md, "Classes of a server's answer": each row against servers that give that answer.

import Foundation
import OMOnlineModel
import TestSupport
import Testing

@testable import OMOnline

@Suite("The page's table of answers") struct AnswerTableTests {
    private typealias Asking = @Sendable () async -> OnlineRefusal?

    /// The question to the server, and its provider, for each row of the page.
    private func askings() async throws -> [(row: String, asked: String, ask: Asking)] {
        let nginx = try await Server.nginx.value, odd = try await Server.odd.value
        var all: [(row: String, asked: String, ask: Asking)] = []
        func tls(_ row: String, _ path: String, _ key: String = "port", password: String = "correct horse 42") {
            let provider = basic(nginx.url(path, key), trusted: nginx.ca)
            all.append((row, "nginx \(key) \(path) \(password)", { await provider.refusal("alice", password) }))
        }
        func plain(
            _ row: String, _ path: String, _ key: String = "http", _ deadlines: OnlineDeadlines = patient
        ) {
            let provider = basic(odd.url(path, key, scheme: "http"), deadlines: deadlines)
            all.append((row, "odd \(key) \(path)", { await provider.refusal() }))
        }
        func token(_ row: String, _ name: String) {
            let provider = oauth(.token(odd.url("/token/\(name)", "http", scheme: "http"), revocation: nil))
            all.append((row, "OAuth \(name)", { await provider.refusal() }))
        }
        tls("2xx", "/login")
        token("2xx", "plain")
        plain("refused", "/", "closed")
        let nowhere = basic("https://no-such-name.invalid/")
        all.append(("NXDOMAIN", "no-such-name.invalid", { await nowhere.refusal() }))
        plain("time-out", "/", "blackhole", OnlineDeadlines(connect: 60_000, total: 600))
        let dripping = OnlineDeadlines(connect: 60_000, total: 4_000)
        plain("slow drip", "/drip-head", "http", dripping)
        plain("slow drip", "/drip-body", "http", dripping)
        for status in ["511", "521", "522", "523", "524"] { tls("511, 521 to 524", "/status/\(status)") }
        for key in ["closing", "closing_at_once", "resetting", "half_hello"] {
            let provider = basic(odd.url("/login", key), trusted: odd.ca)
            all.append(("ends before TLS", "odd \(key)", { await provider.refusal() }))
        }
        for status in ["502", "503", "504", "401", "403", "423", "429", "500"] { tls(status, "/status/\(status)") }
        for name in ["busy", "busy-400"] { token("503", name) }
        token("503 + Retry-After", "busy-later")
        token("401", "words")
        for key in ["port_expired", "port_foreign", "port_self", "port_name"] { tls("bad certificate", "/login", key) }
        tls("401", "/login", password: "wrong")
        token("401", "unauthorized")
        token("403", "denied")
        for name in ["disabled", "azure-disabled"] { token("account blocked", name) }
        token("429", "limit")
        token("500", "broken")
        for path in ["/retry-seconds", "/retry-date"] { tls("503 + Retry-After", path) }
        plain("RST mid-body", "/reset")
        for name in ["html", "list", "number", "empty"] { token("200 garbage", name) }
        tls("301 to http", "/down")
        return all
    }

    @Test("every row of the page matches a real server's answer, and every row has an answer")
    func rows() async throws {
        let page = try answers(), askings = try await askings()
        #expect(page.count == 21)
        #expect(Set(askings.map(\.row)) == Set(page.keys))
        for (row, asked, ask) in askings {
            let refusal = await ask()
            #expect(page[row] == Self.name(refusal), "\(row): \(asked): \(String(describing: refusal))")
        }
    }

    private static func name(_ refusal: OnlineRefusal?) -> String {
        switch refusal {
        case nil: "accepted"
        case .rejected: "rejected"
        case .forbidden: "forbidden"
        case .blocked: "blocked"
        case .unreachable: "unreachable"
        case .untrusted: "untrusted"
        case .failed: "failed"
        }
    }

    /// The table `answers` of the page.
    private func answers() throws -> [String: String] {
        let page = URL(filePath: #filePath).appending(path: "../../../docs/reference/login.md").standardized
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- table answers -->\n| class | answers |\n|---|---|\n"))
        let end = try #require(text.range(of: "<!-- end -->", range: start.upperBound..<text.endIndex))
        let rows = text[start.upperBound..<end.lowerBound].split(separator: "\n").map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let answers = try rows.flatMap { row in
            let name = try #require(row.first)
            return try #require(row.last).split(separator: ";").map { ($0.trimmingCharacters(in: .whitespaces), name) }
        }
        return try Dictionary(answers) { _, _ in throw DoubledAnswer() }
    }

    private struct DoubledAnswer: Error {}
}
