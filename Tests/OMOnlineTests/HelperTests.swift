// The real helper, and programs that pretend to be it. docs/formats/online-protocol.md, "The helper".

import COMSystem
import Foundation
import Glibc
import OMOnlineModel
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("The online helper", .onOwnThreads) struct HelperTests {
    private static let program = Programs.path(of: "omvault-agent")

    private func service(
        _ login: String, trusted: [UInt8]? = nil, profile: String? = nil, deadlines: OnlineDeadlines = patient
    ) -> OnlineService {
        OnlineService(
            .basic(BasicService(login: login)), trusted: trusted, profile: profile, deadlines: deadlines)
    }

    private func login(_ service: OnlineService, _ password: String = "correct horse 42") -> OnlineQuestion {
        .login("alice", password: bytes(password), of: service)
    }

    @Test("a login through the helper returns session, clock and profile, is checked and logged out, and a wrong password fails")
    func flow() async throws {
        let server = try await Server.nginx.value
        let client = OnlineClient(program: Self.program)
        let service = service(server.url("/login"), trusted: server.ca, profile: server.url("/profile"))
        let grant = try client.ask(login(service)).get()
        let (time, profile) = (grant.serverTime, grant.profile)
        let session = try grant.session()
        #expect(abs((time ?? 0) - Int64(Date().timeIntervalSince1970)) < 60 && profile.profile?.epoch == 7)
        #expect(try refusal(client, login(service, "wrong")) == .rejected)
        let checked = self.service(server.url("/checked"), trusted: server.ca)
        let check = try refusal(client, .check(session.duplicate(), of: checked))
        #expect(check == nil)
        let leaving = OnlineService(
            .basic(BasicService(login: server.url("/login"), logout: server.url("/logout"))), trusted: server.ca,
            deadlines: patient)
        let logout = try refusal(client, .logout(session.duplicate(), of: leaving))
        #expect(logout == nil)
        let untold = try refusal(client, .logout(session, of: service))
        #expect(untold == .failed(.noLogout))
        let alone = try client.ask(.profile(of: service)).get().profile
        #expect(alone == profile)
        let untrusting = self.service(server.url("/login", "port_name"), trusted: server.ca)
        #expect(try refusal(client, login(untrusting)) == .untrusted(.name))
    }

    @Test("OAuth through the helper gives, renews and revokes tokens, and an unknown client is no wrong password")
    func oauthFlow() async throws {
        let server = try await Server.odd.value
        let client = OnlineClient(program: Self.program)
        func service(_ name: String) -> OnlineService {
            let token = server.url("/token/\(name)", "http", scheme: "http")
            let revocation = server.url("/token/revoke", "http", scheme: "http")
            return OnlineService(
                .oauth(OAuthService(.token(token, revocation: revocation), clientID: "id")), deadlines: patient)
        }
        let grant = try client.ask(login(service("plain"))).get()
        #expect(grant.lifetime == 3600 && grant.serverTime == nil && grant.profile == .notAsked)
        let session = try grant.session()
        let refresh = OnlineQuestion.refresh(session, of: service("plain"), clientSecret: bytes("secret"))
        let renewed = try client.ask(refresh).get().session()
        let logout = try refusal(client, .logout(renewed, of: service("plain")))
        #expect(logout == nil)
        #expect(try refusal(client, .grant(of: service("plain"), clientSecret: bytes("secret"))) == .failed(.helper))
        #expect(try refusal(client, login(service("invalid-client"))) == .failed(.invalidClient, status: 401))
        #expect(try refusal(client, login(service("disabled"))) == .blocked)
    }

    @Test("a silent server is unreachable within the deadline, and two questions run side by side")
    func blackHole() async throws {
        // This test has its own server, so every connection there belongs to it.
        let server = try await Server("odd")
        let address = server.url("/", "blackhole", scheme: "http")
        // TLS is never established there. The helper has the rest of the minute to start and to answer.
        let short = service(server.url("/", "blackhole"), deadlines: OnlineDeadlines(connect: 500, total: 60_000))
        #expect(try refusal(OnlineClient(program: Self.program), login(short)) == .unreachable(.timedOut))
        // The server sees both at once, so neither waits for the other's network. Then they are cancelled.
        // The server closes the first one's connection a moment after its helper has ended.
        try await eventually { try connections(to: server["blackhole"]) == 0 }
        let cancellation = OnlineCancellation(), ended = Atomic(0)
        async let answers = atOnce(2) { _ in
            defer { ended.add(1, ordering: .sequentiallyConsistent) }
            return try refusal(OnlineClient(program: Self.program), login(service(address)), cancellation)
        }
        try await eventually {
            try connections(to: server["blackhole"]) == 2 || ended.load(ordering: .sequentiallyConsistent) > 0
        }
        let early = ended.load(ordering: .sequentiallyConsistent)
        #expect(early == 0)
        cancellation.cancel()
        #expect(try await answers == [.failed(.cancelled), .failed(.cancelled)])
    }

    /// The number of connections at a port of this machine.
    private func connections(to port: String) throws -> Int {
        let wanted = try ":" + String(UInt16(#require(UInt16(port))), radix: 16, uppercase: true).leftPadded(4)
        // Read in pieces to its end, because it has no length.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/net/tcp"))
        var text = Data()
        while case let piece = file.readData(ofLength: 4096), !piece.isEmpty { text += piece }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").count { line in
            let fields = line.split(separator: " ")
            return fields.count > 3 && fields[1].hasSuffix(wanted) && fields[3] == "01"
        }
    }

    @Test("the helper has no core, no new rights, and no files or descriptors but its own, and ends with its caller")
    func confinement() async throws {
        let server = try await Server.odd.value
        let (channel, child) = try start()
        let question = body(login(service(server.url("/", "blackhole", scheme: "http"))))
        try channel.send(.question, try #require(question))
        // The helper has read the question once the server has its connection. It is hardened before that.
        let connected = { Self.sockets(child) > 1 }
        let hasEnded = {
            (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?.contains(") Z") ?? true
        }
        try await eventually { connected() || hasEnded() }
        try #require(connected())
        func line(_ file: String, _ start: String) -> String {
            let text = (try? String(contentsOfFile: "/proc/\(child)/\(file)", encoding: .utf8)) ?? ""
            let found = text.split(separator: "\n").first { $0.hasPrefix(start) } ?? ""
            return found.split(whereSeparator: { " \t".contains($0) }).joined(separator: " ")
        }
        #expect(line("limits", "Max core file size") == "Max core file size 0 0 bytes")
        #expect(line("limits", "Max file size") == "Max file size 0 0 bytes")
        #expect(line("limits", "Max open files") == "Max open files 64 64 files")
        #expect(line("status", "NoNewPrivs") == "NoNewPrivs: 1")
        let environment = FileManager.default.contents(atPath: "/proc/\(child)/environ") ?? Data()
        #expect(
            // The C library cuts its own variable into pieces.
            String(decoding: environment, as: UTF8.self).split(separator: "\0").map { $0.prefix { $0 != "=" } }
                .filter { !$0.hasPrefix("glibc.") } == ["GLIBC_TUNABLES", "PATH"])
        channel.end()
        #expect(om_wait(child) == 1)
    }

    @Test("a helper without its user's socket at descriptor 3, or with an invalid question, ends without an answer")
    func refusals() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let piped = AgentProcess.spawnDetached(Self.program, ["--online"], ends[0])
        #expect(om_wait(piped) == 2)
        close(ends[0])
        close(ends[1])
        for bytes in [
            [UInt8](repeating: 65, count: 64), [0x4F, 0x41, AgentProtocol.version, 0x20, 0, 0, 0, 1, 0],
            [0x4F, 0x41, AgentProtocol.version, 0x02, 0, 0, 0, 0],
            [0x4F, 0x41, AgentProtocol.version + 1, 0x20, 0, 0, 0, 0],
            [0x4F, 0x41, AgentProtocol.version, 0x20, 255, 255, 255, 255],
        ] {
            let (channel, child) = try start()
            _ = bytes.withUnsafeBytes { om_socket_send(channel.descriptor, $0.baseAddress, $0.count) }
            #expect(om_wait(child) == 1, "\(bytes.prefix(9))")
            var answer: UInt8 = 0
            #expect(om_socket_receive(channel.descriptor, &answer, 1) <= 0)
            channel.end()
        }
    }

    /// The action of a program that pretends to be the helper, with the bytes `question` and their number `number`.
    private static let impostors: [(what: String, script: String)] = [
        ("ends", ""),
        ("is killed", "os.kill(os.getpid(), 9)"),
        ("says garbage", "os.write(3, b'yes yes yes yes yes yes')"),
        ("is cut in the head", "os.write(3, b'OA\\x02')"),
        ("is cut in the body", "os.write(3, b'OA\\x02\\xa0' + (90).to_bytes(4, 'big') + number)"),
        ("answers for another question", "say(bytes(16) + accepted)"),
        ("answers with another kind", "say(number + accepted, kind=0x80)"),
        ("answers with another version", "say(number + accepted, version=1)"),
        ("answers with a byte more", "say(number + accepted + b'\\0')"),
        ("answers with a byte less", "say((number + accepted)[:-1])"),
        ("accepts without a session", "say(number + bytes(6))"),
        ("gives an access token of a server that has none", "say(number + token)"),
        ("sends the question back", "os.write(3, question)"),
        ("announces 4 GiB", "os.write(3, b'OA\\x02\\xa0\\xff\\xff\\xff\\xff')"),
    ]

    @Test("a helper that ends, is killed, lies or answers another question is a failure, never a login")
    func impostors() async throws {
        let service = service("https://localhost/")
        for (what, script) in Self.impostors {
            let home = try await Impostor(script)
            #expect(try refusal(home.client, login(service)) == .failed(.helper), "\(what)")
            #expect(home.isGone, "\(what)")
        }
        // The same program is accepted when it obeys the rules, so the others are refused for their own fault.
        let honest = try await Impostor("say(number + accepted)")
        #expect(try refusal(honest.client, login(service)) == nil)
        #expect(try refusal(honest.client, .profile(of: service)) == .failed(.helper))
        #expect(honest.isGone)
    }

    @Test("a helper that hangs is killed a second after the deadline, or when the question is cancelled")
    func hanging() async throws {
        let home = try await Impostor("time.sleep(600)")
        let short = service("https://localhost/", deadlines: OnlineDeadlines(connect: 1, total: 1))
        #expect(try refusal(home.client, login(short)) == .failed(.helper))
        #expect(home.isGone)
        let cancellation = OnlineCancellation()
        cancellation.cancel()
        #expect(try refusal(home.client, login(service("https://localhost/")), cancellation) == .failed(.cancelled))
        #expect(home.isGone)
    }

    @Test("the helper is started with three null devices, its socket, and two variables")
    func inheritance() async throws {
        setenv("OMVAULT_TEST_INHERITANCE", "secret", 1)
        let open = try FileHandle(forReadingFrom: URL(filePath: #filePath))
        defer { try? open.close() }
        let home = try await Impostor(
            "fds = sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f))\n"
                + "open(here + '/facts', 'w').write(repr((fds, [os.readlink(f'/proc/self/fd/{f}') for f in range(3)], "
                + "sorted(os.environ), os.getcwd(), os.getsid(0) == os.getpid())))")
        _ = try refusal(home.client, login(service("https://localhost/")))
        let facts = try String(contentsOfFile: home.folder + "/facts", encoding: .utf8)
        let null = "'/dev/null', '/dev/null', '/dev/null'"
        #expect(
            facts == "([0, 1, 2, 3], [\(null)], ['GLIBC_TUNABLES', 'LC_CTYPE', 'PATH'], '/', True)"
                || facts == "([0, 1, 2, 3], [\(null)], ['GLIBC_TUNABLES', 'PATH'], '/', True)", "\(facts)")
    }

    @Test("a program that is missing, or that another user could change, is not started")
    func unsafeProgram() async throws {
        let home = try await Impostor("say(number + accepted)")
        let service = service("https://localhost/")
        chmod(home.program, 0o722)
        #expect(throws: AgentError.unsafeProgram(home.program)) { _ = try refusal(home.client, login(service)) }
        chmod(home.program, 0o700)
        chmod(home.folder, 0o770)
        #expect(throws: AgentError.unsafeProgram(home.folder)) { _ = try refusal(home.client, login(service)) }
        let missing = home.folder + "/none"
        // A user who can put a file there could remove it as well.
        #expect(throws: AgentError.unsafeProgram(home.folder)) {
            _ = try refusal(OnlineClient(program: missing), login(service))
        }
        chmod(home.folder, 0o700)
        #expect(throws: AgentError.programMissing(missing)) {
            _ = try refusal(OnlineClient(program: missing), login(service))
        }
    }

    // MARK: - Pieces

    private final class Channel {
        let descriptor: Int32
        private var isOpen = true
        init(_ descriptor: Int32) { self.descriptor = descriptor }
        deinit { end() }
        func end() {
            if isOpen { close(descriptor) }
            isOpen = false
        }
        func send(_ kind: FrameKind, _ body: [UInt8]) throws {
            var frame: [UInt8] = [0x4F, 0x41, AgentProtocol.version, kind.rawValue]
            for shift in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: body.count >> shift)) }
            let all = frame + body
            let sent = all.withUnsafeBytes { om_socket_send(descriptor, $0.baseAddress, $0.count) }
            try #require(sent == all.count)
        }
    }

    private func start() throws -> (Channel, pid_t) {
        var ends: [Int32] = [-1, -1]
        try #require(om_socket_pair(&ends) == 0)
        let child = AgentProcess.spawnDetached(Self.program, ["--online"], ends[1])
        close(ends[1])
        try #require(child > 0)
        return (Channel(ends[0]), child)
    }

    private func body(_ question: consuming OnlineQuestion) -> [UInt8]? {
        guard let body = question.encoded() else { return nil }
        return body.withBytes { body in body.indices.map { body[$0] } }
    }

    private static func sockets(_ process: pid_t) -> Int {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"))?.hasPrefix("socket:")
                == true
        }
    }
}

/// The reason for a missing answer. Nil when the server accepted.
private func refusal(
    _ client: OnlineClient, _ question: consuming OnlineQuestion, _ cancellation: OnlineCancellation? = nil
) throws(AgentError) -> OnlineRefusal? {
    let reply = try client.ask(question, cancellation: cancellation)
    switch consume reply {
    case .accepted: return nil
    case .refused(let refusal): return refusal
    case .asked: return .failed(.challenge)
    }
}

extension OnlineAcceptance {
    fileprivate consuming func session() throws -> SecretBytes {
        guard let session = takeSession() else { throw NoSession() }
        return session
    }
}

extension String {
    fileprivate func leftPadded(_ count: Int) -> String { String(repeating: "0", count: max(0, count - self.count)) + self }
}
