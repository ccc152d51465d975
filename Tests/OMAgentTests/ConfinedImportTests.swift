// A file of another program behind the process that reads it: the real process, and programs that pretend to be it.
// docs/formats/import-reader.md.

import COMSystem
import Foundation
import Glibc
import OMInterchange
import OMItems
import OMRecords
import OMSecrets
import OMSystem
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

@Suite("The reader of an import", .onOwnThreads) struct ConfinedImportTests {
    private static let program = Programs.path(of: "omvault-agent")

    private static func read(
        _ bytes: [UInt8], as format: ForeignFormat? = nil, password: String? = nil, program: String = program
    ) throws -> (entries: [ForeignEntry], summary: ForeignSummary, format: ForeignFormat, needsKey: Bool) {
        let folder = try TestFolder()
        let path = folder.file("source")
        try Data(bytes).write(to: URL(filePath: path))
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let reader = try ConfinedImport(program)
        let found = try reader.open(file, as: format, map: nil)
        var entries: [ForeignEntry] = []
        let key = ForeignKey(password: password.map { SecretBytes(copying: Array($0.utf8)) })
        let summary = try reader.read(with: key) { entries.append($0) }
        return (entries, summary, found.format, found.needsKey)
    }

    private static func text(_ secret: borrowing SecretBytes) -> String {
        secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    @Test("entries arrive whole, in order, with values of any length that a field can have")
    func whole() throws {
        let large = String(repeating: "0123456789", count: 70_000), part = String(repeating: "x", count: ImportHelper.partCount)
        let values = ["tulip", large, "", part, part + "y", "end"]
        let lines = values.enumerated().map { "t\($0.offset),\($0.element),n" }.joined(separator: "\n")
        let read = try Self.read(Array(("title,password,notes\n" + lines).utf8))
        #expect(read.format == .csv && !read.needsKey && read.summary.map?.columns == [.title, .password, .notes])
        #expect(read.entries.map(\.title) == values.indices.map { "t\($0)" })
        for (entry, value) in zip(read.entries, values) {
            let expected = value.isEmpty ? ["n"] : [value, "n"]
            #expect(entry.fields.map { Self.text($0.value) } == expected)
        }
        let variables = try Self.read(Array("A=1\nexport B='x y'\n".utf8))
        #expect(variables.format == .env && variables.entries[0].fields.map(\.name) == ["A", "B"])
        #expect(variables.entries[0].fields.allSatisfy { $0.isConcealed })
    }

    @Test("the errors of a file arrive as they are")
    func errors() throws {
        #expect(throws: ConfinedImport.Failure.file(.otherFormat)) { try Self.read(Array("hello".utf8)) }
        #expect(throws: ConfinedImport.Failure.file(.damaged("line 2: a quote has no end"))) {
            try Self.read(Array("A=1\nB='tulip\n".utf8))
        }
    }

    @Test("a wrong password of the file can be followed by the right one", .enabled(if: Fixtures.folder != nil))
    func passwords() throws {
        let folder = try #require(Fixtures.folder).appending(path: "import")
        // Its key needs threads and memory, and OpenSSL what it has loaded before.
        for (name, password) in [("Format300.kdbx", "a"), ("Format400.kdbx", "t"), ("NewDatabase2.kdbx", "a")] {
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: name)))
            let read = try Self.read(bytes, password: password)
            #expect(read.format == .kdbx && read.needsKey && !read.entries.isEmpty, "\(name)")
            #expect(throws: ConfinedImport.Failure.file(.wrongKey), "\(name)") { try Self.read(bytes, password: "x") }
        }
        let file = open(folder.appending(path: "bitwarden_encrypted_export.json").path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let reader = try ConfinedImport(Self.program)
        let found = try reader.open(file, as: nil, map: nil)
        #expect(found.format == .bitwarden && found.needsKey)
        #expect(throws: ConfinedImport.Failure.file(.wrongKey)) { try Self.count(reader, "x") }
        #expect(try Self.count(reader, "a") == 1)
    }

    /// How many entries this password opens.
    private static func count(_ reader: borrowing ConfinedImport, _ password: String) throws -> Int {
        var count = 0
        _ = try reader.read(with: ForeignKey(password: SecretBytes(copying: Array(password.utf8)))) { _ in count += 1 }
        return count
    }

    @Test("the process that reads a file has no core, no rights and no environment, only its file and its socket")
    func process() async throws {
        let folder = try TestFolder()
        setenv("OMVAULT_TEST_INHERITANCE", "secret", 1)
        let open = try FileHandle(forReadingFrom: URL(filePath: #filePath))
        defer { try? open.close() }
        let path = folder.file("source")
        try Data("title,password\na,tulip\n".utf8).write(to: URL(filePath: path))
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var ends: [Int32] = [-1, -1]
        try #require(om_socket_pair(&ends) == 0)
        let child = AgentProcess.spawnDetached(Self.program, ["--import"], ends[1])
        close(ends[1])
        try #require(child > 0)
        do {
            let channel = FrameChannel(ends[0])
            var body = SecretBuffer()
            body.append(ImportOpening(format: nil, map: nil).encoded.span)
            try channel.send(.question, body, descriptors: [file], within: 60_000)
            let isAnswered = try channel.receive(start: 60_000, frame: 60_000) != nil
            try #require(isAnswered)
            func line(_ file: String, _ start: String) -> String {
                let text = (try? String(contentsOfFile: "/proc/\(child)/\(file)", encoding: .utf8)) ?? ""
                let found = text.split(separator: "\n").first { $0.hasPrefix(start) } ?? ""
                return found.split(whereSeparator: { " \t".contains($0) }).joined(separator: " ")
            }
            #expect(line("limits", "Max core file size") == "Max core file size 0 0 bytes")
            #expect(line("limits", "Max file size") == "Max file size 0 0 bytes")
            #expect(line("limits", "Max open files") == "Max open files 64 64 files")
            #expect(line("limits", "Max data size") == "Max data size 2147483648 2147483648 bytes")
            #expect(line("status", "NoNewPrivs") == "NoNewPrivs: 1")
            #expect(line("status", "Seccomp_filters") == "Seccomp_filters: 2")
            for kind in ["CapInh", "CapPrm", "CapEff", "CapAmb"] { #expect(line("status", kind) == "\(kind): 0000000000000000") }
            if geteuid() == 0 {
                // Only root may look at these.
                #expect(line("status", "Uid") != "Uid: 0 0 0 0")
                let environment = FileManager.default.contents(atPath: "/proc/\(child)/environ") ?? Data()
                let names = String(decoding: environment, as: UTF8.self).split(separator: "\0").map { $0.prefix { $0 != "=" } }
                #expect(names.filter { !$0.hasPrefix("glibc.") } == ["GLIBC_TUNABLES", "PATH"])
                let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child)/fd").sorted()
                #expect(links == ["0", "1", "2", "3", "4"])
                let fourth = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child)/fd/4")
                #expect(fourth.hasSuffix("/source"))
            }
        }
        #expect(om_wait(child) == 0)
    }

    @Test("without its user's socket, without a file, or with bytes that are no request the process ends without an answer")
    func refusals() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let piped = AgentProcess.spawnDetached(Self.program, ["--import"], ends[0])
        #expect(om_wait(piped) == 2)
        for end in ends { close(end) }
        for (message, hasFile) in [([UInt8]([1, 0]), false), ([9], true), ([1, 200], true), ([1, 1, 7], true), ([], true)] {
            try #require(om_socket_pair(&ends) == 0)
            let child = AgentProcess.spawnDetached(Self.program, ["--import"], ends[1])
            close(ends[1])
            let channel = FrameChannel(ends[0])
            let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            var body = SecretBuffer()
            body.append(message.span)
            try channel.send(.question, body, descriptors: hasFile ? [file] : [], within: 60_000)
            let isAnswered = try channel.receive(start: 60_000, frame: 60_000) != nil
            #expect(!isAnswered, "\(message)")
            #expect(om_wait(child) == 1)
        }
    }

    /// What a program that pretends to be the process does after the key.
    private static let impostors: [(what: String, script: String)] = [
        ("ends", ""),
        ("is killed", "os.kill(os.getpid(), 9)"),
        ("says garbage", "os.write(3, b'yes yes yes yes yes yes')"),
        ("answers with another kind", "say(b'\\2' + bytes(6), kind=0x20)"),
        ("answers with another version", "say(b'\\2' + bytes(6), version=1)"),
        ("announces 4 GiB", "os.write(3, b'OA\\x02\\xa0\\xff\\xff\\xff\\xff')"),
        ("answers with nothing", "say(b'')"),
        ("recognises the file again", "say(b'\\1\\1\\0')"),
        ("counts an entry that did not come", "say(b'\\2' + (1).to_bytes(4, 'big') + bytes(2))"),
        ("hides an entry", "say(entry(b'a', [])); say(b'\\2' + bytes(6))"),
        ("has bytes behind the end", "say(b'\\2' + bytes(6) + b'x')"),
        ("sends an unknown error", "say(b'\\3\\x09' + bytes(4))"),
        ("sends more of no entry", "say(b'\\5x')"),
        ("sends an empty part", "say(entry(b'a', [(9, b'')])); say(b'\\5')"),
        ("sends more than it announced", "say(entry(b'a', [(2, b'abc')]))"),
        ("announces a value above 64 MiB", "say(entry(b'a', [((64 << 20) + 1, b'')]))"),
        ("announces 257 MiB of values", "say(entry(b'a', [(64 << 20, b'')] * 4 + [(1 << 20, b'')]))"),
        ("sends a name that is no UTF-8", "say(entry(b'\\xff', []))"),
        ("sends a role that there is not", "say(entry(b'a', [(1, b'x')], role=99))"),
        ("sends entries without end", "while True: say(entry(b'a', []))"),
    ]

    @Test("a process that ends, lies, or sends more than a file can have is an error")
    func impostors() async throws {
        for (what, script) in Self.impostors {
            let folder = try TestFolder()
            let program = try await Self.impostor(script, in: folder)
            #expect(throws: ConfinedImport.Failure.helper(.misbehaved), "\(what)") {
                try Self.read([], as: .csv, program: program)
            }
        }
        // The same program is accepted when it obeys the rules, so the others are refused for their own fault.
        let folder = try TestFolder()
        let honest = "say(entry(b'a', [(3, b'abc'), (0, b'')])); say(b'\\2' + (1).to_bytes(4, 'big') + bytes(2)); read()"
        let read = try Self.read([], as: .csv, program: try await Self.impostor(honest, in: folder))
        #expect(read.entries[0].title == "a" && read.entries[0].fields.map { $0.value.count } == [3, 0])
    }

    @Test("the names of an entry that break a bound are refused before a value arrives")
    func bounds() throws {
        /// The head of an entry whose values have these lengths.
        func head(_ counts: [Int], name: Int = 1, folders: Int = 0) -> [UInt8] {
            var head: [UInt8] = [0, 1, UInt8(ascii: "a")]
            head.append(number: UInt16(folders))
            for _ in 0..<folders { head += [0, 0] }
            head += [0, 0, 0, 0] + [UInt8](repeating: 0, count: 27)
            head.append(number: UInt16(counts.count))
            for count in counts {
                head += [1, 1]
                head.append(number: UInt16(name))
                head += [UInt8](repeating: UInt8(ascii: "n"), count: name)
                head.append(number: UInt32(count))
            }
            return head + [0, 0]
        }
        let most = Item.maximumFieldCount
        for good in [head([]), head([most, most, most, most]), head([1], name: 4096), head([1], folders: 1024)] {
            #expect(throws: Never.self) { try ImportEntryHead(decoding: good.span) }
        }
        for bad in [
            head([most + 1]), head([most, most, most, most, 1]), head([1], name: 4097), head([1], folders: 1025),
            head(Array(repeating: 1, count: 4097)), head([1]) + [0], Array(head([1]).dropLast()),
        ] {
            #expect(throws: MalformedBytes.self) { try ImportEntryHead(decoding: bad.span) }
        }
        var entry = ForeignEntry(title: String(repeating: "é", count: 3000))
        (entry.folders, entry.tags, entry.type, entry.expires, entry.isTrashed) = (["f", ""], ["t"], .card, -1, true)
        entry.losses = [.olderVersions(3), .icon, .autoType, .member("m"), .attachment("a"), .time("t")]
        let bytes = try ImportEntryHead.encode(entry)
        let read = try ImportEntryHead(decoding: bytes.span).entry
        #expect(read.title == String(repeating: "é", count: 2047) && read.folders == entry.folders && read.tags == entry.tags)
        #expect(read.type == .card && read.expires == -1 && read.created == nil && read.isTrashed && read.losses == entry.losses)
    }

    /// A program that takes the opening and the key, and then runs `script`.
    private static func impostor(_ script: String, in folder: TestFolder) async throws -> String {
        let program = folder.file("omvault-agent")
        let text = """
            #!/usr/bin/python3
            import os
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
            def text(bytes): return len(bytes).to_bytes(2, 'big') + bytes
            def entry(title, fields, role=1):
                head = text(title) + bytes(2) + bytes(2) + bytes(2) + bytes(27) + len(fields).to_bytes(2, 'big')
                for count, value in fields: head += bytes([role, 1]) + text(b'f') + count.to_bytes(4, 'big')
                head += bytes(2)
                return b'\\4' + len(head).to_bytes(4, 'big') + head + b''.join(value for count, value in fields)
            read()
            say(b'\\1\\1\\0')
            read()
            try:
                exec(\(String(reflecting: script)))
            except BrokenPipeError:
                pass

            """
        // Another process writes the file. Otherwise a child of another test could keep it open for writing, and block its start.
        let copy = ["/usr/bin/install", "-m", "700", try folder.write(text, to: "script"), program]
        try #require(try await run(copy, in: folder).status == 0)
        return program
    }
}
