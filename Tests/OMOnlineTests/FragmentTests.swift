// What counts as the answer of a login by the implicit grant.

import OMCrypto
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMOnline

@Suite("The fragment of a login") struct FragmentTests {
    private static let token = "access_token=at-1&token_type=Bearer&state=the-state"

    private func rules(
        _ address: String = "http://127.0.0.1/cb", port: Int? = 8400, issuer: String? = "https://i.example", names: Bool = false
    ) throws -> RedirectRules {
        let rules = RedirectRules(state: "the-state", issuer: issuer, needsIssuer: names, awaitsToken: true)
        rules.expect(try RedirectAddress(address, port: port))
        return rules
    }

    private func post(
        _ body: String, target: String = "/cb", hosts: [String] = ["127.0.0.1:8400"], mode: String? = "cors",
        origins: [String] = ["http://127.0.0.1:8400"], site: String? = "same-origin", isPost: Bool = true
    ) -> LoopbackRequest {
        LoopbackRequest(
            isGet: false, target: target, hosts: hosts, hasBody: true, mode: mode, port: 8400, user: { nil }, isPost: isPost,
            origins: origins, site: site, body: Array(body.utf8))
    }

    private func posted(_ body: String, issuer: String? = "https://i.example", names: Bool = false) throws
        -> RedirectRules.Outcome
    {
        try rules(issuer: issuer, names: names).posted(post(body))
    }

    private func said(_ fragment: String) throws -> TokenResponse? {
        guard case .answer(.token(let said)) = try posted(fragment) else { return nil }
        return said
    }

    @Test("a fragment with this login's state is read as the answer of a token endpoint is")
    func read() throws {
        let whole = try #require(
            try said("\(Self.token)&expires_in=60&scope=openid+x&id_token=a.b.c&refresh_token=rt-1&x=%00"))
        #expect(whole.access == "at-1" && whole.idToken == "a.b.c" && whole.scopes == ["openid", "x"])
        // This grant has no refresh token.
        #expect(whole.refresh == nil && !whole.isBound && whole.sessionLifetime == 60)
        for (given, life) in [
            ("3600", 3_600), ("-1", 0), ("0", 0), ("1e99", 315_360_000), ("90.5", 90), ("x", 315_360_000), ("", 315_360_000),
        ] as [(String, UInt32)] {
            #expect(try said("\(Self.token)&expires_in=\(given)")?.sessionLifetime == life, "\(given)")
        }
        #expect(try said(Self.token.replacing("Bearer", with: "bEARER")) != nil)
        #expect(try said("access_token=at-1&state=the-state")?.access == "at-1")
        #expect(try said(Self.token.replacing("Bearer", with: "DPoP"))?.isBound == true)
    }

    @Test(
        "a fragment with two tokens, a code, an error too or an odd value is refused",
        arguments: [
            "access_token=at-2", "code=c", "error=access_denied", "expires_in=1&expires_in=1", "scope=a&scope=b",
            "id_token=a&id_token=b", "token_type=Bearer", "scope=%0a", "id_token=%c3%a4", "expires_in=%00",
        ])
    func refused(_ more: String) throws {
        #expect(try posted("\(Self.token)&\(more)") == .answer(.refused(.failed(.unexpectedAnswer))))
    }

    @Test("an answer without a usable token is refused with its reason")
    func without() throws {
        for (fragment, refusal) in [
            ("state=the-state", .failed(.unexpectedAnswer)), ("state=the-state&code=c", .failed(.unexpectedAnswer)),
            ("state=the-state&access_token=", .failed(.unexpectedAnswer)),
            ("state=the-state&id_token=a.b.c", .failed(.unexpectedAnswer)),
            ("\(Self.token)&token_type=mac".replacing("token_type=Bearer&", with: ""), .failed(.unexpectedAnswer)),
            ("state=the-state&error=access_denied", .forbidden(.accessDenied)),
            ("state=the-state&error=unsupported_response_type", .failed(.unsupportedResponse)),
            ("\(Self.token)&iss=https://j.example", .failed(.otherIssuer)),
            ("state=the-state&error=access_denied&iss=https://j.example", .failed(.otherIssuer)),
        ] as [(String, OnlineRefusal)] {
            #expect(try posted(fragment) == .answer(.refused(refusal)), "\(fragment)")
        }
        #expect(try posted(Self.token, names: true) == .answer(.refused(.failed(.otherIssuer))))
        #expect(try posted("\(Self.token)&iss=https://i.example", names: true) != .answer(.refused(.failed(.otherIssuer))))
    }

    @Test("a fragment without this login's state does not end the wait, and the sixteenth does")
    func wrongState() throws {
        let rules = try rules(), right = Self.token
        let wrong = [
            "", "access_token=at-1", right.replacing("the-state", with: "other"), right + "&state=the-state", right + "&x=%",
            right.replacing("state", with: "State"), right + "%",
        ]
        for index in 1..<RedirectRules.maximumWrong {
            #expect(rules.posted(post(wrong[index % wrong.count])) == .wrong, "\(wrong[index % wrong.count])")
        }
        #expect(rules.posted(post("")) == .tooMany && rules.posted(post(right)) == .elsewhere)
        let other = try self.rules()
        for _ in 1..<RedirectRules.maximumWrong { #expect(other.posted(post("")) == .wrong) }
        guard case .answer(.token) = other.posted(post(right)) else {
            Issue.record("the right one does not count")
            return
        }
        #expect(other.posted(post(right)) == .elsewhere)
    }

    @Test("a post of another page, path or host is no answer, and does not count")
    func elsewhere() throws {
        let rules = try rules(), right = Self.token
        let wrong = [
            post(right, target: "/"), post(right, target: "/cb?"), post(right, target: "/cb?x=1"), post(right, target: "/cb/"),
            post(right, hosts: []), post(right, hosts: ["127.0.0.1"]), post(right, hosts: ["localhost:8400"]),
            post(right, hosts: ["evil.example:8400"]), post(right, hosts: ["127.0.0.1:8400", "127.0.0.1:8400"]),
            post(right, origins: ["https://evil.example"]), post(right, origins: ["null"]), post(right, origins: [""]),
            post(right, origins: ["http://127.0.0.1:8401"]), post(right, origins: ["http://localhost:8400"]),
            post(right, origins: ["http://127.0.0.1:8400", "http://127.0.0.1:8400"]),
            post(right, origins: ["http://127.0.0.1:8400/x"]), post(right, mode: "no-cors"), post(right, mode: "navigate"),
            post(right, site: "cross-site"), post(right, site: "same-site"), post(right, site: "none"),
            post(right, isPost: false),
        ]
        for _ in 0...RedirectRules.maximumWrong { for each in wrong { #expect(rules.posted(each) == .elsewhere) } }
        // A browser may leave the three fields out.
        guard case .answer(.token) = rules.posted(post(right, mode: nil, origins: [], site: nil)) else {
            Issue.record("no token")
            return
        }
        // A login by code takes no post.
        let code = RedirectRules(state: "the-state", issuer: nil, needsIssuer: false)
        code.expect(try RedirectAddress("http://127.0.0.1/cb", port: 8400))
        #expect(code.posted(post(right)) == .elsewhere)
    }

    @Test(
        "a fragment that is too long ends the login, so that nothing waits for a second one; without the state it is a wrong one")
    func long() throws {
        let more = "&x=" + String(repeating: "y", count: RedirectRules.longestText)
        #expect(try posted(Self.token + more) == .answer(.refused(.failed(.answerTooLarge))))
        #expect(try posted("state=other" + more) == .wrong)
        let address = "http://127.0.0.1:8400/cb#"
        #expect(try rules().pasted(bytes(address + Self.token + more)) == .answer(.refused(.failed(.answerTooLarge))))
        let longest = Self.token + "&x=" + String(repeating: "y", count: RedirectRules.longestText - Self.token.utf8.count - 3)
        #expect(try said(longest)?.access == "at-1")
    }

    @Test("a token in the query is refused, an error there counts, and an address without a query is the page with the script")
    func query() throws {
        func get(_ query: String, _ rules: RedirectRules) -> RedirectRules.Outcome {
            rules.request(isGet: true, target: "/cb\(query)", hosts: ["127.0.0.1:8400"], hasBody: false, mode: "navigate")
        }
        for (query, outcome) in [
            ("", .script), ("?", .script), ("?\(Self.token)", .answer(.refused(.failed(.tokenInQuery)))),
            ("?state=the-state&id_token=a.b.c", .answer(.refused(.failed(.tokenInQuery)))),
            ("?\(Self.token)&error=x", .answer(.refused(.failed(.tokenInQuery)))),
            ("?state=the-state&error=access_denied", .answer(.refused(.forbidden(.accessDenied)))),
            ("?state=the-state&code=c", .answer(.refused(.failed(.unexpectedAnswer)))),
            ("?access_token=at-1", .wrong), ("?x=1", .wrong),
        ] as [(String, RedirectRules.Outcome)] {
            #expect(try get(query, rules()) == outcome, "\(query)")
        }
        let rules = try rules()
        for _ in 0..<40 { #expect(get("", rules) == .script) }
        // A code that comes in the fragment is none for a login by code.
        let code = RedirectRules(state: "the-state", issuer: nil, needsIssuer: false)
        code.expect(try RedirectAddress("http://127.0.0.1/cb", port: 8400))
        #expect(get("", code) == .wrong)
    }

    @Test(
        "a pasted address has the token in its fragment, by the same rules",
        arguments: [
            ("http://127.0.0.1:8400/cb#", true), (" http://127.0.0.1:8400/cb#", true), ("HTTP://127.0.0.1:8400/cb?#", true),
            ("http://127.0.0.1:8400/cb?x=1#", true), ("http://127.0.0.1:8401/cb#", false), ("http://127.0.0.1:8400/#", false),
            ("https://127.0.0.1:8400/cb#", false), ("#", false), ("", false), ("http://evil.example/cb#", false),
        ])
    func pasted(_ row: (start: String, isRight: Bool)) throws {
        let outcome = try rules().pasted(bytes(row.start + Self.token))
        if case .answer(.token(let said)) = outcome {
            #expect(row.isRight && said.access == "at-1")
        } else {
            #expect(!row.isRight && outcome == .wrong)
        }
    }

    @Test("a pasted token in the query is refused, and a pasted error counts in both places")
    func pastedQuery() throws {
        for (text, outcome) in [
            ("http://127.0.0.1:8400/cb?\(Self.token)", .answer(.refused(.failed(.tokenInQuery)))),
            ("http://127.0.0.1:8400/cb?error=access_denied&state=the-state", .answer(.refused(.forbidden(.accessDenied)))),
            ("http://127.0.0.1:8400/cb#error=access_denied&state=the-state", .answer(.refused(.forbidden(.accessDenied)))),
            ("http://127.0.0.1:8400/cb#error=access_denied&state=other", .wrong), ("http://127.0.0.1:8400/cb#", .wrong),
        ] as [(String, RedirectRules.Outcome)] {
            #expect(try rules().pasted(bytes(text)) == outcome, "\(text)")
        }
        let application = try rules("com.example.app:/done", port: nil)
        guard case .answer(.token) = application.pasted(bytes("COM.example.app:/done#\(Self.token)")) else {
            Issue.record("no token")
            return
        }
    }
}
