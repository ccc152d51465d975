import TestSupport
import Testing

@Suite("A word behind `login` that is nearly a subcommand") struct LoginSlipTests {
    private static let start = """
        set -e
        omvault -q profile set work OfflineAuthAllowed=true MaxLoginAttempts=3
        printf right > pw
        slip() { refused 2 "$@"; sed -n 's/^omvault: //p' .refused | paste -sd '|'; }

        """

    @Test("is refused before any question, with both spellings, wherever it stands among the options")
    func refused() async throws {
        let ran = try await bash(
            Self.start + """
                slip omvault login statsu
                slip omvault login unrol ada --system
                slip omvault login --profile work statsu
                slip omvault --json login chek --no-input || true
                refused 2 omvault --json login chek; grep -c '"exit":2' .refused
                refused 2 omvault login statsu --password-from file:pw
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        let status =
            #"error: no command "login statsu"|hint: did you mean "omvault login status"?|hint: if statsu is a user: omvault login -- statsu"#
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                status,
                #"error: no command "login unrol"|hint: did you mean "omvault login enroll"?|hint: if unrol is a user: omvault login -- unrol"#,
                status, "1",
            ])
    }

    @Test("names a user behind `--` and behind `login start`, and a name that is further away needs neither")
    func users() async throws {
        let ran = try await bash(
            Self.start + """
                for user in statsu chek; do
                    omvault -q login enroll $user --kdf-mem 8 --kdf-time 1 --password-from file:pw
                    omvault login start $user --password-from file:pw | cut -d ' ' -f 1-3
                    omvault login --password-from file:pw -- $user | cut -d ' ' -f 1-3
                    omvault login --force --profile work --password-from file:pw -- $user | cut -d ' ' -f 1-3
                done
                for user in al bob tom eve; do refused 24 omvault login $user --password-from file:pw; done
                refused 2 omvault login rn --password-from file:pw
                omvault login --help > /dev/null; omvault login status > /dev/null; omvault login start --help > /dev/null
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        let expected = ["statsu", "chek"].flatMap { Array(repeating: "granted offline user=\($0)", count: 3) }
        #expect(ran.output.split(separator: "\n").map(String.init) == expected)
    }
}
