import ArgumentParser
import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("The grammar of secret sources") struct SecretSourceTests {
    @Test(
        "every form of a source is accepted",
        arguments: [
            ("tty", .tty), ("lines", .lines), ("stdin", .stdin), ("fd:0", .stdin), ("fd:7", .descriptor(7)),
            ("file:/a:b", .file("/a:b")),
            ("file:key", .file("key")), ("env:NAME", .environment("NAME")),
            ("cred:db.password", .credential("db.password")),
            ("cmd:pass show x", .command(["pass", "show", "x"])),
            ("cmd:a 'b c' \"d \\\" e\" f\\ g '' \"\\n\"", .command(["a", "b c", "d \" e", "f g", "", "\\n"])),
            ("file:/dev/stdin", .stdin), ("file:/dev/fd/63", .descriptor(63)), ("file:/proc/self/fd/5", .descriptor(5)),
            ("file:/dev/fd/x", .file("/dev/fd/x")),
            ("pinentry", .pinentry(nil)), ("pinentry:/usr/bin/pinentry-tty", .pinentry("/usr/bin/pinentry-tty")),
        ] as [(String, SecretSource)])
    func accepted(text: String, source: SecretSource) {
        #expect(SecretSource(text) == source)
    }

    @Test(
        "any other text is refused as a source",
        arguments: [
            "", "tty:", "lines:", "lines:3", "line", "stdin:x", "fd", "fd:", "fd:-1", "fd:x", "fd:+1", "fd: 1", "fd:99999999999",
            "file", "file:",
            "env:",
            "env:A=B", "cmd", "cmd:", "cmd:   ", "cmd:'open", "cmd:\"open", "cmd:a\\", "cred:", "cred:a/b",
            "cred:.hidden", "cred:..",
            "pass:hunter2", "hunter2", "TTY", " tty", "agent", "pinentry:", "-", "@file",
        ])
    func refused(text: String) {
        #expect(SecretSource(text) == nil)
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
