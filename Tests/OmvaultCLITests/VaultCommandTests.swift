// The vault's verbs as a user types them.

import Foundation
import TestSupport
import Testing

@Suite("The vault's verbs") struct VaultCommandTests {
    private static let vault = """
        set -e
        printf 'password\\n' > password
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 > code
        omv() { omvault "$@" --password-from file:password; }
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }

        """

    @Test("a secret comes out of a pipe exactly as it went in, whatever bytes it has")
    func exactBytes() async throws {
        let ran = try await bash(
            Self.vault + """
                printf 'a\\0b\\377\\r\\n\\n' > bytes
                omv -q add item --field x=file:bytes --keep-newline --field empty=file:/dev/null
                omv get item:x | cmp - bytes && echo same
                omv get item:empty | wc -c
                head -c 1048576 /dev/urandom > large
                omv -q set item:large --value-from file:large --keep-newline
                omv get item:large | cmp - large && echo same
                head -c 1048577 /dev/urandom > larger
                code omv set item:large --value-from file:larger --keep-newline
                omv get item:large | cmp - large && echo same
                """)
        #expect(ran.output == "same\n0\nsame\n2\nsame\n", "\(ran)")
    }

    @Test("every kind of source fills a field and unlocks")
    func sources() async throws {
        let ran = try await bash(
            Self.vault + """
                mkdir creds; printf credential > creds/c; printf file > file
                omv -q add item --field file=file:file --field fd=fd:7 --field cmd="cmd:printf 'a b'" \\
                    --field cred=cred:c --field env=env:V --field stdin=stdin 7< <(printf seven) < file
                for f in file fd cmd cred env stdin; do omv get "item:$f"; echo; done
                omvault get item:fd --password-from fd:5 5< password; echo
                omvault get item:fd --password-from stdin < password; echo
                PW=password omvault get item:fd --password-from env:PW; echo
                omvault get item:fd --password-from "cmd:cat password"; echo
                OMVAULT_PASSWORD_FROM=file:password omvault get item:fd
                """, environment: ["V": "variable", "CREDENTIALS_DIRECTORY": "creds"])
        #expect(
            ran.output == "file\nseven\na b\ncredential\nvariable\nfile\n" + "seven\nseven\nseven\nseven\nseven",
            "\(ran)")
    }

    @Test("the recovery code opens the vault; on a machine without the device key it opens what is portable")
    func recovery() async throws {
        let ran = try await bash(
            Self.vault + """
                printf v > v
                omv -q add portable --field x=file:v
                omv -q add bound --field x=file:v --device-only
                omv -q add open --field x=file:v --level always
                omvault get bound:x --recovery-from file:code; echo
                omvault get open:x --no-input; echo
                mkdir other; cp .local/share/omvault/personal.omv other/a.omv
                export XDG_STATE_HOME=$HOME/elsewhere
                code omv get portable:x --vault other/a.omv
                omvault --vault other/a.omv get portable:x --recovery-from file:code; echo
                code omvault --vault other/a.omv get bound:x --recovery-from file:code
                omvault --vault other/a.omv ls --recovery-from file:code
                code omvault --vault other/a.omv add new --field x=file:v --recovery-from file:code
                """)
        #expect(ran.output == "v\nv\n30\nv\n10\nopen\nportable\n13\n", "\(ran)")
    }

    @Test("at a terminal it asks, shows no secret that it was not asked for, and refuses what a terminal would obey")
    func terminal() async throws {
        let ran = try await atTerminal(
            """
            omvault init --kdf-mem 8 --kdf-time 1 > code; test -s code && echo "code kept"
            omvault add item --field x=tty
            omvault get item:x; echo "exit $?"
            omvault get item
            printf 'a\\033[31mb' > escape; printf typed > password
            omvault add evil --field x=file:escape --password-from file:password
            omvault get evil:x --password-from file:password; echo "exit $?"
            """,
            [
                ("New password for vault \"personal\": ", "typed\n"), ("again: ", "typed\n"),
                ("Password for vault \"personal\": ", "typed\n"), ("x of \"item\": ", "s3cret\n"),
                ("again: ", "s3cret\n"),
                ("Password for vault \"personal\": ", "typed\n"), ("Password for vault \"personal\": ", "typed\n"),
            ])
        let shown = ran.output.replacing("\r\n", with: "\n")
        #expect(
            shown.contains("code kept") && shown.contains("s3cret\nexit 0") && shown.contains("(concealed)"), "\(ran)")
        #expect(
            shown.contains("not printable text") && shown.contains("exit 2") && !shown.contains("\u{1b}[31m"), "\(ran)")
        #expect(shown.components(separatedBy: "s3cret").count == 2 && !shown.contains("typed"), "\(ran)")
    }

    @Test("what is printed as JSON is JSON, secrets concealed unless asked for")
    func json() async throws {
        let ran = try await bash(
            Self.vault + """
                printf 'line\\none "quoted"' > v
                omv -q add 'ïtem "1"' --field x=file:v
                omv get 'ïtem "1"' --json; omv get 'ïtem "1"' --json --reveal; omv get 'ïtem "1":x' --json
                omv ls --json; omv get none:x --json 2>&1 || true
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(ran)")
        let documents = try lines.map { try Ran.json($0) }
        let concealed = (documents[0]["fields"] as? [String: [String: Any]])?["x"]
        #expect(concealed?["concealed"] as? Bool == true && concealed?["len"] as? Int == 17)
        #expect((documents[1]["fields"] as? [String: String])?["x"] == "line\none \"quoted\"")
        #expect(documents[2]["value"] as? String == "line\none \"quoted\"")
        #expect((documents[3]["items"] as? [[String: Any]])?.first?["name"] as? String == "ïtem \"1\"")
        #expect((documents[4]["error"] as? [String: Any])?["exit"] as? Int == 10)
    }
}
