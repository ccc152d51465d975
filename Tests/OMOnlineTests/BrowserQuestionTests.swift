// A login at the server's own pages as the client and its helper speak of it: the user, the steps, the sockets.

import COMSystem
import Glibc
import OMOnlineModel
import OMRecords
import OMSecrets
import Synchronization
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMAuth

@Suite("Questions about logins at the server's own pages") struct BrowserQuestionTests {
    private static let discovery = BrowserLogin(redirect: "http://127.0.0.1")

    private static func service(
        _ endpoint: OAuthService.Endpoint = .discovery("https://id.example/.well-known/d"),
        issuer: String? = "https://id.example",
        origins: [String] = ["https://login.example"], _ browser: BrowserLogin = discovery
    ) -> OnlineService {
        OnlineService(
            .oauth(
                OAuthService(
                    endpoint, clientID: "id", grant: .authorizationCode, issuer: issuer, origins: origins, browser: browser)))
    }

    @Test("a question about such a login is refused for a service without its own pages, and a password for one with them")
    func fits() throws {
        let plain = OnlineService(.oauth(OAuthService(.token("https://id.example/t", revocation: nil), clientID: "id")))
        let task = OnlineTask.authorize(user: nil, seconds: 180, byDevice: false)
        #expect(task.fits(Self.service()) && !task.fits(plain))
        #expect(!OnlineTask.login(user: "ada").fits(Self.service()))
        for seconds: UInt32 in [0, 3_601] {
            #expect(!OnlineTask.authorize(user: nil, seconds: seconds, byDevice: true).fits(Self.service()))
        }
        let implicit = OnlineService(
            .oauth(OAuthService(.pages(revocation: nil), clientID: "id", grant: .implicit, browser: Self.discovery)))
        #expect(task.fits(implicit) && !OnlineTask.authorize(user: nil, seconds: 180, byDevice: true).fits(implicit))
    }

    @Test("the user of an answer is read as it was written; an empty or a long name is refused")
    func user() throws {
        let id = [UInt8](repeating: 7, count: 16)
        let task = OnlineTask.authorize(user: nil, seconds: 1, byDevice: false)
        func read(_ user: NamedUser?, _ task: OnlineTask) -> String {
            let access = AccessToken(secret("t"), scopes: ScopeSet())
            let body = OnlineReply.accepted(OnlineAcceptance(session: secret("s"), access: access, user: user)).encoded(id, task)
            do throws(MalformedBytes) {
                return try body.withBytes { (bytes: Span<UInt8>) throws(MalformedBytes) in
                    switch try OnlineReply.decode(bytes, to: id, task) {
                    case .accepted(let acceptance): acceptance.user.map { "\($0.name) \($0.subject)" } ?? "none"
                    case .refused: "refused"
                    case .asked: "asked"
                    }
                }
            } catch { return "malformed" }
        }
        #expect(read(NamedUser("ada", subject: "42"), task) == "ada 42" && read(nil, task) == "none")
        #expect(read(NamedUser("ada", subject: "42"), .login(user: "ada")) == "none")
        let long = String(repeating: "a", count: 513)
        for wrong in [NamedUser("", subject: "42"), NamedUser("ada", subject: ""), NamedUser(long, subject: "42")] {
            #expect(read(wrong, task) == "malformed")
        }
    }

    @Test("steps are read as they were written; cut, longer, or of another question they are refused")
    func steps() throws {
        let id = [UInt8](repeating: 7, count: 16)
        for step: BrowserStep in [
            .open("https://id.example/page"), .enter(code: "AB-CD", address: "https://id.example", whole: nil, seconds: 5),
            .enter(code: "AB-CD", address: "https://id.example", whole: "https://id.example?c=AB-CD", seconds: 1_800),
        ] {
            var body = SecretBuffer()
            body.write(WireID(id), step)
            let bytes = body.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            #expect(try BrowserStep(decoding: bytes.span, of: id) == step)
            for length in 0..<bytes.count {
                #expect(throws: MalformedBytes.self) { _ = try BrowserStep(decoding: Array(bytes[..<length]).span, of: id) }
            }
            #expect(throws: MalformedBytes.self) { _ = try BrowserStep(decoding: (bytes + [0]).span, of: id) }
            #expect(throws: MalformedBytes.self) { _ = try BrowserStep(decoding: bytes.span, of: Random.bytes(16)) }
        }
    }

    /// Collects what is shown.
    private final class Shown: BrowserPrompter {
        let steps = Mutex<[BrowserStep]>([])
        func show(_ step: BrowserStep) -> Bool {
            steps.withLock { $0.append(step) }
            return true
        }
        func pasted() -> SecretBytes? { nil }
    }

    @Test(
        "a helper shows only addresses that the profile allows",
        arguments: [
            ("https://id.example/page?state=1", true), ("https://login.example/page", true), ("https://id.example:443/x", true),
            ("https://evil.example/page", false), ("https://id.example.evil.example/", false),
            ("https://id.example@evil.example", false),
            ("http://id.example/page", false), ("https://id.example:8443/", false), ("file:///etc/passwd", false),
            ("javascript:alert(1)", false), ("-flag", false), ("", false), ("https://id.example/\u{1b}[2J", false),
            ("https://id.example/$(id)", false), ("https://id.example/`id`", false), ("https://id.example/a b", false),
            ("https://id.example/#fragment", false), ("https://id.example/ü", false),
        ])
    func addresses(address: String, isShown: Bool) throws {
        let shown = Shown()
        let byBrowser = try #require(
            BrowserPages(Self.service(), .authorize(user: nil, seconds: 1, byDevice: false), shown))
        #expect((byBrowser.show(.open(address)) == .shown) == isShown)
        let byCode = try #require(BrowserPages(Self.service(), .authorize(user: nil, seconds: 1, byDevice: true), shown))
        #expect((byCode.show(.enter(code: "AB", address: address, whole: nil, seconds: 1)) == .shown) == isShown)
        #expect(
            (byCode.show(.enter(code: "AB", address: "https://id.example/", whole: address, seconds: 1)) == .shown) == isShown)
        #expect(shown.steps.withLock { $0.count } == (isShown ? 3 : 0))
    }

    @Test("a helper shows a step of the other kind of login, a bad code or a long address to no person")
    func otherSteps() throws {
        let shown = Shown()
        let byBrowser = try #require(BrowserPages(Self.service(), .authorize(user: nil, seconds: 1, byDevice: false), shown))
        let byCode = try #require(BrowserPages(Self.service(), .authorize(user: nil, seconds: 1, byDevice: true), shown))
        let page = "https://id.example/"
        #expect(byBrowser.show(.enter(code: "AB", address: page, whole: nil, seconds: 1)) == .refused)
        #expect(byCode.show(.open(page)) == .refused)
        for code in ["", String(repeating: "A", count: 65), "A\nB", "Ä", "A\u{1b}"] {
            #expect(byCode.show(.enter(code: code, address: page, whole: nil, seconds: 1)) == .refused, "\(code.count)")
        }
        #expect(byBrowser.show(.open(page + String(repeating: "a", count: 4_096))) == .refused)
        #expect(BrowserPages(Self.service(), .check, shown) == nil)
        #expect(shown.steps.withLock { $0.isEmpty })
        // Without a document the page is at the origin of the profile's own address.
        let named = BrowserLogin(redirect: "r", authorization: "https://page.example/a", device: "https://page.example/d")
        let service = Self.service(.token("https://id.example/t", revocation: nil), issuer: nil, origins: [], named)
        let without = try #require(BrowserPages(service, .authorize(user: nil, seconds: 1, byDevice: false), shown))
        #expect(without.show(.open(page)) == .refused && without.show(.open("https://page.example/a?x=1")) == .shown)
        // With a document its own origin counts, also if the profile names no issuer and no origins.
        let unbound = try #require(
            BrowserPages(
                Self.service(issuer: nil, origins: []), .authorize(user: nil, seconds: 1, byDevice: false), shown))
        #expect(unbound.show(.open("https://evil.example/page")) == .refused && unbound.show(.open(page)) == .shown)
    }

    @Test("sockets listen at the loopback addresses of the redirect address only, both for localhost, at one port")
    func sockets() throws {
        for (redirect, count) in [("http://127.0.0.1", 1), ("http://[::1]/cb", 1), ("http://localhost/cb?x=1", 2)] {
            let listeners = try LoopbackListeners(for: redirect)
            let ports = Set(listeners.descriptors.map(om_loopback_port))
            #expect(listeners.descriptors.count == count && ports.count == 1 && !ports.contains(0), "\(redirect)")
            // The same port a second time is taken, and no one can share it.
            let port = try #require(ports.first)
            #expect(throws: LoopbackListeners.Problem.self) { _ = try LoopbackListeners(for: "\(origin(redirect)):\(port)") }
        }
        for redirect in ["https://127.0.0.1", "http://10.0.0.1", "http://example.org", "com.example.app:/cb", ""] {
            #expect(throws: LoopbackListeners.Problem.self, "\(redirect)") { _ = try LoopbackListeners(for: redirect) }
        }
    }

    private func origin(_ redirect: String) -> String {
        let host = redirect.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" }
        return "http://\(host)"
    }

    @Test("no other descriptor counts as a listening socket of this machine")
    func otherDescriptors() throws {
        let plain = om_loopback_listen(false, 0)
        defer { close(plain) }
        #expect(om_loopback_port(plain) != 0)
        let open = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(open) }
        #expect(om_loopback_port(open) == 0)
        var address = sockaddr_in(
            sin_family: sa_family_t(AF_INET), sin_port: 0, sin_addr: in_addr(s_addr: 0), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(open, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        #expect(bound == 0 && listen(open, 1) == 0)
        // It listens at every address of this machine.
        #expect(om_loopback_port(open) == 0)
        var ends: [Int32] = [-1, -1]
        #expect(om_socket_pair(&ends) == 0)
        defer { ends.forEach { close($0) } }
        #expect(om_loopback_port(ends[0]) == 0 && om_loopback_port(-1) == 0)
    }
}

private func secret(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }
