// Files that KeePass and KeePassXC wrote, and KeePassXC beside omvault.

import Foundation
import OMCrypto
import OMSecrets
import TestSupport
import Testing

@testable import OMInterchange

@Suite("Files of KeePass and KeePassXC") struct KeePassFixtureTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        var password: String?
        var keyFile: String?
        let entries: Int
        /// `title: user name, password` of some entries.
        var shown: [String] = []
        var testDescription: String { name }
    }

    static let samples = [
        Sample(name: "Format200.kdbx", password: "a", entries: 1, shown: ["Sample Entry: User Name, Password"]),
        Sample(name: "Format300.kdbx", password: "a", entries: 1, shown: ["Sample Entry: User Name, Password"]),
        Sample(name: "Format400.kdbx", password: "t", entries: 1, shown: ["Format400: Format400, Format400"]),
        Sample(
            name: "NewDatabase.kdbx", password: "a", entries: 2,
            shown: ["Sample Entry: User Name, Password", "Subgroup Entry: Bank User Name, SecurePassword"]),
        Sample(name: "NewDatabase2.kdbx", password: "a", entries: 2, shown: [#"Unicode: ¯\_(ツ)_/¯, ¯\_(ツ)_/¯"#]),
        Sample(name: "Compressed.kdbx", password: "", entries: 1, shown: ["Sample Entry: User Name, Password"]),
        Sample(name: "NonAscii.kdbx", password: "\u{0394}\u{00F6}\u{0636}", entries: 1, shown: ["秘密: -, 🚗🐎🔋📎"]),
        Sample(
            name: "RecycleBinWithData.kdbx", password: "123", entries: 11,
            shown: ["Personal Gmail: gmailer, 123", "Linux: root, 123"]),
        Sample(name: "FileKeyBinary.kdbx", keyFile: "FileKeyBinary.key", entries: 0),
        Sample(name: "FileKeyHashed.kdbx", keyFile: "FileKeyHashed.key", entries: 0),
        Sample(name: "FileKeyHex.kdbx", keyFile: "FileKeyHex.key", entries: 0),
        Sample(name: "FileKeyXml.kdbx", keyFile: "FileKeyXml.key", entries: 0),
        Sample(name: "FileKeyXmlV2.kdbx", keyFile: "FileKeyXmlV2.keyx", entries: 0),
        Sample(
            name: "KeyFileProtected.kdbx", password: "a", keyFile: "KeyFileProtected.key", entries: 2,
            shown: ["entry2: username, password"]),
    ]

    private static func bytes(_ name: String, in folder: URL) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: "import/\(name)")))
    }

    private static func key(_ sample: Sample, in folder: URL) throws -> ForeignKey {
        let password: SecretBytes? = if let password = sample.password { secret(password) } else { nil }
        guard let keyFile = sample.keyFile else { return ForeignKey(password: password) }
        return ForeignKey(password: password, keyFile: SecretBytes(copying: try bytes(keyFile, in: folder)))
    }

    @Test("a file of another program has the entries that its program shows", arguments: samples)
    func sample(_ sample: Sample) throws {
        guard let folder = Fixtures.folder else { return }
        let file = try Self.bytes(sample.name, in: folder)
        let key = try Self.key(sample, in: folder)
        let read = try KDBXReader.read(file.span, key: key)
        #expect(read.entries.count == sample.entries)
        let shown = read.entries.map { entry in
            "\(entry.title): \(entry.values(.username).first ?? "-"), \(entry.values(.password).first ?? "-")"
        }
        for line in sample.shown { #expect(shown.contains(line), "\(shown)") }
        let wrong = ForeignKey(password: secret("wrong"))
        let error = #expect(throws: InterchangeError.self) { try KDBXReader.read(file.span, key: wrong) }
        #expect(error == .wrongKey)
    }

    @Test("a changed header, and a key file with a wrong check value, are refused")
    func refused() throws {
        guard let folder = Fixtures.folder else { return }
        let file = try Self.bytes("BrokenHeaderHash.kdbx", in: folder)
        #expect(throws: InterchangeError.damaged("the check value of its header")) {
            try KDBXReader.read(file.span, key: ForeignKey(password: secret("")))
        }
        let key = ForeignKey(
            password: nil, keyFile: SecretBytes(copying: try Self.bytes("FileKeyXmlV2HashFail.keyx", in: folder)))
        let other = try Self.bytes("FileKeyXmlV2HashFail.kdbx", in: folder)
        #expect(throws: InterchangeError.damagedKeyFile) { try KDBXReader.read(other.span, key: key) }
    }

    @Test("broken XML is refused if it has two roots, and read if only a UUID or a group is missing")
    func brokenXML() throws {
        guard let folder = Fixtures.folder else { return }
        func read(_ name: String) throws -> ForeignContents {
            let bytes = try Self.bytes(name, in: folder)
            return try KeePassXMLReader.read(bytes.span)
        }
        #expect(throws: InterchangeError.damaged("a second root")) { try read("BrokenTwoRoots.xml") }
        #expect(try read("BrokenNoGroupUuid.xml").entries.isEmpty)
        let entries = try read("BrokenGroupReference.xml").entries
        #expect(entries.map(\.title) == ["Sample Entry 1"] && entries.map(\.isTrashed) == [false])
    }

    // MARK: - KeePassXC

    private static let program = "/usr/bin/keepassxc-cli"
    private static let isInstalled: Bool = {
        let isThere = FileManager.default.isExecutableFile(atPath: program)
        if !isThere { print("skipped: no keepassxc-cli") }
        return isThere
    }()

    /// Its answer to a command with the password of the file on its input.
    private static func keepassxc(_ arguments: [String], password: String, in folder: TestFolder) async throws -> Ran {
        try Data((password + "\n").utf8).write(to: folder.url.appending(path: "password"))
        let words = ([program] + arguments).map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
        return try await run(
            ["/bin/bash", "-c", "\(words) <password"], in: folder,
            environment: ["HOME": folder.path, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen"])
    }

    @Test("KeePassXC's export of a file has the same entries as the file", arguments: samples)
    func export(_ sample: Sample) async throws {
        guard let fixtures = Fixtures.folder, Self.isInstalled else { return }
        let folder = try TestFolder()
        let file = fixtures.appending(path: "import/\(sample.name)").path
        var arguments = ["export", "-q", "-f", "xml", file]
        if sample.password == nil { arguments.append("--no-password") }
        if let keyFile = sample.keyFile { arguments += ["-k", fixtures.appending(path: "import/\(keyFile)").path] }
        let ran = try await Self.keepassxc(arguments, password: sample.password ?? "", in: folder)
        try #require(ran.status == 0, "\(ran.errors)")
        let xml = Array(ran.output.utf8)
        let exported = try KeePassXMLReader.read(xml.span)
        let bytes = try Self.bytes(sample.name, in: fixtures), key = try Self.key(sample, in: fixtures)
        let read = try KDBXReader.read(bytes.span, key: key)
        func summaries(_ contents: ForeignContents) -> [String] {
            contents.entries.map { entry in
                var entry = entry
                // The export leaves attachments out.
                entry.fields.removeAll { $0.role == .attachment }
                return entry.summary
            }.sorted()
        }
        #expect(summaries(read) == summaries(exported))
    }

    @Test("KeePassXC's export of what omvault writes has the same fields, but for attachments, which it leaves out")
    func written() async throws {
        guard Self.isInstalled else { return }
        let folder = try TestFolder(), password = KeePassSamples.password
        let file = try KeePassSamples.write(KeePassSamples.entries(), cipher: .chacha20)
        try Data(file.bytes).write(to: folder.url.appending(path: "a.kdbx"))
        let exported = try await Self.keepassxc(["export", "-q", "-f", "xml", "a.kdbx"], password: password, in: folder)
        try #require(exported.status == 0, "\(exported.errors)")
        let xml = Array(exported.output.utf8)
        let read = try KeePassXMLReader.read(xml.span)
        let own = try KeePassSamples.read(file.bytes)
        func summaries(_ contents: ForeignContents) -> [String] {
            contents.entries.map { entry in
                var entry = entry
                entry.fields.removeAll { $0.role == .attachment }
                return "\(entry.summary) \(entry.created ?? 0) \(entry.modified ?? 0) \(entry.expires ?? 0)"
            }.sorted()
        }
        #expect(summaries(read) == summaries(own))
        // One entry under AES.
        try Data(KeePassSamples.write([KeePassSamples.entries()[1]]).bytes).write(to: folder.url.appending(path: "b.kdbx"))
        let found = try await Self.keepassxc(["search", "-q", "b.kdbx", "Bank"], password: password, in: folder)
        #expect(found.output.contains("Bank <&> \"ü\""), "\(found.output) \(found.errors)")
    }

    private static func now() -> UInt64 { UInt64(Date().timeIntervalSince1970) }

    @Test("an attachment and a one-time password that omvault wrote come out of KeePassXC as they were")
    func attachment() async throws {
        guard Self.isInstalled else { return }
        let folder = try TestFolder(), password = "p"
        var entry = KeePassSamples.entries()[1]
        (entry.title, entry.folders) = ("bank", ["f"])
        let file = try KDBXWriter.write(
            [entry], key: ForeignKey(password: secret(password)), now: 0, cost: KeePassSamples.cost, variant: .argon2d)
        try Data(file.bytes).write(to: folder.url.appending(path: "a.kdbx"))
        let out = try await Self.keepassxc(
            ["attachment-export", "-q", "a.kdbx", "f/bank", "key.bin", "out.bin"], password: password, in: folder)
        #expect(out.status == 0, "\(out.errors)")
        #expect([UInt8](try Data(contentsOf: folder.url.appending(path: "out.bin"))) == (0...255).map { UInt8($0) })
        let earliest = Self.now()
        let code = try await Self.keepassxc(["show", "-q", "-t", "a.kdbx", "f/bank"], password: password, in: folder)
        let uri = try OTPAuthURI(reading: secret(entry.values(.otp)[0]))
        var codes: [String] = []
        for step in earliest / 30...Self.now() / 30 { codes.append(text(try uri.password.code(counter: step))) }
        #expect(codes.contains(code.output.trimmingCharacters(in: .newlines)), "\(code.output) \(code.errors)")
        let shown = try await Self.keepassxc(
            ["show", "-q", "-s", "-a", "PIN", "-a", "KP2A_URL", "-a", "Notes", "a.kdbx", "f/bank"], password: password, in: folder
        )
        #expect(shown.output == "0000\nhttps://two.example.com\n first line\n\tsecond line \n", "\(shown.errors)")
    }

    @Test("omvault reads what KeePassXC writes")
    func made() async throws {
        guard Self.isInstalled else { return }
        let folder = try TestFolder(), password = "päss"
        func cli(_ arguments: [String], more: String = "") async throws {
            let ran = try await Self.keepassxc(
                arguments, password: password + "\n" + (more.isEmpty ? password : more), in: folder)
            try #require(ran.status == 0, "\(arguments): \(ran.errors)")
        }
        try await cli(["db-create", "-q", "-p", "-t", "100", "k.kdbx"])
        try await cli(["mkdir", "-q", "k.kdbx", "Web"])
        try await cli(["add", "-q", "-p", "-u", "carol", "--url", "https://x.example", "k.kdbx", "Web/site"], more: "s<e&c>ret")
        try Data([0, 1, 2, 255]).write(to: folder.url.appending(path: "in.bin"))
        try await cli(["attachment-import", "-q", "k.kdbx", "Web/site", "blob", "in.bin"])
        try await cli(["add", "-q", "-u", "dave", "k.kdbx", "old"])
        try await cli(["rm", "-q", "k.kdbx", "old"])
        let file = [UInt8](try Data(contentsOf: folder.url.appending(path: "k.kdbx")))
        let read = try KDBXReader.read(file.span, key: ForeignKey(password: secret(password)))
        let site = try #require(read.entries.first { $0.title == "site" })
        #expect(site.folders == ["Web"] && site.values(.username) == ["carol"] && site.values(.password) == ["s<e&c>ret"])
        #expect(site.values(.url) == ["https://x.example"] && !site.isTrashed)
        let blob = try #require(site.fields.first { $0.role == .attachment })
        let isSame = blob.value.isEqual(to: SecretBytes(copying: [0, 1, 2, 255]))
        #expect(blob.name == "blob" && isSame)
        let old = try #require(read.entries.first { $0.title == "old" })
        #expect(old.isTrashed && old.folders.isEmpty && old.values(.username) == ["dave"])
    }
}
