// The calls that each layer of the helper's confinement stops, and the layers of the real helper.
// docs/formats/online-protocol.md, "Confinement".

import Foundation
import Glibc
import OMOnline
import OMOnlineModel
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("The helper's confinement") struct ConfinementTests {
    typealias Layer = Confinement.Layer
    /// An attempt of Tests/ConfinedWorker, with the layers that stop it, in the kernel's order, and their errors.
    typealias Attempt = (name: String, stoppedBy: [(layer: Layer, error: Int32)])

    /// Those of the online helper.
    private static let attempts: [Attempt] = [
        ("device-key", [(.user, EACCES), (.files, EACCES)]),
        ("write", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("truncate", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("create", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("unlink", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("rename", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
        ("agent", [(.sockets, EPERM), (.user, EACCES)]),
        ("abstract", [(.sockets, EPERM), (.scope, EPERM)]),
        // Under any of Landlock's layers a process reads no unconfined process.
        ("memory", [(.calls, EPERM), (.user, EPERM), (.privileges, EPERM), (.files, EPERM), (.ports, EPERM), (.scope, EPERM)]),
        ("environment", [(.user, EACCES), (.privileges, EACCES), (.files, EACCES), (.ports, EACCES), (.scope, EACCES)]),
        ("signal", [(.calls, EPERM), (.user, EPERM), (.scope, EPERM)]),
        ("limits", [(.calls, EPERM), (.user, EPERM)]),
        ("keyring", [(.calls, EPERM)]),
        ("fork", [(.calls, EPERM)]),
        ("port", []),
        ("other-port", [(.ports, EACCES)]),
        // Landlock does not see a connection by sendto: TCP fast open.
        ("other-port-fast", [(.sockets, EPERM)]),
        ("other-protocol", [(.sockets, EPERM)]),
        ("name-server", []),
        ("netlink", [(.sockets, EPERM)]),
        ("pair", [(.sockets, EPERM), (.calls, EPERM)]),
        ("listening", [(.calls, EPERM), (.ports, EACCES)]),
        ("own-thread", []),
        ("certificates", []),
        ("hosts", []),
        ("exec", [(.calls, EPERM), (.user, EACCES), (.files, EACCES)]),
    ]

    @Test("as a user each attempt fails with its layers' own errors, and succeeds exactly without those layers")
    func user() async throws {
        let all = Set(Layer.allCases)
        let left: [Set<Layer>] = [
            [], [.files], [.ports], [.scope], [.sockets], [.calls], [.calls, .files], [.sockets, .scope], [.calls, .ports],
            [.calls, .scope],
            [.calls, .sockets], [.files, .ports, .scope], [.calls, .files, .ports, .scope], all.subtracting([.privileges]), all,
        ]
        for left in left { try await Self.check(Self.attempts, without: left, asRoot: false) }
    }

    @Test(
        "as root the helper's own user alone blocks root's files, sockets and processes", .enabled(if: geteuid() == 0))
    func root() async throws {
        let all = Set(Layer.allCases)
        let left: [Set<Layer>] = [
            [], [.user], [.user, .files], [.user, .calls], [.user, .sockets], [.user, .calls, .files],
            [.user, .files, .ports, .scope],
            all.subtracting([.user, .privileges]), all.subtracting([.privileges]), all,
        ]
        for left in left { try await Self.check(Self.attempts, without: left, asRoot: true) }
    }

    @Test(
        "with a browser's socket the helper takes connections at it, and no other socket of it listens",
        .enabled(if: !Confinement.lacking.contains(.calls)))
    func accepts() async throws {
        let room = try Room(ofRoot: false)
        let with = try await room.run([room.worker, "accept"]), without = try await room.run([room.worker, "accept", "plain"])
        #expect(with == "connect 0\naccept 0\nlisten 0 closed\n")
        #expect(without == "connect 0\naccept \(EPERM)\nlisten \(EPERM) closed\n")
    }

    /// Lets a worker make all attempts of a helper without the layers `left`.
    static func check(_ attempts: [Attempt], as work: String = "try", without left: Set<Layer>, asRoot: Bool) async throws {
        let room = try Room(ofRoot: asRoot)
        let words = left.map(\.rawValue).sorted()
        let output = try await room.run([room.worker, work, room.folder + "/tried"] + words)
        var found: [String: Int32] = [:]
        let lines = output.split(separator: "\n").map { $0.split(separator: " ") }
        for line in lines where line.count == 2 { found[String(line[0])] = Int32(line[1]) }
        let inForce = Set(Layer.allCases).subtracting(left).subtracting(Confinement.lacking)
        // An ordinary user has no other user to change to, and no capability to lose.
        let stopping = asRoot ? inForce : inForce.subtracting([.user, .privileges])
        for attempt in attempts {
            let expected = attempt.stoppedBy.first { stopping.contains($0.layer) }?.error ?? 0
            guard attempt.name != "exec" || expected != 0 else {
                // The started program belongs to root and sets its user id. Without new privileges that gives no rights.
                let user = asRoot || !inForce.contains(.privileges) ? 0 : room.user
                #expect(lines.last.map { $0.joined() } == "\(user)", "without \(words): \(output)")
                continue
            }
            #expect(found[attempt.name] == expected, "\(attempt.name) without \(words): \(output)")
        }
        #expect(found["new-call"] == ENOSYS)
    }

    @Test(
        "under all layers names resolve through /etc/hosts, systemd-resolved's address and answers too long for a datagram"
    )
    func names() async throws {
        let room = try Room(ofRoot: geteuid() == 0)
        #expect(try await room.run([room.worker, "resolve", "localhost"]).hasPrefix("localhost "))
        guard geteuid() == 0 else { return }
        try Data("127.0.0.9 of-hosts\n".utf8).write(to: URL(filePath: room.folder + "/hosts"))
        try Data("hosts: files resolve [!UNAVAIL=return] dns\n".utf8).write(to: URL(filePath: room.folder + "/nsswitch.conf"))
        try Data("nameserver 127.0.0.53\n".utf8).write(to: URL(filePath: room.folder + "/resolv.conf"))
        try Data(nameServer.utf8).write(to: URL(filePath: room.folder + "/names.py"))
        let inside = """
            for file in hosts nsswitch.conf resolv.conf; do mount --bind "$0/$file" "/etc/$file"; done
            exec /usr/bin/python3 "$0/names.py" "$0/confined-worker" resolve of-hosts short.test long.test missing.test
            """
        let output = try await room.run(["/usr/bin/unshare", "-mn", "/bin/bash", "-euc", inside, room.folder])
        #expect(
            output == """
                of-hosts 127.0.0.9
                short.test 127.0.0.7
                long.test 127.0.0.8
                missing.test Name or service not known

                """, "\(output)")
    }

    // No file of /proc shows Landlock's layers. The tests above show that each works, and the test below that all are used.
    @Test(
        "while the real helper waits for a server, every thread has both filters and no privileges, and under root another user"
    )
    func realHelper() async throws {
        for asRoot in geteuid() == 0 ? [false, true] : [false] {
            let server = try await Server("odd")
            let room = try Room(ofRoot: asRoot, hasCapability: true)
            let service = OnlineService(
                .basic(BasicService(login: server.url("/", "blackhole", scheme: "http"))), deadlines: patient)
            let question = OnlineQuestion.login("alice", password: bytes("right"), of: service)
            let body = Self.body(question)
            try Data(try #require(body)).write(to: URL(filePath: room.folder + "/question"))
            try Data(asker.utf8).write(to: URL(filePath: room.folder + "/asker.py"))
            let output = try await room.run([
                "/usr/bin/python3", room.folder + "/asker.py", room.agent, room.folder + "/question", server["blackhole"],
            ])
            let threads = output.split(separator: "\n")
            #expect(threads.count > 1, "the threads have started")
            for thread in threads {
                let facts = Dictionary(
                    uniqueKeysWithValues: thread.split(separator: ";").map { fact in
                        (
                            String(fact.prefix { $0 != ":" }),
                            fact.drop { $0 != ":" }.dropFirst().split(separator: " ").map(String.init)
                        )
                    })
                let (users, groups) = (Set(facts["Uid"] ?? []), Set(facts["Gid"] ?? []))
                if asRoot {
                    // Its own user: no other process has the user of this process id.
                    let own = "\(0x7F00_0000 + (Int(facts["Tgid"]?.first ?? "") ?? 0))"
                    #expect(users == [own] && groups == [own], "\(thread)")
                    #expect(facts["Groups"] == [], "\(thread)")
                } else {
                    #expect(users == ["\(room.user)"], "\(thread)")
                }
                for kind in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(facts[kind] == ["0000000000000000"], "\(thread)") }
                #expect(facts["NoNewPrivs"] == ["1"], "\(thread)")
                #expect(facts["Seccomp"] == ["2"] && facts["Seccomp_filters"] == ["2"], "\(thread)")
            }
        }
    }

    private static func body(_ question: consuming OnlineQuestion) -> [UInt8]? {
        guard let body = question.encoded() else { return nil }
        return body.withBytes { body in body.indices.map { body[$0] } }
    }

    @Test("no source of the programs leaves a layer out")
    func always() async throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources")
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        let calls = try files.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: /Confinement\.apply\([^:,]*[:,]/).map { String($0.0) }
        }
        // The folder's helper; the online helper, that of a remote's server, and that of requests.
        #expect(calls.sorted() == ["Confinement.apply(folder:"] + Array(repeating: "Confinement.apply(ports:", count: 3))
    }

    @Test(
        "a child that its host reaped is not killed by its number, which another process may have",
        .enabled(if: geteuid() == 0))
    func reusedNumber() async throws {
        let room = try Room(ofRoot: true)
        let output = try await room.run(["/usr/bin/unshare", "-pf", "--mount-proc", room.worker, "child"])
        #expect(output == "same id\nalive\n", "\(output)")
    }

    @Test("the ports of a service are those of its addresses, and of a discovery document its own port and 443")
    func ports() async throws {
        func basic(_ login: String, _ logout: String?, _ profile: String?) -> Set<UInt16> {
            OnlineService(.basic(BasicService(login: login, logout: logout)), profile: profile).ports
        }
        #expect(basic("https://a.example/", nil, nil) == [443])
        #expect(basic("http://localhost:81/", "https://a.example:444/", "https://a.example:445/p") == [81, 444, 445])
        #expect(basic("http://localhost/", "no address", "ftp://a.example/") == [80])
        #expect(
            OnlineService(.oauth(OAuthService(.token("https://a.example:1/", revocation: "https://a.example:2/"), clientID: "c")))
                .ports == [1, 2])
        #expect(OnlineService(.oauth(OAuthService(.discovery("https://a.example:8443/"), clientID: "c"))).ports == [443, 8443])
        // With metadata in the profile, those of the issuer and of the origins.
        let configured = OAuthService(
            .configuration("{}"), clientID: "c", issuer: "https://a.example:8443", origins: ["https://b.example:444"])
        #expect(OnlineService(.oauth(configured)).ports == [444, 8443])
    }
}

/// A folder of one test, with the programs that it starts as root or as a user.
final class Room {
    private let home: TestFolder
    var folder: String { home.path }
    /// The user of the programs that start here.
    let user: uid_t
    private let words: [String]

    var worker: String { folder + "/confined-worker" }
    var agent: String { folder + "/omvault-agent" }

    /// - Parameter hasCapability: whether a user other than root has a capability, as under some service managers.
    init(ofRoot: Bool, hasCapability: Bool = false) throws {
        let changes = !ofRoot && geteuid() == 0
        user = changes ? 61048 : geteuid()
        let capability = hasCapability ? ["--inh-caps=+chown", "--ambient-caps=+chown"] : []
        words = changes ? ["/usr/bin/setpriv", "--reuid=61048", "--regid=61048", "--clear-groups"] + capability : []
        home = try TestFolder(containing: ["tried"])
        // The folder of the folder's helper.
        try FileManager.default.createDirectory(atPath: home.file("tried/remote"), withIntermediateDirectories: false)
        let files = FileManager.default
        // The user may lack access to the folder of the build.
        for program in [Programs.worker("confined-worker"), Programs.path(of: "omvault-agent")] {
            try files.copyItem(atPath: program, toPath: home.file((program as NSString).lastPathComponent))
        }
        for name in ["tried/id", "tried/remote/id"] {
            try files.copyItem(atPath: "/usr/bin/id", toPath: home.file(name))
            chmod(home.file(name), 0o4755)
        }
        chmod(home.path, 0o755)
        if changes { for name in ["tried", "tried/remote"] { chown(home.file(name), user, user) } }
    }

    /// The output of a command.
    func run(_ command: [String]) async throws -> String {
        try await TestSupport.run(words + command, in: home, environment: ["PATH": "/usr/bin:/bin:/usr/sbin:/sbin"]).output
    }
}

/// Asks the helper as OnlineClient does, and prints the state of each of its threads once the server has the connection.
private let asker = """
    import os, socket, sys, time
    program, question, port = sys.argv[1], open(sys.argv[2], 'rb').read(), int(sys.argv[3])
    if os.geteuid() == 0: os.setgroups([0, 4])
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(theirs.fileno(), 3)
        os.closerange(4, 64)
        os.execve(program, [program, '--online'], {'PATH': '/usr/bin:/bin'})
    theirs.close()
    ours.sendall(bytes([0x4f, 0x41, \(AgentProtocol.version), 0x20]) + len(question).to_bytes(4, 'big') + question)
    def connected():
        for line in open('/proc/net/tcp').read().splitlines()[1:]:
            fields = line.split()
            if fields[2].endswith(f':{port:04X}') and fields[3] == '01': return True
    while not connected():
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.01)
    wanted = 'Tgid Uid Gid Groups CapInh CapPrm CapEff CapAmb NoNewPrivs Seccomp Seccomp_filters'.split()
    for thread in os.listdir(f'/proc/{child}/task'):
        lines = open(f'/proc/{child}/task/{thread}/status').read().splitlines()
        print(';'.join(' '.join(line.split()) for line in lines if line.split(':')[0] in wanted))
    ours.close()
    os.waitpid(child, 0)
    """

/// Starts the loopback device, is the name server there, and runs the given command.
private let nameServer = """
    import fcntl, socket, struct, subprocess, sys, threading
    device = socket.socket()
    request = struct.pack('16sH14x', b'lo', 0)
    flags = struct.unpack('16sH14x', fcntl.ioctl(device, 0x8913, request))[1]
    fcntl.ioctl(device, 0x8914, struct.pack('16sH14x', b'lo', flags | 1))
    addresses = {b'\\x05short\\x04test\\0': b'\\x7f\\0\\0\\x07', b'\\x04long\\x04test\\0': b'\\x7f\\0\\0\\x08'}
    def answer(question, whole):
        end = question.index(b'\\0', 12) + 1
        name, kind = question[12:end], question[end:end + 2]
        address = addresses.get(name)
        cut = name.startswith(b'\\x04long') and not whole
        found = b'' if cut or kind != b'\\0\\1' or not address else b'\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4' + address
        flags = 0x8180 | (0x0200 if cut else 0) | (0 if address else 3)
        return question[:2] + struct.pack('>HHHHH', flags, 1, 1 if found else 0, 0, 0) + question[12:end + 4] + found
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(('127.0.0.53', 53))
    streams = socket.socket()
    streams.bind(('127.0.0.53', 53))
    streams.listen()
    def over_datagrams():
        while True:
            question, peer = datagrams.recvfrom(4096)
            datagrams.sendto(answer(question, False), peer)
    def over_streams():
        while True:
            stream, _ = streams.accept()
            while head := stream.recv(2, socket.MSG_WAITALL):
                reply = answer(stream.recv(int.from_bytes(head, 'big'), socket.MSG_WAITALL), True)
                stream.sendall(len(reply).to_bytes(2, 'big') + reply)
    for serving in over_datagrams, over_streams: threading.Thread(target=serving, daemon=True).start()
    sys.exit(subprocess.run(sys.argv[1:]).returncode)
    """
