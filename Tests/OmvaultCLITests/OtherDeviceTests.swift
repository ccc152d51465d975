// What opens a vault on another machine, and what the messages say about it.

import TestSupport
import Testing

@Suite("A vault on another machine") struct OtherDeviceTests {
    private static let vault = """
        set -e
        printf p > p; printf n > n; printf v > v
        omvault -q init --password-from file:p --kdf-mem 8 --kdf-time 1 > code
        omvault -q add item --field f=file:v --password-from file:p
        omvault -q backup create old.omvb --password-from file:p
        here=$HOME
        # Another machine: nothing of this one's folders.
        elsewhere() { HOME=$here/$1 "${@:2}"; }
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }

        """

    @Test("the password opens nothing there, and the error names the recovery code, which reads it")
    func copied() async throws {
        let ran = try await bash(
            Self.vault + """
                (umask 077; mkdir -p new/.local/share/omvault); cp .local/share/omvault/personal.omv new/.local/share/omvault/
                code elsewhere new omvault get item:f --password-from file:p; cat told
                elsewhere new omvault get item:f --recovery-from file:code; echo
                code elsewhere new omvault set item:f --value-from file:n --recovery-from file:code
                code elsewhere new omvault key slots --no-input
                elsewhere new omvault -q backup create new.omvb --portable --recovery-from file:code
                mv new/.local/share/omvault/personal.omv copy.omv
                elsewhere new omvault -q backup restore new.omvb --recovery-from file:code --new-password-from file:n 2> /dev/null
                elsewhere new omvault -q set item:f --value-from file:n --password-from file:n
                elsewhere new omvault get item:f --password-from file:n; echo
                """)
        #expect(
            ran.output == """
                30
                omvault: error: the password opens vault "personal" only together with this device's key, and the key is missing
                omvault: hint: the recovery code opens it anywhere: --recovery-from tty; so does a key file: --key-file-from file:PATH
                omvault: hint: if this machine made it, put its folder omvault-device back; a new machine gets a vault by omvault backup restore
                v
                13
                30
                n

                """, "\(ran)")
    }

    @Test("an old backup is looked into in a home of its own, beside the vault, which stays as it is")
    func look() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q set item:f --value-from file:n --password-from file:p
                code omvault backup restore old.omvb --into copy --password-from file:p
                grep -c 'hint: to look into the backup beside it: HOME=NEWFOLDER omvault backup restore FILE' told
                mkdir look
                elsewhere look omvault -q backup restore old.omvb --recovery-from file:code --new-password-from file:n 2> /dev/null
                elsewhere look omvault get item:f --password-from file:n; echo
                omvault get item:f --password-from file:p; echo
                omvault -q verify --deep --password-from file:p
                """)
        #expect(ran.output == "5\n1\nv\nn\n", "\(ran)")
        #expect(ran.status == 0)
    }

    @Test("key slots asks for no password where this device has noted the slots, and unlocks where it is told how")
    func slots() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault key slots --no-input | cut -f 1,2
                omvault key slots --no-input --json | grep -o '"opened_by":[^,]*'
                omvault key slots --password-from file:p --json | grep -o '"opened_by":[^,]*'
                OMVAULT_PASSWORD_FROM=file:p omvault key slots --json | grep -o '"opened_by":[^,]*'
                code omvault key slots --password-from file:n
                """)
        #expect(
            ran.output == """
                1\tpassword
                2\trecovery
                "opened_by":null
                "opened_by":1
                "opened_by":1
                20

                """, "\(ran)")
    }

    @Test("login status says at a terminal, and only there, that there is nothing to show")
    func emptyStore() async throws {
        #expect(try await bash("omvault login status").errors == "")
        let shown = try await atTerminal("omvault login status > said; omvault -q login status > said")
        #expect(
            shown.output == "omvault: no login is cached, remembered or open here; omvault login --help says how to log in\r\n",
            "\(shown)")
    }
}
