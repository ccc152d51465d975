// What is sent to the browser, and what counts as its answer.

import Foundation
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("The redirect address of a login") struct RedirectTests {
    @Test("the challenge is that of RFC 7636, appendix B, and each login has other values of 256 bits")
    func proofKey() {
        let key = ProofKey([
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240, 91,
            88, 5, 88, 83, 132, 141, 121,
        ])
        #expect(key.verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(key.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
        let (one, other) = (LoginSecrets(nonce: LoginSecrets.random()), LoginSecrets(nonce: LoginSecrets.random()))
        let all = [one, other].flatMap { [$0.state, $0.nonce ?? "", $0.key.verifier] }
        #expect(Set(all).count == 6 && all.allSatisfy { $0.utf8.count == 43 })
    }

    private static let secrets = LoginSecrets(
        key: ProofKey([UInt8](repeating: 0, count: 32)), state: "the-state", nonce: "the-nonce")

    private func address(
        _ page: String, client: String = "native", scopes: [String] = [], _ browser: BrowserLogin = BrowserLogin(),
        _ secrets: LoginSecrets = secrets
    ) throws -> String {
        let oauth = OAuthService(.discovery("https://a.example/d"), clientID: client, scopes: scopes, browser: browser)
        return try AuthorizationRequest(
            at: #require(ShownAddress(page)), for: oauth, redirect: RedirectAddress("http://127.0.0.1/cb", port: 8400), secrets
        ).address
    }

    @Test("the address to open has each parameter once, encoded, and keeps the query of the endpoint")
    func golden() throws {
        let challenge = Self.secrets.key.challenge
        let common = "redirect_uri=http%3A%2F%2F127.0.0.1%3A8400%2Fcb&state=the-state&code_challenge=\(challenge)"
        #expect(
            try address(
                "https://a.example/authorize?tenant=7", client: "a b&c", scopes: ["openid", "ä"],
                BrowserLogin(prompt: "login consent", maximumAge: 60, contextClasses: "a b", loginHint: "ada &x"))
                == "https://a.example/authorize?tenant=7&response_type=code&response_mode=query&client_id=a%20b%26c&"
                + common + "&code_challenge_method=S256&scope=openid%20%C3%A4&nonce=the-nonce&prompt=login%20consent"
                + "&max_age=60&acr_values=a%20b&login_hint=ada%20%26x")
        let plain = LoginSecrets(key: Self.secrets.key, state: "the-state", nonce: nil)
        for (page, start) in [
            ("https://a.example", "https://a.example/?"), ("https://a.example/x?", "https://a.example/x?"),
            ("https://a.example/x?y&", "https://a.example/x?y&"), ("http://127.0.0.1:9/x", "http://127.0.0.1:9/x?"),
        ] {
            #expect(
                try address(page, BrowserLogin(), plain)
                    == start + "response_type=code&response_mode=query&client_id=native&" + common + "&code_challenge_method=S256"
            )
        }
    }

    @Test(
        "an endpoint whose query has a parameter of the request is refused",
        arguments: ["state=x", "redirect_uri=https://b.example", "a=b&code_challenge=x", "request_uri=x", "%73tate=x", "a=%"])
    func queryOfEndpoint(_ query: String) {
        #expect(throws: OnlineRefusal.failed(.noLoginPage)) { try address("https://a.example/x?\(query)") }
    }

    @Test(
        "an address that a program could take for something else is never shown",
        arguments: [
            "file:///etc/passwd", "javascript:alert(1)", "https://x/$(id)", "-flag", "--help", "https://x/`id`", "https://x/;id",
            "https://x/'", "https://x/\"", "https://x/|id", "https://x/ä", "https://ä.example/", "https://x/ y", "https://x/\n",
            "http://a.example/", "https://u@x/", "https://x/#f", "https://x/<b>", "data:text/html,x", "", "x", "//x/", "https://",
            "https://x/\\", "https://x/*", "https://x/!", "https://x/\u{1B}[2J",
        ])
    func neverShown(_ text: String) { #expect(ShownAddress(text) == nil) }

    @Test("the port of the sockets goes into a redirect address without one, and no other address leads to sockets")
    func port() throws {
        for (text, port, whole) in [
            ("http://127.0.0.1", 8400, "http://127.0.0.1:8400"), ("http://127.0.0.1/", 8400, "http://127.0.0.1:8400/"),
            ("http://127.0.0.1/cb", 8400, "http://127.0.0.1:8400/cb"), ("http://localhost:8400", 8400, "http://localhost:8400"),
            ("http://[::1]", 8400, "http://[::1]:8400"), ("http://[::1]:8400/a", 8400, "http://[::1]:8400/a"),
            ("http://127.0.0.1", nil, "http://127.0.0.1"), ("com.example.app:/done", nil, "com.example.app:/done"),
            ("https://a.example/cb", nil, "https://a.example/cb"),
            ("urn:ietf:wg:oauth:2.0:oob", nil, "urn:ietf:wg:oauth:2.0:oob"),
        ] as [(String, Int?, String)] {
            #expect(try RedirectAddress(text, port: port).text == whole)
        }
        for (text, port) in [
            ("http://127.0.0.1:8401", 8400), ("https://127.0.0.1", 8400), ("http://a.example", 8400), ("com.example:/x", 8400),
            ("", nil), ("x", nil), ("127.0.0.1", nil), (":x", nil), ("1a:x", nil), ("http://127.0.0.1/?a=b", nil),
            ("http://127.0.0.1/#a", nil), ("a:b c", nil), ("a:ä", nil), ("a:\n", nil), ("a:<b>", nil),
            ("a:" + String(repeating: "b", count: 2047), nil),
        ] as [(String, Int?)] {
            #expect(throws: OnlineRefusal.failed(.unsafeAddress), "\(text)") { try RedirectAddress(text, port: port) }
        }
    }

    // MARK: - Answers

    private func rules(
        _ address: String = "http://127.0.0.1/cb", port: Int? = 8400, issuer: String? = "https://i.example", names: Bool = false
    ) throws -> RedirectRules {
        let rules = RedirectRules(state: "the-state", issuer: issuer, needsIssuer: names)
        rules.expect(try RedirectAddress(address, port: port))
        return rules
    }

    private func outcome(_ query: String, issuer: String? = "https://i.example", names: Bool = false) throws
        -> RedirectRules.Outcome
    {
        try rules(issuer: issuer, names: names).request(
            isGet: true, target: "/cb?\(query)", hosts: ["127.0.0.1:8400"], hasBody: false)
    }

    @Test(
        "an answer with this login's state is read, and decides",
        arguments: [
            ("code=c%201&state=the-state", .code("c 1")), ("state=the%2Dstate&code=c+1&x=%00", .code("c 1")),
            ("state=the-state&code=a&iss=https%3A%2F%2Fi.example", .code("a")),
            ("state=the-state&code=a&iss=https://j.example", .refused(.failed(.otherIssuer))),
            ("state=the-state&error=access_denied&iss=https://j.example", .refused(.failed(.otherIssuer))),
            ("state=the-state&code=a&iss=https://i.example&iss=https://i.example", .refused(.failed(.otherIssuer))),
            ("state=the-state&code=a&iss=", .refused(.failed(.otherIssuer))),
            ("state=the-state&code=a&iss=https://i.example/", .refused(.failed(.otherIssuer))),
            ("state=the-state", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&code=", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&code=a&code=a", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&code=a&error=x", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&code=%0a", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&code=%c3%a4", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&code=" + String(repeating: "a", count: 4097), .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&error=%00", .refused(.failed(.unexpectedAnswer))),
            ("state=the-state&error=access_denied&error_description=x", .refused(.forbidden(.accessDenied))),
            ("state=the-state&error=invalid_scope", .refused(.failed(.invalidScope))),
            ("state=the-state&error=unauthorized_client", .refused(.failed(.unauthorizedClient))),
            ("state=the-state&error=invalid_request", .refused(.failed(.invalidRequest))),
            ("state=the-state&error=unsupported_response_type", .refused(.failed(.unsupportedResponse))),
            ("state=the-state&error=server_error", .refused(.failed(.serverError))),
            ("state=the-state&error=temporarily_unavailable", .refused(.failed(.temporarilyUnavailable))),
            ("state=the-state&error=login_required", .refused(.failed(.otherOAuthError))),
        ] as [(String, RedirectAnswer)])
    func answers(_ row: (query: String, answer: RedirectAnswer)) throws {
        #expect(try outcome(row.query) == .answer(row.answer))
    }

    @Test("an issuer that the server announces is needed, and an unknown one is refused")
    func issuers() throws {
        let code = "state=the-state&code=a"
        #expect(try outcome(code, names: true) == .answer(.refused(.failed(.otherIssuer))))
        #expect(try outcome("state=the-state&error=access_denied", names: true) == .answer(.refused(.failed(.otherIssuer))))
        #expect(try outcome(code + "&iss=https://i.example", names: true) == .answer(.code("a")))
        #expect(try outcome(code, issuer: nil) == .answer(.code("a")))
        #expect(try outcome(code + "&iss=https://i.example", issuer: nil) == .answer(.refused(.failed(.otherIssuer))))
    }

    @Test(
        "an answer without this login's state is wrong",
        arguments: [
            "", "code=a", "code=a&state=", "code=a&state=other", "code=a&state=the-state&state=the-state",
            "code=a&State=the-state",
            "code=a&state=the-stat", "code=a&state=the-state%00", "code=a&state=the-state&x=%", "state=the-state&code=a%zz",
            "state=the-state;code=a", "state=the-state&%ff=a", "state=the-state\u{0}&code=a",
        ])
    func wrong(_ query: String) throws { #expect(try outcome(query) == .wrong) }

    @Test(
        "a request of another kind, path or host is no answer, and does not count",
        arguments: [
            (false, "/cb?", ["127.0.0.1:8400"], false), (true, "/cb?", ["127.0.0.1:8400"], true),
            (true, "/?", ["127.0.0.1:8400"], false),
            (true, "/cb/?", ["127.0.0.1:8400"], false), (true, "/CB?", ["127.0.0.1:8400"], false),
            (true, "/x/../cb?", ["127.0.0.1:8400"], false), (true, "/%63b?", ["127.0.0.1:8400"], false),
            (true, "http://127.0.0.1:8400/cb?", ["127.0.0.1:8400"], false), (true, "cb?", ["127.0.0.1:8400"], false),
            (true, "/cb?", [], false), (true, "/cb?", ["127.0.0.1:8400", "127.0.0.1:8400"], false),
            (true, "/cb?", ["127.0.0.1"], false),
            (true, "/cb?", ["127.0.0.1:8401"], false), (true, "/cb?", ["localhost:8400"], false),
            (true, "/cb?", ["evil.example:8400"], false), (true, "/cb?", ["127.0.0.1:8400/x"], false),
            (true, "/cb?", ["u@127.0.0.1:8400"], false), (true, "/cb?", ["127.0.0.1:8400?x"], false), (true, "/cb?", [""], false),
        ] as [(Bool, String, [String], Bool)])
    func elsewhere(_ row: (isGet: Bool, target: String, hosts: [String], hasBody: Bool)) throws {
        let rules = try rules()
        for _ in 0..<RedirectRules.maximumWrong + 1 {
            #expect(
                rules.request(
                    isGet: row.isGet, target: row.target + "code=a&state=the-state", hosts: row.hosts, hasBody: row.hasBody)
                    == .elsewhere)
        }
        #expect(
            rules.request(isGet: true, target: "/cb?code=a&state=the-state", hosts: ["127.0.0.1:8400"], hasBody: false)
                == .answer(.code("a")))
    }

    @Test("a request that a browser marks as no navigation is no answer, and does not count")
    func navigation() throws {
        let rules = try rules()
        func ask(_ mode: String?) -> RedirectRules.Outcome {
            rules.request(
                isGet: true, target: "/cb?code=a&state=the-state", hosts: ["127.0.0.1:8400"], hasBody: false, mode: mode)
        }
        for _ in 0...RedirectRules.maximumWrong {
            for mode in ["no-cors", "cors", "same-origin", "websocket", ""] { #expect(ask(mode) == .elsewhere) }
        }
        #expect(ask("navigate") == .answer(.code("a")))
    }

    @Test("the sixteenth wrong answer ends the wait, and one right answer ends it too")
    func count() throws {
        let rules = try rules()
        func ask(_ query: String) -> RedirectRules.Outcome {
            rules.request(isGet: true, target: "/cb?\(query)", hosts: ["127.0.0.1:8400"], hasBody: false)
        }
        for _ in 1..<RedirectRules.maximumWrong { #expect(ask("code=a&state=x") == .wrong) }
        #expect(ask("code=a&state=x") == .tooMany)
        #expect(ask("code=a&state=the-state") == .elsewhere)

        let other = try self.rules()
        let right = "http://127.0.0.1:8400/cb?code=a&state=the-state"
        #expect(other.pasted(bytes("http://127.0.0.1:8400/cb?code=a&state=x")) == .wrong)
        #expect(other.pasted(bytes(right)) == .answer(.code("a")))
        #expect(other.pasted(bytes(right)) == .elsewhere)
    }

    @Test("before an address is expected nothing is an answer")
    func early() {
        let rules = RedirectRules(state: "the-state", issuer: nil, needsIssuer: false)
        #expect(
            rules.request(isGet: true, target: "/?code=a&state=the-state", hosts: ["127.0.0.1:8400"], hasBody: false)
                == .elsewhere)
    }

    @Test(
        "a pasted text is a whole redirect address, by the same rules",
        arguments: [
            ("http://127.0.0.1/cb", "http://127.0.0.1:8400/cb?code=a&state=the-state", true),
            ("http://127.0.0.1/cb", " \thttp://127.0.0.1:8400/cb?code=a&state=the-state#x\r\n", true),
            ("http://127.0.0.1/cb", "HTTP://127.0.0.1:8400/cb?code=a&state=the-state", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:8400/cd?code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:8401/cb?code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1:8400/cb?code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "http://localhost:8400/cb?code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "/cb?code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "?code=a&state=the-state", false), ("http://127.0.0.1/cb", "", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:8400/cb#code=a&state=the-state", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:8400/cb?code=a&state=other", false),
            (
                "http://127.0.0.1/cb", "http://127.0.0.1:8400/cb?code=a&state=the-state&x=" + String(repeating: "x", count: 8192),
                false
            ),
            ("com.example.app:/done", "com.example.app:/done?code=a&state=the-state", true),
            ("com.example.app:/done", "COM.example.app:/done?code=a&state=the-state", true),
            ("com.example.app:/done", "com.example.app:/done/?code=a&state=the-state", false),
            ("com.example.app:/done", "com.example.app://done?code=a&state=the-state", false),
            ("com.example.app:/done", "com.example.other:/done?code=a&state=the-state", false),
            ("https://a.example/cb", "https://a.example:443/cb?code=a&state=the-state", true),
            ("https://a.example/cb", "https://b.example/cb?code=a&state=the-state", false),
        ])
    func pasted(_ row: (address: String, text: String, isRight: Bool)) throws {
        let rules = try rules(row.address, port: row.address.hasPrefix("http://") ? 8400 : nil)
        #expect(rules.pasted(bytes(row.text)) == (row.isRight ? .answer(.code("a")) : .wrong), "\(row.text)")
    }

    @Test("bytes that are not UTF-8 are pasted in vain")
    func pastedBytes() throws { #expect(try rules().pasted(SecretBytes(copying: [0xFF, 0xFE])) == .wrong) }
}
