// omvault prints no colour, and one escape sequence: the one that erases a progress line.

import TestSupport
import Testing

@testable import omvault_full

@Suite("Escape sequences at a terminal") struct TerminalEscapeTests {
    private static let setUp = """
        printf 'correct horse' > pw; printf 'a value' > v
        export OMVAULT_PASSWORD_FROM=file:pw
        printf '[L = 32]\\n\\nLen = 0\\nMsg = 00\\nMD = %s\\n' \
            e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 > SHA256ShortMsg.rsp

        """

    @Test("tables, notices, help and errors have no escape sequence, and no carriage return but that of the terminal")
    func none() async throws {
        let ran = try await atTerminal(
            Self.setUp + """
                export TERM=xterm-256color CLICOLOR_FORCE=1
                omvault init --no-recovery --kdf-mem 8 --kdf-time 1
                omvault add github --field token=file:v
                for line in ls 'ls --fields name,modified' 'get github' 'get github --reveal' 'get github:token' 'history github' \\
                    'key slots' 'log ls' status 'policy show' 'policy explain github' verify 'exit-codes' 'crypto algs' \\
                    'crypto hash v' gen --help 'get --help' frob 'get none' 'ls --json' 'ls --format csv' 'ls -0' \\
                    'login status' 'profile ls' 'completion bash' 'manual get'; do
                    omvault $line || true
                done
                echo done
                """)
        #expect(ran.output.hasSuffix("done\r\n"), "\(ran)")
        #expect(ran.output.contains("MODIFIED (UTC)") && ran.output.contains("EVERY COMMAND TAKES"))
        #expect(!ran.output.unicodeScalars.contains("\u{1B}"))
        #expect(!ran.output.replacing("\r\n", with: "\n").replacing("\r\n", with: "\n").unicodeScalars.contains("\r"))
    }

    @Test(
        "a progress line is erased, so NO_COLOR and a dumb terminal turn it off",
        arguments: [
            ("TERM=xterm", true), ("TERM=xterm NO_COLOR=", true), ("TERM=xterm NO_COLOR=1", false),
            ("TERM=xterm NO_COLOR=false", false), ("TERM=dumb", false), ("TERM=xterm OPTION=-q", false),
        ])
    func progress(environment: String, isShown: Bool) async throws {
        let ran = try await atTerminal(
            Self.setUp + "export \(environment); omvault vectors verify $OPTION SHA256ShortMsg.rsp; echo done")
        #expect(ran.output.contains("1 passed, 0 failed") && ran.output.hasSuffix("done\r\n"), "\(ran)")
        #expect(ran.output.contains("\u{1B}[K") == isShown, "\(ran)")
        let rest = ran.output.replacing("\u{1B}[K", with: "")
        #expect(!rest.unicodeScalars.contains("\u{1B}"), "\(ran)")
    }
}
