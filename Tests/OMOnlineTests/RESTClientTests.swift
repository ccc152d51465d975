// The library's calls for requests, through the real helper: gates, connections, cancelling, and what the helper refuses.

import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMRecords
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMOnline

@Suite("Requests of the library", .onOwnThreads) struct RESTClientTests {
    private static let program = Programs.path(of: "omvault-agent")

    /// An agent with a session that has no access token, for the origins of a test.
    private final class Home {
        private let folder: TestFolder
        let client: AgentClient
        let login: LoginReference

        init(for origins: [String]) throws {
            folder = try TestFolder()
            let socket = try AgentSocket(path: folder.file("agent.sock"))
            client = AgentClient(socket)
            let key = LoginKey(profile: try ProfileName("work"), user: try UserName("alice"))
            login = try #require(LoginReference(state: folder.path, device: folder.path, key: key))
            #expect(try AgentProcess.start(RESTClientTests.program, at: socket))
            try client.keep(
                NewSession(
                    login: login, profile: try Profile(key.profile, values: [:]).digest, mode: .online,
                    limits: SessionLimits(idle: nil, session: nil), release: .never, serverPart: nil, origins: origins))
        }

        deinit { try? client.stepDown() }
    }

    /// Gives numbered tokens, and notes what was asked.
    private final class Gates: WebGateTokenSource {
        let asked = Mutex<[String]>([])

        func token(for gate: WebGate, context: String) async throws(AuthError) -> SecretBytes {
            let count = asked.withLock { asked in
                asked.append("\(gate.name) \(gate.guarded) \(context)")
                return asked.count
            }
            return bytes("at\(count)")
        }
    }

    private func address(_ text: String) throws -> ServerURL { try #require(ServerURL(text)) }

    private func get(_ text: String, headers: [OnlineService.Header] = []) throws -> RESTRequest {
        try RESTRequest("GET", try address(text), headers: headers)
    }

    private func text(_ response: RESTResponse) async throws -> String {
        try await response.wholeBody(upTo: 1 << 20).withBytes { body in
            String(decoding: body.indices.map { body[$0] }, as: UTF8.self)
        }
    }

    private func say(_ trace: Trace, _ path: String, _ answers: [[String: Any]]) async throws {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: answers), as: UTF8.self)
        try await Raw.post(trace.url("/tell/\(path)"), text)
    }

    private func told(_ status: Int, _ body: String = "", _ fields: String...) -> [String: Any] {
        ["status": status, "body": body, "fields": fields]
    }

    // MARK: - Gates

    private static func challenge(_ path: String) -> String {
        #"WWW-Authenticate: OAM-Auth realm="wg1:2\#(path)", request-ctx="encquery%3Dabc%2B1""#
    }

    @Test("a gate's challenge, with or without a blank before the path, costs one question and one retry, and then none")
    func gate() async throws {
        let trace = try await Trace()
        let origin = try address(trace.url("/")).origin
        let home = try Home(for: [origin]), gates = Gates()
        let client = RESTClient(program: Self.program, agent: home.client, login: home.login, gates: gates)
        try await say(trace, "res", [told(401, "", Self.challenge(" /res")), told(200, "in")])
        let first = try await client.send(try get(trace.url("/told/res")))
        #expect(try await text(first) == "in")
        try await say(trace, "res", [told(401, "", Self.challenge("/res")), told(200, "again")])
        let second = try await client.send(try get(trace.url("/told/res")))
        #expect(try await text(second) == "again")
        #expect(gates.asked.withLock { $0 } == ["wg1 2/res encquery%3Dabc%2B1"])
        let sent = try trace.seen().filter { $0.target == "/told/res" }.map { $0.fields["authorization"] ?? "none" }
        #expect(sent == ["none", "OAM-Auth at1", "none", "OAM-Auth at1"])
    }

    @Test("a gate that refuses its token is not asked for ever, and its token is not used again")
    func gateRefuses() async throws {
        let trace = try await Trace()
        let home = try Home(for: [try address(trace.url("/")).origin]), gates = Gates()
        let client = RESTClient(program: Self.program, agent: home.client, login: home.login, gates: gates)
        try await say(trace, "res", [told(401, "no", Self.challenge(" /res"))])
        for _ in 0..<2 { #expect(try await client.send(try get(trace.url("/told/res"))).status == 401) }
        #expect(try trace.seen().filter { $0.target == "/told/res" }.count == 4)
        #expect(gates.asked.withLock { $0.count } == 2)
    }

    @Test("another server that names the same gate does not get its token, and a gate behind a redirect gets none")
    func sameGateElsewhere() async throws {
        let trace = try await Trace()
        let here = trace.url("/told/res"), there = here.replacing("127.0.0.1", with: "localhost")
        let elsewhere = here.contains("localhost") ? here.replacing("localhost", with: "127.0.0.1") : there
        let home = try Home(for: [try address(here).origin, try address(elsewhere).origin]), gates = Gates()
        let client = RESTClient(program: Self.program, agent: home.client, login: home.login, gates: gates)
        try await say(trace, "res", [told(401, "", Self.challenge(" /res")), told(200, "in")])
        #expect(try await client.send(try get(here)).status == 200)
        try await say(trace, "res", [told(401, "", Self.challenge(" /res")), told(200, "in")])
        #expect(try await client.send(try get(elsewhere)).status == 200)
        let sent = try trace.seen().filter { $0.target == "/told/res" }.map { $0.fields["authorization"] ?? "none" }
        #expect(sent == ["none", "OAM-Auth at1", "none", "OAM-Auth at2"])
        try await say(trace, "away", [told(302, "", "Location: \(elsewhere)")])
        try await say(trace, "res", [told(401, "", Self.challenge(" /res"))])
        let request = try RESTRequest("GET", try address(trace.url("/told/away")), redirects: 1)
        #expect(try await client.send(request).status == 401)
        #expect(gates.asked.withLock { $0.count } == 2)
        let behind = try trace.seen().filter { $0.target == "/told/res" }.map { $0.fields["authorization"] ?? "none" }
        #expect(behind == ["none"])
    }

    @Test("without a login a gate is 10023, without a source it needs one, and another 401 passes through")
    func noGates() async throws {
        let trace = try await Trace()
        let home = try Home(for: [try address(trace.url("/")).origin]), gates = Gates()
        try await say(trace, "res", [told(401, "no", Self.challenge(" /res"))])
        try await say(trace, "other", [told(401, "no", #"WWW-Authenticate: Basic realm="x", request-ctx="y""#)])
        let loginless = RESTClient(program: Self.program, gates: gates)
        await #expect(throws: RESTError.noSession) { try await loginless.send(try get(trace.url("/told/res"))) }
        #expect(RESTError.noSession.sdkCode == 10023)
        #expect(try await RESTClient(program: Self.program).send(try get(trace.url("/told/res"))).status == 401)
        let client = RESTClient(program: Self.program, agent: home.client, login: home.login, gates: gates)
        #expect(throws: RESTError.gateTokenNeeded) { try client.sendBlocking(try get(trace.url("/told/res"))) }
        #expect(try await client.send(try get(trace.url("/told/other"))).status == 401)
        #expect(gates.asked.withLock { $0.isEmpty })
        // The session has no access token, and without a source nothing else opens a door.
        let tokenless = RESTClient(program: Self.program, agent: home.client, login: home.login)
        await #expect(throws: RESTError.token(.noToken)) { try await tokenless.send(try get(trace.url("/told/res"))) }
    }

    @Test("the agent starts no helper for an origin that the login's profile does not name, or of another login")
    func foreignOrigin() async throws {
        let trace = try await Trace()
        let home = try Home(for: ["https://a.example:443", "http://b.example:80"])
        func refusal(_ login: LoginReference, _ origin: String) -> RESTError? {
            let question = RequesterQuestion(login: login, origin: origin, token: TokenQuestion(atLeast: 0), refused: nil)
            do throws(RESTError) {
                _ = try home.client.requester(question, .init(origin: origin, token: .none))
                return nil
            } catch { return error }
        }
        for origin in [
            try address(trace.url("/")).origin, "https://a.example", "https://a.example:444", "http://a.example:443",
            "https://a.example.:443", "https://A.example:443", "http://b.example:80", "",
        ] {
            #expect(refusal(home.login, origin) == .foreignOrigin, "\(origin)")
        }
        #expect(refusal(home.login, "https://a.example:443") == .token(.noToken))
        let key = LoginKey(profile: try ProfileName("work"), user: try UserName("bob"))
        let other = try #require(LoginReference(state: home.login.state, device: home.login.device, key: key))
        #expect(refusal(other, "https://a.example:443") == .noSession)
    }

    @Test("over plain http a request goes only to an address of this machine")
    func plainHTTP() throws {
        for text in [
            "http://a.example", "http://localhost.a.example", "http://127.0.0.1.a.example", "http://10.0.0.1", "http://[::2]",
        ] {
            let address = try address(text)
            #expect(throws: RESTError.unusable, "\(text)") { try RESTRequest("GET", address) }
        }
        for text in ["http://127.0.0.1:1", "http://[::1]", "http://localhost", "https://a.example"] {
            _ = try RESTRequest("GET", try address(text))
        }
    }

    // MARK: - Connections, bodies, cancelling

    @Test("fifty requests use one helper and one connection")
    func oneConnection() async throws {
        let server = try await Server.nginx.value
        let client = RESTClient(program: Self.program)
        var counts: [String] = []
        for _ in 0..<50 {
            let response = try await client.send(try get(server.url("/count", "plain", scheme: "http", host: "127.0.0.1")))
            counts.append(try await text(response))
        }
        #expect(counts == (1...50).map { "\($0)" })
    }

    @Test("a body of unknown length goes in chunks and comes whole, and a source that fails leaves no request behind")
    func bodies() async throws {
        let trace = try await Trace()
        let client = RESTClient(program: Self.program)
        let left = Mutex(5)
        let body = RESTBody(count: nil, canBeSentAgain: false) { () throws(RESTError) in
            { (most) throws(RESTError) in
                let number = left.withLock { left in
                    left -= 1
                    return left
                }
                return number < 0
                    ? SecretBytes(copying: [])
                    : SecretBytes(copying: [UInt8](repeating: UInt8(0x61 + number), count: min(most, 100_000)))
            }
        }
        try await say(trace, "b", [told(200)])
        let request = try RESTRequest("PUT", try address(trace.url("/told/b")), body: body)
        #expect(try client.sendBlocking(request).status == 200)
        let sent = try #require(try trace.seen().first { $0.target == "/told/b" })
        #expect(sent.fields["transfer-encoding"] == "chunked" && sent.fields["content-length"] == nil)
        #expect(sent.body == "edcba".map { String(repeating: $0, count: 100_000) }.joined())
        // nginx answers without the rest of a body.
        let server = try await Server.nginx.value
        let target = try address(server.url("/open", "plain", scheme: "http", host: "127.0.0.1"))
        let failing = RESTBody(count: 10, canBeSentAgain: false) { () throws(RESTError) in
            { (_) throws(RESTError) in throw .body(EIO) }
        }
        #expect(throws: RESTError.body(EIO)) { try client.sendBlocking(try RESTRequest("PUT", target, body: failing)) }
    }

    @Test("a request whose method has no body says nothing of a length", arguments: ["GET", "HEAD", "DELETE", "TRACE"])
    func noLength(_ method: String) async throws {
        let trace = try await Trace()
        try await say(trace, "a", [told(200)])
        let response = try await RESTClient(program: Self.program).send(
            try RESTRequest(method, try address(trace.url("/told/a"))))
        #expect(response.status == 200)
        let sent = try #require(try trace.seen().first { $0.target == "/told/a" })
        #expect(sent.method == method && sent.fields["content-length"] == nil && sent.fields["transfer-encoding"] == nil)
    }

    @Test("the head of an answer and the first piece of its body come while the server says no more", .timeLimit(.minutes(1)))
    func headBeforeTheRest() async throws {
        let trace = try await Trace()
        let response = try await RESTClient(program: Self.program).send(try get(trace.url("/halves")))
        #expect(response.status == 200)
        var got: [UInt8] = []
        while let piece = try await response.nextPiece() {
            got += piece.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            if got.count == 5 { try await Raw.post(trace.url("/more"), "") }
        }
        #expect(got == Array("helloworld".utf8))
    }

    @Test("one helper sends requests with and without a body, and gives answers of every length whole")
    func turns() async throws {
        let trace = try await Trace()
        let origin = try address(trace.url("/")).origin
        let channel = try RequestChannel.start(
            .init(origin: origin, token: .none), program: Self.program, showing: nil
        ) { _ in RequestOpening(origin, trusted: nil, connect: 10_000) }
        for (number, length) in [0, 1, 3_000, 4_096, 5_000, 300_000].enumerated() {
            let text = String(repeating: "a", count: length)
            // The server closes each connection. Who is not told so may send the next request before it sees that.
            let answer = told(200, text, "Connection: close")
            try await say(trace, "\(number)", [answer, answer])
            for body in [RESTBody.none, RESTBody(SecretBytes(copying: [UInt8](repeating: 0x62, count: length)))] {
                let target = try address(trace.url("/told/\(number)")).target
                let head = try channel.begin("POST", target, headers: [], body: body, seconds: 60)
                #expect(head.status == 200)
                var got = 0
                while let piece = try channel.nextPiece() { got += piece.count }
                #expect(got == length)
            }
            #expect(try trace.seen().last?.body == String(repeating: "b", count: length))
        }
    }

    @Test("a wait for the agent ends with the time of the request, and when the task is cancelled")
    func silentAgent() async throws {
        let folder = try TestFolder()
        let listener = try Self.listener(at: folder.file("agent.sock"))
        defer { close(listener) }
        let agent = AgentClient(try AgentSocket(path: folder.file("agent.sock")))
        let key = LoginKey(profile: try ProfileName("work"), user: try UserName("alice"))
        let login = try #require(LoginReference(state: folder.path, device: folder.path, key: key))
        let client = RESTClient(program: Self.program, agent: agent, login: login)
        let target = try address("http://127.0.0.1:1/")
        #expect(throws: RESTError.failed(.unreachable(.timedOut))) {
            try client.sendBlocking(try RESTRequest("GET", target, seconds: 1))
        }
        func hasCaller() -> Bool { accept(listener, nil, nil) >= 0 }
        #expect(hasCaller())
        let waiting = Task { try await client.send(try RESTRequest("GET", target)) }
        try await eventually { hasCaller() }
        waiting.cancel()
        await #expect(throws: RESTError.cancelled) { try await waiting.value }
    }

    /// A socket whose callers get no answer.
    private static func listener(at path: String) throws -> Int32 {
        let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafeBytes(of: address) { bytes in
            bind(made, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
        }
        try #require(isBound && chmod(path, 0o600) == 0 && listen(made, 8) == 0)
        return made
    }

    @Test(
        "a helper that ends after the time of its request leaves a request that was not in time, and the longest one fits its life"
    )
    func helperEnds() throws {
        #expect(RequestOpening.life > RequestOpening.total)
        for (seconds, expected) in [(0, RESTError.failed(.unreachable(.timedOut))), (300, .failed(.failed(.helper)))] {
            var ends: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
            let channel = RequestChannel(.init(origin: "http://127.0.0.1:1", token: .none), mark: nil, socket: ends[0])
            close(ends[1])
            #expect(throws: expected) {
                try channel.begin("GET", "/", headers: [], body: .none, seconds: UInt32(seconds))
            }
        }
    }

    @Test("cancelling ends a request before its head and within its body, and does nothing after its end")
    func cancelling() async throws {
        let trace = try await Trace()
        let client = RESTClient(program: Self.program)
        let hanging = Task { try await client.send(try get(trace.url("/hanging"))) }
        try await eventually { try trace.seen().contains { $0.target == "/hanging" } }
        hanging.cancel()
        await #expect(throws: RESTError.cancelled) { try await hanging.value }

        let own = [OnlineService.Header("Authorization", "x")]
        let dripping = Task {
            let response = try await client.send(try get(trace.url("/drip-body"), headers: own))
            while try await response.nextPiece() != nil { withUnsafeCurrentTask { $0?.cancel() } }
            return response.status
        }
        await #expect(throws: RESTError.cancelled) { try await dripping.value }

        try await say(trace, "a", [told(200, "whole")])
        let whole = Task { () throws in
            let response = try await client.send(try get(trace.url("/told/a")))
            let body = try await text(response)
            withUnsafeCurrentTask { $0?.cancel() }
            #expect(try await response.nextPiece() == nil)
            return body
        }
        #expect(try await whole.value == "whole")
        #expect(try await client.send(try get(trace.url("/told/a"))).status == 200)
    }

    // MARK: - The helper

    private struct NoCaller: WebRequester.Caller {
        func next() async throws(OnlineRefusal) -> [UInt8] { [] }
        func take(status: UInt16, headers: [(name: String, value: String)]) async throws(OnlineRefusal) {}
        func take(_ piece: [UInt8]) async throws(OnlineRefusal) {}
        let keepsBack = false
        func hasPause() {}
    }

    @Test("a body that stops halfway ends the request long before its limit", .timeLimit(.minutes(1)))
    func stalled() async throws {
        let trace = try await Trace()
        let url = try #require(EndpointURL(reading: trace.url("/stalled")))
        let requester = try WebRequester(
            url.origin, scheme: "", token: bytes(""), trusting: nil, deadlines: patient, stall: .milliseconds(1))
        let request = WebRequester.Request("GET", url.path, headers: [], body: .none, limit: .max)
        await #expect(throws: OnlineRefusal.unreachable(.timedOut)) { try await requester.send(request, for: NoCaller()) }
    }

    @Test("the helper sends nothing to another origin, no header of two lines, and no token of two lines")
    func targets() async throws {
        func requester(_ token: String = "t") throws(OnlineRefusal) -> WebRequester {
            try WebRequester("http://127.0.0.1:1", scheme: "Bearer", token: bytes(token), trusting: nil, deadlines: patient)
        }
        func refusal(_ target: String, _ method: String = "GET", _ headers: [(name: String, value: String)] = []) async throws
            -> OnlineRefusal?
        {
            let request = WebRequester.Request(method, target, headers: headers, body: .none, limit: 60_000)
            do throws(OnlineRefusal) {
                try await requester().send(request, for: NoCaller())
                return nil
            } catch { return error }
        }
        for target in ["@b.example/", ".b.example/", "1/", "", "http://b.example/", "/a b", "/a\r\nb", "/[", "/\\"] {
            #expect(try await refusal(target) == .failed(.unsafeAddress), "\(target)")
        }
        #expect(try await refusal("//b.example/") == .unreachable(.refused))
        for header in [("A", "b\r\nC: d"), ("A\n", "b"), ("A", "\0"), ("authorization", "own"), ("", "b")] {
            #expect(try await refusal("/", "GET", [(name: header.0, value: header.1)]) == .failed(.unusableHeaders))
        }
        for method in ["", "GET /", "A\r\nB", "CONNECT"] {
            #expect(try await refusal("/", method) == .failed(.unusableHeaders))
        }
        #expect(throws: OnlineRefusal.failed(.unusableSession)) { _ = try requester("a\r\nX: b") }
        for origin in ["http://b.example", "http://127.0.0.1:1/path", "http://127.0.0.1:1/?q", "file:///"] {
            #expect(throws: OnlineRefusal.failed(.unsafeAddress), "\(origin)") {
                _ = try WebRequester(origin, scheme: "", token: bytes(""), trusting: nil, deadlines: patient)
            }
        }
    }

    @Test("the frames of requests are read only whole and exact")
    func frames() throws {
        #expect(RequestHead.mostHeaders == WebRequester.mostHeaders)
        func bytes(_ body: consuming SecretBuffer) -> [UInt8] { body.withBytes { span in span.indices.map { span[$0] } } }
        let head = RequestHead(
            number: 7, method: "PUT", target: "/a?b", headers: [.init("A", "b"), .init("C", "")], body: .counted(5),
            limit: 300_000)
        var frame = SecretBuffer()
        frame.write(head)
        let whole = bytes(frame)
        func read(_ bytes: [UInt8]) -> RequestHead? {
            var wire = WireReader(bytes.span)
            guard let head = try? wire.read(RequestHead.self), (try? wire.end()) != nil else { return nil }
            return head
        }
        #expect(read(whole) == head && read(whole + [0]) == nil)
        for count in whole.indices { #expect(read(Array(whole.prefix(count))) == nil) }
        let late = whole.dropLast(4)
        #expect(read(late + [0, 0, 0, 0]) == nil && read(late + [0, 4, 0x93, 0xE1]) == nil)

        let opening = RequestOpening(
            "https://a.example:443", .gate, token: OMOnlineTests.bytes("t"), trusted: [1, 2], connect: 5)
        func encoded(_ opening: consuming RequestOpening) throws -> [UInt8] {
            guard let body = opening.encoded() else { throw NoSession() }
            return bytes(body)
        }
        let opened = try encoded(opening)
        func open(_ bytes: [UInt8]) -> Bool { (try? RequestOpening(decoding: bytes.span)) != nil }
        #expect(open(opened) && !open(opened + [0]))
        for count in opened.indices { #expect(!open(Array(opened.prefix(count)))) }
        let empty = RequestOpening("https://a.example:443", .bearer, token: OMOnlineTests.bytes(""), trusted: nil, connect: 5)
        let untold = try encoded(empty)
        #expect(!open(untold))
    }
}
