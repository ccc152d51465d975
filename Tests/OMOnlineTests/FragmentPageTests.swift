// The page whose script brings the answer of a login by the implicit grant.

import OMCrypto
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("The page with a script") struct FragmentPageTests {
    private static let token = "access_token=at-1&token_type=Bearer&state=the-state"

    /// Runs the script as a browser does, and prints what it does: with an answer, without one, and at an address without a fragment.
    private static let browser = """
        const [script, fragment] = process.argv.slice(1);
        const open = async (hash, answers) => {
            const said = [], location = { hash, pathname: "/cb" };
            const history = { replaceState: (state, title, to) => said.push("address " + to) };
            const document = { querySelector: name => ({ set textContent(text) { said.push(name + " " + text); } }) };
            const fetch = async (to, { method, body }) => {
                said.push([method, to, body].join(" "));
                if (!answers) throw new Error();
                return { text: async () => "The answer." };
            };
            new Function("location", "history", "document", "fetch", script)(location, history, document, fetch);
            await new Promise(setImmediate);
            console.log(said.join("\\n"));
        };
        (async () => { await open("#" + fragment, true); await open("#" + fragment, false); await open("", true); })();
        """

    @Test("the script clears the address first, posts the fragment as it is to the same path, and nothing where none is")
    func script() async throws {
        let fragment = Self.token + "&scope=a+b%2B"
        let ran = try await run(["/usr/bin/node", "-e", Self.browser, FragmentPage.script, fragment], in: TestFolder())
        let post = "POST /cb \(fragment)"
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                "address /cb", post, "p The answer.", "address /cb", post, "p omvault no longer waits. Log in again.",
                "address /cb", "p This address has no answer. Use the page that omvault opened.",
            ], "\(ran.errors)")
    }

    private func waiting() async throws -> (listener: RedirectListener, port: Int) {
        let (socket, port) = try Raw.listen()
        let rules = RedirectRules(state: "the-state", issuer: nil, needsIssuer: false, awaitsToken: true)
        let listener = try await RedirectListener([socket], rules)
        rules.expect(try RedirectAddress("http://127.0.0.1/cb", port: port))
        return (listener, port)
    }

    private func request(_ body: String, _ port: Int, more: String = "", target: String = "/cb") -> String {
        "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nOrigin: http://127.0.0.1:\(port)\r\n\(more)"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test("the page has one script, which its policy names by its digest, and no text of the request")
    func page() async throws {
        let (listener, port) = try await waiting()
        for _ in 0..<2 {
            let page = try FragmentScript(
                await Raw.send("GET /cb HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nSec-Fetch-Mode: navigate\r\n\r\n", to: port))
            #expect(page.isAllowed && !page.body.contains("127.0.0.1"))
            #expect(
                page.policy
                    == "default-src 'none'; script-src 'sha256-\(page.digest)'; connect-src 'self'; frame-ancestors 'none'")
            for field in ["Cache-Control: no-store", "Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff"] {
                #expect(page.head.contains(field), "\(field)")
            }
        }
        for (body, status) in [
            ("access_token=secret-token&state=other", 400), ("", 400), (String(repeating: "y", count: 20 << 10), 400),
            (String(repeating: "y", count: 80 << 10), 431),
        ] {
            let answer = try await Raw.send(request(body, port), to: port)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(60))")
            #expect(!answer.contains("secret-token") && !answer.contains("the-state") && !answer.contains("<script"))
        }
        for wrong in [
            request(Self.token, port, target: "/"), request(Self.token, port, more: "Sec-Fetch-Site: cross-site\r\n"),
            request(Self.token, port).replacing("Origin: http://127.0.0.1:\(port)", with: "Origin: https://evil.example"),
            request(Self.token, port).replacing("POST", with: "PUT"), request(Self.token, port).replacing("POST", with: "GET"),
        ] {
            #expect(try await Raw.send(wrong, to: port).hasPrefix("HTTP/1.1 404 "), "\(wrong.prefix(99))")
        }
        // In pieces, as a browser may send it.
        let pieces =
            request("", port, more: "Transfer-Encoding: chunked\r\n").replacing("Content-Length: 0\r\n", with: "")
            + "5\r\n\(Self.token.prefix(5))\r\n\(String(Self.token.utf8.count - 5, radix: 16))\r\n\(Self.token.dropFirst(5))\r\n0\r\n\r\n"
        let answer = try await Raw.send(pieces, to: port)
        #expect(
            answer.hasPrefix("HTTP/1.1 200 ")
                && answer.hasSuffix(
                    "\r\n\r\nomvault has the answer and continues there. "
                        + "You can close this page.")
        )
        #expect(answer.contains("Content-Security-Policy: default-src 'none'; frame-ancestors 'none'"))
        guard case .token(let said) = try await listener.answer() else {
            Issue.record("no token")
            return
        }
        #expect(said.access == "at-1")
    }
}

/// The page with the script, as a browser reads it.
struct FragmentScript {
    let head: String
    let body: String
    let script: String
    let policy: String
    let digest: String

    init(_ answer: String) throws {
        let start = try #require(answer.firstRange(of: "\r\n\r\n"))
        (head, body) = (String(answer[..<start.lowerBound]), String(answer[start.upperBound...]))
        let parts = body.split(separator: "<script>", omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        script = String(try #require(parts[1].split(separator: "</script>", omittingEmptySubsequences: false).first))
        let line = try #require(head.split(separator: "\r\n").first { $0.hasPrefix("Content-Security-Policy: ") })
        policy = String(line.dropFirst("Content-Security-Policy: ".count))
        let encoded = Base64.encode(SecretBytes(copying: try Digest.of(Array(script.utf8), .sha256)))
        digest = encoded.text
    }

    /// Whether a browser runs the script.
    var isAllowed: Bool { head.hasPrefix("HTTP/1.1 200 ") && policy.contains("script-src 'sha256-\(digest)';") }
}
