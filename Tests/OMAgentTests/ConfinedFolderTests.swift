// A folder as a remote behind its helper: the real helper, and programs that pretend to be it. docs/formats/sync.md, "The folder's
// helper".

import COMSystem
import Foundation
import Glibc
import OMParcels
import OMRemote
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("A folder's helper", .onOwnThreads) struct ConfinedFolderTests {
    private static let (vault, incarnation) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))
    private static let program = Programs.path(of: "omvault-agent")
    private static let head = RemoteFile.head(device: 7, isSecond: false)
    private static let pack = RemoteFile.pack(device: 7, number: 1)

    private static func confined(
        in folder: TestFolder, _ path: String = "", helper: String = program, within time: Int = ConfinedFolder.usualTime,
        interruption: Interruption? = nil
    ) -> ConfinedFolder {
        ConfinedFolder(
            in: folder.path + path, vault: vault, incarnation: incarnation, helper: helper, within: time,
            interruption: interruption)
    }

    private static func plain(in folder: TestFolder) -> FolderRemote {
        FolderRemote(in: folder.path, vault: vault, incarnation: incarnation)
    }

    @Test("through the helper a folder is made, written, listed, read and emptied as without it")
    func whole() throws {
        let folder = try TestFolder()
        let (remote, plain) = (Self.confined(in: folder), Self.plain(in: folder))
        try remote.make(founding: [1, 2, 3])
        let files: [(file: RemoteFile, count: Int)] = [
            (Self.head, 1), (Self.pack, Pack.maximumCount), (.heads(device: 8), 0), (.pack(device: 9, number: 2), 256 << 10),
            (.pack(device: 9, number: 3), (256 << 10) - 1), (.entry(number: 1, digest: [UInt8](repeating: 9, count: 32)), 600),
            (.message(mailbox: [UInt8](repeating: 3, count: 16), number: 1), 65_000),
        ]
        for (file, count) in files {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            try remote.write([4], to: file)
            try remote.write(bytes, to: file)
            #expect(try remote.bytes(of: file) == bytes && plain.bytes(of: file) == bytes)
        }
        #expect(try Set(remote.files()) == Set(files.map(\.file) + [.founding]))
        #expect(try remote.files() == plain.files())
        #expect(try remote.bytes(of: .founding) == [1, 2, 3] && remote.bytes(of: .heads(device: 99)) == nil)
        for (file, _) in files { #expect(try remote.remove(file) && !remote.remove(file)) }
        #expect(try remote.remove(.heads(device: 99)) == false)
        #expect(try plain.files() == [.founding])
        let names = try FileManager.default.subpathsOfDirectory(atPath: plain.path)
        #expect(Set(names) == ["remote", "00000007", "00000008", "00000009", "roll", "mail"], "no draft is left")
    }

    @Test("the list of very many files comes through the helper")
    func longList() throws {
        let folder = try TestFolder()
        let remote = Self.confined(in: folder)
        try remote.make(founding: [1])
        try remote.write([1], to: Self.pack)
        for number in 2..<UInt64(12_000) {
            let path = "\(Self.plain(in: folder).path)/\(RemoteFile.pack(device: 7, number: number).path)"
            close(open(path, O_WRONLY | O_CREAT, 0o600))
        }
        #expect(try remote.files().count == 12_000)
    }

    @Test("a remote is made once, and is missing, not empty, where it is not mounted")
    func mounted() throws {
        let folder = try TestFolder()
        let remote = Self.confined(in: folder)
        #expect(throws: ConfinedFolder.Failure.storage(.missing)) { try remote.files() }
        #expect(throws: ConfinedFolder.Failure.storage(.missing)) { try remote.bytes(of: Self.head) }
        #expect(throws: ConfinedFolder.Failure.storage(.missing)) { try remote.write([1], to: .founding) }
        #expect(throws: ConfinedFolder.Failure.storage(.missing)) { try remote.remove(Self.head) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try remote.make(founding: [1])
        #expect(throws: ConfinedFolder.Failure.storage(.exists)) { try remote.make(founding: [1]) }
        #expect(throws: ConfinedFolder.Failure.storage(.exists)) { try Self.confined(in: folder).make(founding: [1]) }
        // The folder goes away while its helper runs, and comes back.
        let path = Self.plain(in: folder).path
        #expect(rename(path, path + "-away") == 0)
        #expect(throws: ConfinedFolder.Failure.storage(.missing)) { try remote.files() }
        #expect(rename(path + "-away", path) == 0)
        #expect(try remote.files() == [.founding])
        // Another folder takes its place. The helper cannot open it, and the next one can.
        #expect(rename(path, path + "-away") == 0)
        try Self.plain(in: folder).make(founding: [2])
        if !Confinement.lacking.contains(.files) {
            #expect(throws: ConfinedFolder.Failure.storage(.io(EACCES))) { try remote.files() }
        }
        #expect(try remote.bytes(of: .founding) == [2])
        for path in ["/gone", "/no\0de", String(repeating: "/d", count: 3_000)] {
            let elsewhere = Self.confined(in: folder, path)
            #expect(throws: ConfinedFolder.Failure.storage(.missing)) { try elsewhere.make(founding: [1]) }
        }
    }

    @Test("a link in the place of the remote's folder, and of a folder and a file in it, is not followed")
    func links() throws {
        let folder = try TestFolder(containing: ["elsewhere"])
        let plain = Self.plain(in: folder)
        try Data("secret".utf8).write(to: URL(filePath: folder.file("elsewhere/head")))
        #expect(symlink(folder.file("elsewhere"), plain.path) == 0)
        #expect(throws: ConfinedFolder.Failure.self) { try Self.confined(in: folder).files() }
        #expect(throws: ConfinedFolder.Failure.self) { try Self.confined(in: folder).make(founding: [1]) }
        unlink(plain.path)
        let remote = Self.confined(in: folder)
        try remote.make(founding: [1])
        #expect(symlink(folder.file("elsewhere"), plain.path + "/00000007") == 0)
        #expect(try remote.files() == [.founding] && remote.bytes(of: Self.head) == nil)
        #expect(throws: ConfinedFolder.Failure.self) { try remote.write([1], to: Self.head) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("elsewhere")) == ["head"])
    }

    // MARK: - The process

    @Test("a folder's helper has no core, no new rights, and no environment or descriptors but its own, and ends with its caller")
    func process() async throws {
        let folder = try TestFolder()
        try Self.plain(in: folder).make(founding: [1])
        setenv("OMVAULT_TEST_INHERITANCE", "secret", 1)
        let open = try FileHandle(forReadingFrom: URL(filePath: #filePath))
        defer { try? open.close() }
        let (channel, child) = try Self.start()
        #expect(try Self.ask(channel, Self.opening(folder)) == .done)
        #expect(try Self.ask(channel, .bytes(.founding)) == .bytes([1]))
        func line(_ file: String, _ start: String) -> String {
            let text = (try? String(contentsOfFile: "/proc/\(child)/\(file)", encoding: .utf8)) ?? ""
            let found = text.split(separator: "\n").first { $0.hasPrefix(start) } ?? ""
            return found.split(whereSeparator: { " \t".contains($0) }).joined(separator: " ")
        }
        #expect(line("limits", "Max core file size") == "Max core file size 0 0 bytes")
        #expect(line("limits", "Max file size") == "Max file size 4194304 4194304 bytes")
        #expect(line("limits", "Max open files") == "Max open files 64 64 files")
        #expect(line("status", "NoNewPrivs") == "NoNewPrivs: 1")
        #expect(line("status", "Threads") == "Threads: 1")
        #expect(line("status", "Seccomp_filters") == "Seccomp_filters: 2")
        for kind in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(line("status", kind) == "\(kind): 0000000000000000") }
        if geteuid() == 0 {
            // Only root may look at these.
            let environment = FileManager.default.contents(atPath: "/proc/\(child)/environ") ?? Data()
            let names = String(decoding: environment, as: UTF8.self).split(separator: "\0").map { $0.prefix { $0 != "=" } }
            // The C library cuts its own variable into pieces.
            #expect(names.filter { !$0.hasPrefix("glibc.") } == ["GLIBC_TUNABLES", "PATH"])
            let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child)/fd").sorted()
            #expect(links == ["0", "1", "2", "3"])
            for link in links.prefix(3) {
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child)/fd/\(link)") == "/dev/null")
            }
        }
        close(channel)
        #expect(om_wait(child) == 0)
    }

    @Test("a folder's helper without its user's socket, or with bytes that are no request, ends without an answer")
    func refusals() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let piped = AgentProcess.spawnDetached(Self.program, ["--folder"], ends[0])
        #expect(om_wait(piped) == 2)
        for end in ends { close(end) }
        let folder = try TestFolder()
        try Self.plain(in: folder).make(founding: [1])
        let opening = try Self.opening(folder).encoded
        let head = Array(opening[..<34])
        let first: [[UInt8]] = [
            [], [9], FolderRequest.files.encoded, head, head + Array("etc".utf8), [1, 2] + opening.dropFirst(2),
        ]
        for message in first { try Self.expectEnd(after: [message]) }
        let later: [[UInt8]] = [
            opening, [2, 0], [3], [3] + Array("../secret".utf8), [3] + Array("/etc/passwd".utf8), [4, 0, 200, 1],
            [6] + [UInt8](repeating: 0, count: RemoteFile.founding.maximumCount + 1),
        ]
        for message in later { try Self.expectEnd(after: [opening, message]) }
    }

    // MARK: - Impostors

    /// The action of a program that pretends to be the helper, instead of its answer to the second request.
    private static let impostors: [(what: String, script: String, isOfList: Bool)] = [
        ("ends", "", false),
        ("is killed", "os.kill(os.getpid(), 9)", false),
        ("says garbage", "os.write(3, b'yes yes yes yes yes yes')", false),
        ("is cut in the head", "os.write(3, b'OA\\x02')", false),
        ("is cut in the body", "os.write(3, b'OA\\x02\\xa0' + (9).to_bytes(4, 'big') + b'\\0\\3')", false),
        ("answers with another kind", "say(b'\\0\\2', kind=0x20)", false),
        ("answers with another version", "say(b'\\0\\2', version=1)", false),
        ("answers with nothing", "say(b'')", false),
        ("answers without an answer", "say(b'\\0')", false),
        ("answers with a short part", "say(b'\\1\\3'); say(b'\\0')", false),
        ("announces 4 GiB", "os.write(3, b'OA\\x02\\xa0\\xff\\xff\\xff\\xff')", false),
        ("answers with an unknown answer", "say(b'\\0\\5')", false),
        ("answers with a list for a file", "say(b'\\0\\4')", false),
        ("answers that it is done", "say(b'\\0\\1')", false),
        ("answers with an error that there is not", "say(b'\\0\\0' + (0).to_bytes(4, 'big'))", false),
        ("answers with a cut error", "say(b'\\0\\0\\0')", false),
        ("answers with a byte more than the file can have", "whole(b'\\3' + bytes(\(head.maximumCount + 1)))", false),
        ("answers with a file for a list", "say(b'\\0\\3')", true),
        ("lists another name", "say(b'\\0\\4\\0\\3abc')", true),
        ("lists a file outside", "say(b'\\0\\4\\0\\x0d../../etc/xyz')", true),
        ("lists a cut name", "say(b'\\0\\4\\0\\6remot')", true),
        ("lists 17 copies", "say(b'\\0\\4' + b''.join(b'\\0\\x0f00000001/head-%c' % c for c in range(97, 114)))", true),
        ("lists 100,001 files", "whole(b'\\4' + b'\\0\\6remote' * 100_001)", true),
        ("lists names without end", "while True: say(b'\\1' + bytes(1 << 18))", true),
    ]

    @Test("a helper that ends, is killed, lies or answers with more than a remote has is an error, and ends")
    func impostors() async throws {
        for (what, script, isOfList) in Self.impostors {
            let folder = try TestFolder()
            do {
                let remote = Self.confined(in: folder, helper: try await Self.impostor(script, in: folder))
                #expect(throws: ConfinedFolder.Failure.helper(.misbehaved), "\(what)") {
                    if isOfList { _ = try remote.files() } else { _ = try remote.bytes(of: Self.head) }
                }
            }
            try await Self.expectGone(folder)
        }
        // The same program is accepted when it obeys the rules, so the others are refused for their own fault.
        let folder = try TestFolder()
        let honest = "whole(b'\\3' + bytes(\(Self.head.maximumCount))); read()"
        let remote = Self.confined(in: folder, helper: try await Self.impostor(honest, in: folder))
        #expect(try remote.bytes(of: Self.head)?.count == Self.head.maximumCount)
        let listed = "whole(b'\\4' + b'\\0\\6remote' * 100_000); read()"
        let list = Self.confined(in: folder, helper: try await Self.impostor(listed, in: folder))
        #expect(try list.files().count == 100_000)
    }

    @Test("a helper that hangs is killed after the time, or if the call is interrupted, and the next call starts another")
    func hanging() async throws {
        let folder = try TestFolder()
        let hanging = try await Self.impostor("signal.pause()", in: folder)
        let short = Self.confined(in: folder, helper: hanging, within: 1)
        for _ in 0..<2 {
            #expect(throws: ConfinedFolder.Failure.helper(.deadline)) { try short.files() }
            try await Self.expectGone(folder)
        }
        let interruption = Interruption()
        let remote = Self.confined(in: folder, helper: hanging, interruption: interruption)
        unlink(folder.file("asked"))
        let other = Task.detached {
            // The file is there once the helper has the second request.
            try await eventually { FileManager.default.fileExists(atPath: folder.file("asked")) }
            interruption.begin()
        }
        #expect(throws: ConfinedFolder.Failure.interrupted) { try remote.files() }
        try await other.value
        try await Self.expectGone(folder)
    }

    @Test("a program of the helper that is missing, or that another user could change, is not started")
    func unsafeProgram() async throws {
        let folder = try TestFolder()
        let program = try await Self.impostor("", in: folder)
        chmod(program, 0o722)
        let remote = Self.confined(in: folder, helper: program)
        #expect(throws: ConfinedFolder.Failure.helper(.unsafeProgram(program))) { try remote.files() }
        let missing = folder.file("none")
        #expect(throws: ConfinedFolder.Failure.helper(.programMissing(missing))) {
            try Self.confined(in: folder, helper: missing).files()
        }
    }

    // MARK: - Pieces

    private static func opening(_ folder: TestFolder) throws -> FolderRequest {
        .open(
            try #require(FolderRequest.Opening(folder: folder.path, vault: vault, incarnation: incarnation, makes: false)))
    }

    private static func start() throws -> (channel: Int32, child: pid_t) {
        var ends: [Int32] = [-1, -1]
        try #require(om_socket_pair(&ends) == 0)
        let child = AgentProcess.spawnDetached(program, ["--folder"], ends[1])
        close(ends[1])
        try #require(child > 0)
        return (ends[0], child)
    }

    private static func ask(_ descriptor: Int32, _ request: FolderRequest) throws -> FolderReply {
        let channel = FrameChannel(dup(descriptor))
        let end = bootMilliseconds() + 60_000
        try RemoteMessage.send(request.encoded, .question, over: channel, until: end)
        let reply = try RemoteMessage.receive(.answer, upTo: request.maximumReply, from: channel, until: end)
        return try FolderReply(decoding: try #require(reply), to: request)
    }

    /// A helper does not take the last message.
    private static func expectEnd(after messages: [[UInt8]]) throws {
        let (descriptor, child) = try start()
        let channel = FrameChannel(descriptor)
        let end = bootMilliseconds() + 60_000
        for (index, message) in messages.enumerated() {
            // A helper that has ended takes no more of a long message.
            try? RemoteMessage.send(message, .question, over: channel, until: end)
            let reply = try? RemoteMessage.receive(.answer, upTo: 5, from: channel, until: end)
            #expect(reply == (index < messages.count - 1 ? FolderReply.done.encoded : nil), "\(messages.last?.prefix(40) ?? [])")
        }
        #expect(om_wait(child) == 1)
    }

    /// A program that agrees to the opening, takes the second request, and then runs `script`.
    private static func impostor(_ script: String, in folder: TestFolder) async throws -> String {
        let program = folder.file("omvault-agent")
        let text = """
            #!/usr/bin/python3
            import os, signal
            here = \(String(reflecting: folder.path))
            open(here + '/pid', 'w').write(str(os.getpid()))
            def take(count):
                data = b''
                while len(data) < count:
                    data += os.read(3, count - len(data)) or exit(0)
                return data
            def read():
                return take(int.from_bytes(take(8)[4:], 'big'))
            def say(body, kind=0xa0, version=\(AgentProtocol.version)):
                data = bytes([0x4f, 0x41, version, kind]) + len(body).to_bytes(4, 'big') + body
                while data: data = data[os.write(3, data):]
            def whole(message):
                while len(message) > 1 << 18:
                    say(b'\\1' + message[:1 << 18])
                    message = message[1 << 18:]
                say(b'\\0' + message)
            read()
            say(b'\\0\\1')
            read()
            open(here + '/asked', 'w').close()
            \(script)

            """
        // Another process writes the file. Otherwise a child of another test could keep it open for writing, and block its start.
        let copy = ["/usr/bin/install", "-m", "700", try folder.write(text, to: "script"), program]
        try #require(try await run(copy, in: folder).status == 0)
        return program
    }

    /// Waits until the started program is neither alive nor a zombie. A program that was killed before it wrote its
    /// number is gone too.
    private static func expectGone(_ folder: TestFolder) async throws {
        try await eventually {
            guard let text = try? String(contentsOfFile: folder.file("pid"), encoding: .utf8), let process = pid_t(text) else {
                return true
            }
            return kill(process, 0) != 0 && errno == ESRCH
        }
    }
}
