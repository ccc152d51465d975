// What the command says of a server's answer, against nginx.

import TestSupport
import Testing

@Suite("What the command says of a server's answer") struct LoginServerWordTests {
    private static let start = """
        agent_folder
        basic() { at_nginx MaxLoginAttempts=1 "$@"; }
        login() { omvault -q login alice --kdf-mem 8 --kdf-time 1 --password-from file:right > /dev/null; }
        word() { grep -o '"state":"[a-z]*"\\|"server":"[a-z_]*"' | paste -sd ' '; }

        """

    @Test("login status --online tells a session that its server confirms from one whose server was not reached")
    func status() async throws {
        let lines = try await Serving.lines(
            Self.start + """
                serve nginx
                basic
                omvault -q profile set work "LoginURL=https://localhost:$port/kept"
                login
                omvault login status --json | word
                omvault login status --online --json | word
                omvault login status --online 2>&1 > /dev/null | grep -o 'the server confirms it'
                tell stop
                code=0; omvault login status --online --json > out 2> err || code=$?; word < out; echo "$code"
                grep -o 'error: the server was not reached' err || grep -o '"exit":50' err
                """)
        #expect(
            lines == [
                #""state":"valid""#, #""state":"valid" "server":"confirmed""#, "the server confirms it",
                #""state":"valid" "server":"unreachable""#, "50", #""exit":50"#,
            ])
    }

    @Test("a session that its server ends is told as ended, once, with exit code 0: the server has answered")
    func ended() async throws {
        let lines = try await Serving.lines(
            Self.start + """
                serve nginx
                basic
                login
                omvault login status --online --json 2> /dev/null | word
                omvault login status --online --json | word
                """)
        #expect(lines == [#""state":"ended" "server":"rejected""#, ""].filter { !$0.isEmpty })
    }

    @Test("a login that is locked or wiped or has to wait is named in plain output too, and the attempt that locks by itself")
    func denied() async throws {
        let lines = try await Serving.lines(
            Self.start + """
                check() { refused "$1" omvault -q login check alice --kdf-mem 8 --kdf-time 1 --password-from "file:$2"; grep denied .refused; }
                serve nginx
                basic OnAttemptsExceeded=lockout
                login
                tell stop
                check 20 wrong; check 22 wrong; check 22 right
                omvault -q profile set work OnAttemptsExceeded=wipe
                check 23 right; check 23 right
                tell start
                basic OnAttemptsExceeded=wipe; login
                tell stop
                check 20 wrong; check 23 wrong; check 23 right
                """)
        #expect(
            lines == [
                "denied attempts_left=0", "denied reason=locked_out", "denied reason=unreachable not_offline=locked_out",
                "denied reason=unreachable not_offline=wiped", "denied reason=unreachable not_offline=wiped",
                "denied attempts_left=0", "denied reason=attempts_exceeded", "denied reason=unreachable not_offline=wiped",
            ])
    }

    @Test("a fresh login online has age 0, and logout --clear leaves the user's name in no file")
    func fresh() async throws {
        let lines = try await Serving.lines(
            Self.start + """
                serve nginx
                basic
                omvault login alice --kdf-mem 8 --kdf-time 1 --password-from file:right | grep -o 'age=[0-9]*'
                grep -rlac alice .local/state | wc -l
                omvault -q logout alice --clear
                grep -rla alice .local/state || echo 'no name'
                omvault login status
                """)
        #expect(lines == ["age=0", "1", "no name"])
    }
}
