// `status`, and which vaults there are.

import TestSupport
import Testing

@Suite("The list of vaults") struct StatusTests {
    @Test("status lists the vaults of the folder beside those that the agent has opened")
    func all() async throws {
        let ran = try await bash(
            AgentTests.start + """
                omvault -q -V work init --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
                touch "$HOME/.local/share/omvault/not-a-vault"; mkdir "$HOME/.local/share/omvault/folder.omv"
                omvault status | cut -f1,2,5; omvault --format plain status | cut -f1,2,5
                unlock
                omvault status --format table | sed 's/  *[0-9][0-9ms]* .*h[0-9ms]*  / T T /; s/ *12h */ T /'
                omvault -V work status | cut -f1,2
                omvault status --json | python3 -c '
                import json, os, sys
                status = json.load(sys.stdin)
                print(status["state"], [one["vault"] for one in status["open"]])
                for one in status["vaults"]: print(one["vault"], one["state"], one["readable"], os.path.exists(one["path"]))'
                """)
        #expect(
            ran.output.hasPrefix(
                String(repeating: "personal\tlocked\talways\nwork\tlocked\talways\n", count: 2)
                    + "VAULT     STATE     IDLE "), "\(ran)")
        #expect(
            ran.output.hasSuffix(
                """
                personal\tunlocked
                work\tlocked
                unlocked ['personal']
                personal unlocked ['when-unlocked', 'after-first-unlock', 'always'] True
                work locked ['always'] True

                """), "\(ran)")
    }

    @Test("after lock a table says locked, and which levels are readable; plain rows and JSON keep their word")
    func locked() async throws {
        let ran = try await bash(
            AgentTests.start + """
                unlock; omvault -q lock
                omvault status --format table; omvault status
                omvault status --json | python3 -c '
                import json, sys
                status = json.load(sys.stdin)
                print(status["state"], status["readable"], status["open"][0]["readable"])'
                omvault -q lock --forget; omvault status --format table
                omvault -V nowhere status --format table
                """)
        #expect(
            ran.output == """
                VAULT     STATE   IDLE  HARD  READABLE
                personal  locked  -     -     after-first-unlock,always
                personal\tfirst-unlocked\t0s\t0s\tafter-first-unlock,always
                first-unlocked ['after-first-unlock', 'always'] ['after-first-unlock', 'always']
                VAULT     STATE   IDLE  HARD  READABLE
                personal  locked  -     -     always
                VAULT     STATE      IDLE  HARD  READABLE
                nowhere   not there  -     -     -
                personal  locked     -     -     always

                """, "\(ran)")
    }

    @Test("the error of a vault that is not there names a few that are, and JSON all of them")
    func notThere() async throws {
        let ran = try await bash(
            """
            code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }
            code omvault -V nope get x:y; cat told
            printf p > p
            for vault in g f e d c b a; do omvault -q -V $vault init --password-from file:p --no-recovery --kdf-mem 8 --kdf-time 1; done
            code omvault -V nope get x:y; cat told
            code omvault -V nope lock; grep -c 'vaults here' told
            omvault -V nope ls --json 2>&1 | grep -o '"vaults".*'
            """)
        #expect(
            ran.output == """
                6
                omvault: error: there is no vault "nope"
                omvault: hint: omvault init makes one; --vault NAME chooses another
                6
                omvault: error: there is no vault "nope"
                omvault: hint: vaults here: a, b, c, d, e and 2 more
                omvault: hint: omvault init makes one; --vault NAME chooses another
                6
                1
                "vaults":["a","b","c","d","e","f","g"]}}

                """, "\(ran)")
    }

    @Test("a wrong secret is called what was given, and a forgotten password has its hint")
    func wrongSecret() async throws {
        let ran = try await bash(
            """
            printf p > p; printf wrong > wrong; printf v > v
            omvault -q init --password-from file:p --kdf-mem 8 --kdf-time 1 > code
            omvault -q -V other init --password-from file:p --kdf-mem 8 --kdf-time 1 > other
            omvault -q -V other key add-slot --type file --out key --password-from file:p
            omvault -q key add-slot --type file --out mine --password-from file:p
            code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }
            code omvault ls --recovery-from file:other; grep error told
            code omvault ls --key-file-from file:key; grep error told
            code omvault ls --password-from file:wrong; cat told
            omvault -q key passwd --recovery-from file:code --new-password-from file:wrong; omvault ls --password-from file:wrong
            """)
        #expect(
            ran.output == """
                20
                omvault: error: wrong recovery code for vault "personal"
                20
                omvault: error: wrong key file for vault "personal"
                20
                omvault: error: wrong password for vault "personal"
                omvault: hint: each wrong password makes the next wait longer, up to 60 seconds; nothing is wiped
                omvault: hint: forgotten: omvault key passwd --recovery-from tty sets a new one by the recovery code

                """, "\(ran)")
    }
}
