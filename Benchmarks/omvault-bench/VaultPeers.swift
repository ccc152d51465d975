// The same items in other programs for the same task: age, pass, keepassxc-cli.

internal import Glibc

/// One item in a file for age, under a key file.
struct AgeFile {
    private let age: Program
    private let key: String
    private let file: String

    init(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) {
        let folder = try folder.subfolder("age")
        age = Program(path: options.age)
        key = folder.path + "/key"
        file = folder.path + "/item.age"
        let keygen = Program(path: options.age + "-keygen")
        try keygen.run(["-o", key])
        let recipient = try keygen.output(["-y", key], in: folder).filter { !$0.isNewline }
        let text = try folder.write("item", Array(VaultHome.sample.text.utf8))
        try age.run(["-r", recipient, "-o", file, text])
    }

    func time() throws(BenchError) -> Double { try age.time(["-d", "-i", key, file]) }
}

/// A password store with a GnuPG key that has no passphrase: its agent answers at once, as ours does when unlocked.
struct PasswordStore {
    private let pass: Program
    private let gpg: Program
    private let item: String

    init(_ options: Options, _ folder: TemporaryFolder, count: Int) throws(BenchError) {
        let folder = try folder.subfolder("pass-\(count)")
        let variables = [
            "GNUPGHOME=\(try folder.subfolder("gnupg").path)",
            "PASSWORD_STORE_DIR=\(try folder.subfolder("store").path)",
        ]
        item = try folder.write("item", Array(VaultHome.sample.text.utf8))
        gpg = Program(path: options.gpg, home: folder.path, variables: variables)
        pass = Program(path: options.pass, home: folder.path, input: item, variables: variables)
        let user = "bench@example.org"
        try gpg.run(["--batch", "--passphrase", "", "--quick-generate-key", user, "default", "default", "never"])
        try pass.run(["init", user])
        // The files that `pass insert` would write, without a thousand runs of it.
        let sealed = folder.path + "/item.gpg"
        try gpg.run(["--batch", "--trust-model", "always", "-e", "-r", user, "-o", sealed, item])
        for index in 0..<count {
            let file = "\(folder.path)/store/\(SampleItem(index).name).gpg"
            guard link(sealed, file) == 0 else { throw BenchError("cannot make \(file)") }
        }
        try pass.run(["show", VaultHome.sample.name])
    }

    func timeShow() throws(BenchError) -> Double { try pass.time(["show", VaultHome.sample.name]) }
    func timeFind() throws(BenchError) -> Double { try pass.time(["find", "site"]) }
    func timeInsert(_ name: String) throws(BenchError) -> Double { try pass.time(["insert", "-m", name]) }
    func end() { try? Program(path: "/usr/bin/gpgconf", variables: gpg.variables).run(["--kill", "all"]) }
}

/// A KDBX 4 file, with a key derivation of 100 ms, the least that the program makes.
struct KeePassFile {
    private let program: Program
    private let folder: TemporaryFolder
    private let file: String
    private let xml: String
    private let unlocked: Program

    init(_ options: Options, _ folder: TemporaryFolder, count: Int) throws(BenchError) {
        self.folder = try folder.subfolder("keepassxc-\(count)")
        file = self.folder.path + "/items.kdbx"
        xml = try self.folder.write("items.xml", Array(Self.document(count).utf8))
        let twice = try self.folder.write("twice", Array("correct horse\ncorrect horse\n".utf8))
        program = Program(path: options.keepassxc, home: self.folder.path, input: twice)
        unlocked = Program(path: options.keepassxc, home: self.folder.path, input: twice)
        _ = try timeImport()
    }

    /// Bytes on disk.
    var bytes: Int {
        var status = stat()
        return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    func timeImport() throws(BenchError) -> Double {
        unlink(file)
        return try program.time(["import", "-q", "-p", "-t", "100", xml, file])
    }

    func timeShow() throws(BenchError) -> Double {
        try unlocked.time(["show", "-q", "-s", "-a", "Password", file, VaultHome.sample.name])
    }

    func timeSearch() throws(BenchError) -> Double { try unlocked.time(["search", "-q", file, "site"]) }

    func timeAdd(_ name: String) throws(BenchError) -> Double {
        try unlocked.time(["add", "-q", "-u", "ada", "-p", file, name])
    }

    func peakMemory(_ options: Options) throws(BenchError) -> Double {
        try unlocked.peakMemory(
            ["show", "-q", "-s", "-a", "Password", file, VaultHome.sample.name], python: options.python, in: folder)
    }

    private static func document(_ count: Int) -> String {
        func entry(_ index: Int) -> String {
            let item = SampleItem(index)
            let pairs =
                [("Title", item.name), ("UserName", item.fields[0].value), ("Password", item.fields[1].value)]
                + [("Notes", item.fields[2].value)]
            let strings = pairs.map { "<String><Key>\($0.0)</Key><Value>\($0.1)</Value></String>" }
            return "<Entry><UUID>\(identifier(index + 1))</UUID>\(strings.joined())</Entry>"
        }
        return "<KeePassFile><Meta><DatabaseName>bench</DatabaseName></Meta><Root><Group>"
            + "<UUID>\(identifier(0))</UUID><Name>Root</Name>\((0..<count).map(entry).joined())"
            + "</Group></Root></KeePassFile>\n"
    }

    /// 16 bytes in base64, with the number in them.
    private static func identifier(_ index: Int) -> String {
        let digits = String(index + 10_000_000)
        return "AAAAAAAAAAAAA" + digits + "A=="
    }
}
