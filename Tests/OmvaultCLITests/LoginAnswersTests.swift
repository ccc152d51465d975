import TestSupport
import Testing

@Suite("Answers to a login's questions") struct LoginAnswersTests {
    private static let start = """
        set -e
        umask 077
        printf right > pw
        omvault -q profile set work OfflineAuthAllowed=true "$@"
        omvault -q login enroll ada --kdf-mem 8 --kdf-time 1 --password-from file:pw

        """

    @Test("Enter at \"User name:\" asks for the name again, and ends nothing")
    func emptyName() async throws {
        let ran = try await atTerminal(
            Self.start + "omvault login || echo \"ended $?\"",
            [
                ("User name: ", "\n"), ("User name: ", "\n"), ("User name: ", "ada\n"), ("Password of ada: ", "right\n"),
                ("granted offline user=ada", ""),
            ])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("as many wrong ones as MaxLoginAttempts end the command with 20 and 10418, and wipe nothing yet")
    func named() async throws {
        let ran = try await atTerminal(
            Self.start + """
                omvault -q profile set work MaxLoginAttempts=2
                omvault --json login ada 2>&1 || echo "ended $?"
                omvault login status --json | grep -o '"failed":[0-9]*'
                """,
            [
                ("Password of ada: ", "wrong\n"), ("Password of ada: ", "wrong\n"), ("\"result\":\"denied\"", ""),
                ("\"exit\":20", ""), ("\"sdk_code\":10418", ""), ("ended 20", ""), ("\"failed\":2", ""),
            ])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("where nobody names a number the offline limit of 1 wipes at the second, as before")
    func unnamed() async throws {
        let ran = try await atTerminal(
            Self.start + """
                omvault -q profile set work OnAttemptsExceeded=wipe
                omvault login ada || echo "ended $?"
                """,
            [("Password of ada: ", "wrong\n"), ("attempts left: 0", ""), ("Password of ada: ", "wrong\n"), ("ended 23", "")])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("one attempt of a script stays one attempt: 20 and 10003, as `login check`")
    func script() async throws {
        let ran = try await bash(
            Self.start + """
                printf wrong > other
                refused 20 omvault --json login ada --password-from file:other
                grep -o '"sdk_code":[0-9]*' .refused
                """)
        #expect(ran.status == 0 && ran.output == "\"sdk_code\":10003\n", "\(ran.output)\(ran.errors)")
    }
}
