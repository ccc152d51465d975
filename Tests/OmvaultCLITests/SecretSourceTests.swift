import ArgumentParser
import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import omvault

@Suite("The grammar of secret sources") struct SecretSourceTests {
    @Test(
        "every form of a source is accepted",
        arguments: [
            ("tty", .tty), ("stdin", .stdin), ("fd:0", .stdin), ("fd:7", .descriptor(7)), ("file:/a:b", .file("/a:b")),
            ("file:key", .file("key")), ("env:NAME", .environment("NAME")),
            ("cred:db.password", .credential("db.password")),
            ("cmd:pass show x", .command(["pass", "show", "x"])),
            ("cmd:a 'b c' \"d \\\" e\" f\\ g '' \"\\n\"", .command(["a", "b c", "d \" e", "f g", "", "\\n"])),
            ("file:/dev/stdin", .stdin), ("file:/dev/fd/63", .descriptor(63)), ("file:/proc/self/fd/5", .descriptor(5)),
            ("file:/dev/fd/x", .file("/dev/fd/x")),
        ] as [(String, SecretSource)])
    func accepted(text: String, source: SecretSource) {
        #expect(SecretSource(text) == source)
    }

    @Test(
        "any other text is refused as a source",
        arguments: [
            "", "tty:", "stdin:x", "fd", "fd:", "fd:-1", "fd:x", "fd:+1", "fd: 1", "fd:99999999999", "file", "file:",
            "env:",
            "env:A=B", "cmd", "cmd:", "cmd:   ", "cmd:'open", "cmd:\"open", "cmd:a\\", "cred:", "cred:a/b",
            "cred:.hidden", "cred:..",
            "pass:hunter2", "hunter2", "TTY", " tty", "agent", "pinentry", "-", "@file",
        ])
    func refused(text: String) {
        #expect(SecretSource(text) == nil)
    }

    @Test("the error for a wrong source lists the forms, and does not repeat the text")
    func refusalIsSilent() throws {
        let failure = try #require(failureOf(["--password-from": SecretSourceArgument(argument: "hunter2")]))
        #expect(failure.status == .usage)
        #expect(failure.hints == ["sources: tty, stdin, fd:N, file:PATH, env:NAME, cmd:PROGRAM or cred:NAME"])
        #expect(!"\(failure)".contains("hunter2"))
    }

    @Test("two options that read one stream are refused before anything is read")
    func sharedStreams() {
        let stdin = SecretSourceArgument(.stdin)
        #expect(
            failureOf(["--a-from": stdin, "--b-from": SecretSourceArgument(argument: "file:/dev/stdin")])?.status
                == .usage)
        #expect(failureOf(["--a-from": .init(.descriptor(9)), "--b-from": .init(.descriptor(9))])?.status == .usage)
        #expect(failureOf(["--a-from": .init(.descriptor(8)), "--b-from": .init(.descriptor(9))]) == nil)
        #expect(failureOf(["--a-from": stdin], dataOption: "--in")?.status == .usage)
    }

    private func failureOf(
        _ given: KeyValuePairs<String, SecretSourceArgument?>, dataOption: String? = nil
    ) -> Failure? {
        do {
            _ = try SecretSources(quietContext(), given, standardInputIsDataOf: dataOption)
            return nil
        } catch {
            return error as? Failure
        }
    }
}

@Suite("Reading secrets") struct SecretReadingTests {
    @Test(
        "one trailing newline is stripped, and no more",
        arguments: [
            ("secret", "secret"), ("secret\n", "secret"), ("secret\r\n", "secret\r"), ("secret\n\n", "secret\n"),
            ("secret\r", "secret\r"), ("\n", ""), ("", ""), (" a b ", " a b "), ("é\0\u{1B}", "é\0\u{1B}"),
        ])
    func newlines(content: String, expected: String) throws {
        let folder = try TestFolder()
        let file = try folder.write(content, to: "secret")
        #expect(try read("file:\(file)") == expected)
        #expect(try read("file:\(file)", keepNewline: true) == content)
        let symlink = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(atPath: symlink.path, withDestinationPath: file)
        #expect(try read("file:\(symlink.path)") == expected)
    }

    @Test("a secret of 1 MiB is read, and one byte more is refused", arguments: [(0, true), (1, false)])
    func maximum(more: Int, isAccepted: Bool) throws {
        let content = String(repeating: "x", count: Password.maximumCount + more) + "\n"
        let file = try TestFolder()
        let path = try file.write(content, to: "large")
        for source in ["file:\(path)", "cmd:cat \(path)"] {
            if isAccepted {
                #expect(try read(source).utf8.count == Password.maximumCount)
            } else {
                #expect(refusal(source)?.status == .usage)
            }
        }
        #expect(refusal("cmd:cat /dev/zero")?.status == .usage)
    }

    @Test(
        "a file that cannot be read exits with 60, and the error says why",
        arguments: [
            ("file:/nonexistent/secret", "No such file or directory"), ("file:/tmp", "Is a directory"),
        ])
    func unreadable(source: String, why: String) throws {
        let failure = try #require(refusal(source))
        #expect(failure.status == .io)
        #expect(failure.message.hasSuffix(why))
    }

    @Test("a descriptor is read to its end, and a closed one is a usage error")
    func descriptors() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("from a pipe\n".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try read("fd:\(pipe.fileHandleForReading.fileDescriptor)") == "from a pipe")
        #expect(refusal("fd:900")?.status == .usage)
    }

    @Test("the output of a program is the secret, and its failure is an error")
    func commands() throws {
        #expect(try read("cmd:printf '%s\n' 'two words'") == "two words")
        #expect(try read("cmd:echo $HOME;id") == "$HOME;id")  // no shell
        #expect(refusal("cmd:false")?.status == .general)
        #expect(refusal("cmd:sh -c 'echo secret; exit 3'")?.message == "--value-from: sh failed with exit code 3")
        #expect(refusal("cmd:sh -c 'kill -9 $$'")?.message.hasSuffix("exit code 137") == true)
        #expect(refusal("cmd:/nonexistent/program")?.status == .io)
    }

    @Test("a program gets empty input, none of omvault's descriptors, and default signals")
    func commandIsolation() throws {
        let pipe = Pipe()  // Foundation's pipes are inherited unless they are closed
        #expect(try read("cmd:readlink /proc/self/fd/0") == "/dev/null")
        #expect(try read("cmd:ls /proc/self/fd") == "0\n1\n2\n3")  // 3 is the folder that ls reads
        signal(SIGPIPE, SIG_IGN)
        let status = try read("cmd:grep SigIgn /proc/self/status").split(separator: "\t")
        let ignored = try #require(UInt64(status[1], radix: 16))
        #expect(ignored & 0x7FFF_FFFF == 0)  // above stand two signals of glibc's own
        try pipe.fileHandleForReading.close()
    }

    @Test("a variable is read once, then erased from the environment and hidden from child processes")
    func environment() async {
        await #expect(processExitsWith: .success) {
            setenv("OMV_TEST_SECRET", "from the environment\n", 1)
            let place = UnsafeRawPointer(getenv("OMV_TEST_SECRET"))
            let secrets = try SecretSources(
                quietContext(),
                [
                    "--value-from": .init(.environment("OMV_TEST_SECRET")),
                    "--other-from": .init(.environment("OMV_TEST_SECRET")),
                    "--child-from": SecretSourceArgument(argument: "cmd:sh -c 'echo \"[$OMV_TEST_SECRET]\"'"),
                ])
            guard getenv("OMV_TEST_SECRET") == nil, let place,
                UnsafeRawBufferPointer(start: place, count: 21).allSatisfy({ $0 == 0 })
            else { throw Wrong() }
            let value = try secrets.read("--value-from", prompt: "")
            let same = value.isEqual(to: try secrets.read("--other-from", prompt: ""))
            guard same, text(value) == "from the environment" else { throw Wrong() }
            guard text(try secrets.read("--child-from", prompt: "")) == "[]" else { throw Wrong() }
        }
        #expect(refusal("env:OMV_TEST_UNSET")?.status == .usage)
    }

    @Test("a systemd credential is read from its directory, and refused if there is none")
    func credentials() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            _ = try folder.write("from systemd\n", to: "db")
            guard refusal("cred:db")?.status == .usage else { throw Wrong() }
            setenv("CREDENTIALS_DIRECTORY", folder.url.path, 1)
            guard try read("cred:db") == "from systemd", refusal("cred:other")?.status == .io else { throw Wrong() }
        }
    }

    @Test("OMVAULT_PASSWORD_FROM names a source, only for --password-from, and never holds the password")
    func defaultSource() async {
        await #expect(processExitsWith: .success) {
            setenv("OMVAULT_PASSWORD_FROM", "cmd:echo from-default", 1)
            let secrets = try SecretSources(quietContext(), ["--password-from": nil, "--new-password-from": nil])
            guard text(try secrets.read("--password-from", prompt: "")) == "from-default" else { throw Wrong() }
            do {
                _ = try secrets.read("--new-password-from", prompt: "")
                throw Wrong()
            } catch let failure as Failure where failure.status == .inputRequired {}
            setenv("OMVAULT_PASSWORD_FROM", "hunter2", 1)
            do {
                _ = try SecretSources(quietContext(), ["--password-from": nil])
                throw Wrong()
            } catch let failure as Failure where failure.status == .config {
                if "\(failure)".contains("hunter2") { throw Wrong() }
            }
        }
    }

    @Test("a terminal given as standard input or as a file is refused, because it would show the typed secret")
    func terminals() async {
        await #expect(processExitsWith: .success) {
            _ = try PseudoTerminal.controllingThisProcess()
            let descriptor = open("/dev/tty", O_RDWR)
            guard refusal("fd:\(descriptor)")?.status == .usage, refusal("file:/dev/tty")?.status == .usage else {
                throw Wrong()
            }
        }
    }
}

private struct Wrong: Error {}

private func quietContext() throws -> CommandContext {
    try CommandContext(GlobalOptions.parse(["--no-input", "--quiet"]))
}

private func read(_ source: String, keepNewline: Bool = false) throws -> String {
    let secrets = try SecretSources(quietContext(), ["--value-from": SecretSourceArgument(argument: source)])
    return text(try secrets.read("--value-from", prompt: "Value", keepNewline: keepNewline))
}

private func refusal(_ source: String) -> Failure? {
    do {
        _ = try read(source)
        return nil
    } catch {
        return error as? Failure
    }
}

private func text(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
}
