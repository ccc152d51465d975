// `omvault log` and `omvault backup`, with the real binary.

import Foundation
import TestSupport
import Testing

@Suite struct LogCommandTests {
    private static let setup = """
        set -e
        printf 'pass word' > pw; printf canary-value > v; printf wrong > wrong
        export OMVAULT_PASSWORD_FROM=file:pw
        omvault -q init --kdf-mem 8 --kdf-time 1 > code
        omvault -q add canary-name --field canary-field=file:v
        omvault -q set canary-name:canary-field --value-from file:pw
        V=$HOME/.local/share/omvault/personal.omv

        """

    @Test("the log lists what happened, without a password, and holds no name, value or password")
    func list() async throws {
        let ran = try await bash(
            Self.setup + """
                omvault -q get canary-name:canary-field --password-from file:wrong 2> /dev/null || echo "exit $?"
                unset OMVAULT_PASSWORD_FROM
                omvault log ls --no-input | cut -f 1,3
                omvault log ls --since 2200-01-01; omvault log ls --since @0 | wc -l
                omvault log ls --since 2026-02-30 2> /dev/null || echo "exit $?"
                omvault -q log verify && omvault log verify 2>&1
                omvault log export > exported
                omvault log ls --json > listed
                cat exported listed | grep -c canary || echo none
                sqlite3 "$V" 'SELECT hex(body) FROM log' > hex
                grep -ci "$(printf canary | od -An -tx1 | tr -d ' \\n')" hex || echo none
                grep -ci "$(printf 'pass word' | od -An -tx1 | tr -d ' \\n')" hex || echo none
                python3 -c 'import json; d = json.load(open("exported"))["entries"]; print(len(d), d[1]["event"], len(d[1]["bytes"]))'
                """)
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                "exit 20", "1\tvault_created", "2\tunlocked", "3\titem_added", "4\tunlocked", "5\titem_changed",
                "6\twrong_secret", "6", "exit 2", "omvault: the log is whole: entries 1 to 6", "0", "none", "0", "none", "0",
                "none", "6 unlocked 188",
            ], "\(ran)")
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("two hundred wrong key files are one entry with a count, and a copy of the vault leaves the log alone")
    func guesses() async throws {
        let ran = try await bash(
            Self.setup + """
                omvault -q key add-slot --type file --out good
                omvault -q -V other init --no-recovery --kdf-mem 8 --kdf-time 1; omvault -q -V other key add-slot --type file --out bad
                for i in $(seq 200); do
                    omvault get canary-name:canary-field --key-file-from file:bad 2> /dev/null && echo opened
                done
                omvault -q log verify
                omvault log ls | tail -n 1 | cut -f 3,4 | sed 's/first=.*/first=T/'
                omvault log ls | wc -l
                omvault log ls --json | python3 -c 'import json, sys; e = json.load(sys.stdin)["entries"][-1]; print(e["event"], e["count"], e["slot"])'
                cp $V copy.omv
                omvault -V ./copy.omv get canary-name:canary-field --key-file-from file:bad 2> /dev/null || echo "exit $?"
                omvault -q -V ./copy.omv get canary-name:canary-field > /dev/null
                omvault -q log verify
                omvault log ls | wc -l
                omvault -q get canary-name:canary-field > /dev/null
                omvault -q log verify
                omvault log ls | tail -n 1 | cut -f 3,4
                """)
        #expect(
            ran.output == """
                wrong_secret\tslot=3 count=200 first=T
                8
                wrong_secret 200 3
                exit 20
                8
                unlocked\tslot=1

                """, "\(ran)")
    }

    @Test(
        "a copy in the vault's place is told by log verify, verify and status, until a change takes it over and the log says so")
    func replacedFile() async throws {
        let ran = try await bash(
            Self.setup + """
                say() { "$@" 2>&1 > /dev/null | grep -c 'is a copy of the file that this device wrote last' || true; }
                flag() { "$@" --json 2> /dev/null | grep -o '"file_replaced":[a-z]*' | head -n 1; }
                tell() { for verb in 'log verify' verify status; do say omvault $verb; flag omvault $verb; done; }
                tell
                cp $V copy; mv copy $V
                omvault -q get canary-name:canary-field > /dev/null
                tell
                omvault log ls | wc -l
                omvault -q set canary-name:canary-field --value-from file:v
                tell
                omvault log ls | tail -n 3 | cut -f 1,3
                """)
        let (whole, copy) = ("0\n\"file_replaced\":false\n", "1\n\"file_replaced\":true\n")
        // The unlock of `verify` before the copy is in the log, too.
        #expect(
            ran.output == String(repeating: whole, count: 3) + String(repeating: copy, count: 3) + "6\n"
                + String(repeating: whole, count: 3) + "8\tunlocked\n9\titem_changed\n10\tunlocked\n", "\(ran)")
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("an unlock while another process holds the vault's lock gives its secret, and says that the log lacks it")
    func heldLock() async throws {
        let ran = try await bash(
            Self.setup + """
                L=$(echo $HOME/.local/state/omvault-device/vault-*.lock)
                omvault log ls > before
                flock $L omvault get canary-name:canary-field 2> said; echo
                grep -c 'this unlock is not in the audit log' said
                omvault log ls | cmp - before && echo same
                omvault get canary-name:canary-field 2>&1; echo
                """)
        #expect(ran.output == "pass word\n1\nsame\npass word\n" && ran.status == 0, "\(ran)")
    }

    @Test("a log that somebody edited is 32, names the entry, and keeps nobody from his secrets")
    func broken() async throws {
        let ran = try await bash(
            Self.setup + """
                sqlite3 "$V" 'DELETE FROM log WHERE id = 2'
                omvault log verify || echo "exit $?"
                omvault log verify --json 2>&1 || true
                omvault log export > /dev/null 2>&1 || echo "exit $?"
                omvault log ls 2> said | wc -l; cat said
                omvault get canary-name:canary-field; echo
                rm -r "$HOME/.local/state/omvault-device"
                omvault log ls 2>&1 || echo "exit $?"
                """)
        #expect(ran.output.contains("exit 32\n{\"error\":{\"code\":\"bad_signature\""), "\(ran)")
        #expect(ran.output.contains("\"entry\":2,\"fault\":\"missing\""), "\(ran)")
        #expect(ran.output.contains("exit 32\n1\nomvault: warning: the log is broken: entry 2 is missing"), "\(ran)")
        #expect(ran.output.contains("\npass word\n") && ran.output.hasSuffix("exit 30\n"), "\(ran)")
        #expect(ran.errors.contains("the log is broken: entry 2 is missing"), "\(ran)")
    }
}

@Suite struct BackupCommandTests {
    private static let setup = """
        set -e
        printf 'pass word' > pw; printf value > v; printf another > new
        export OMVAULT_PASSWORD_FROM=file:pw
        omvault -q init --kdf-mem 8 --kdf-time 1 > code
        omvault -q add here --device-only --field x=file:v
        omvault -q add there --field x=file:v
        V=$HOME/.local/share/omvault

        """

    @Test("a backup goes to another home, where the recovery code opens it and the lost are counted and named")
    func elsewhere() async throws {
        let ran = try await bash(
            Self.setup + """
                omvault backup create b 2>&1
                stat -c %a b
                omvault backup verify b | cut -f 2 | sed -n '1p;4,5p;7p'
                mkdir other; B=$PWD/b; C=$PWD/code; N=$PWD/new; P=$PWD/pw; export HOME=$PWD/other
                omvault backup restore $B --password-from file:$P 2> /dev/null || echo "exit $?"
                omvault backup restore $B --into w --recovery-from file:$C --new-password-from file:$N 2>&1 \\
                    | sed 's/these slots open.*since/TAKEN/'
                omvault ls --vault w --password-from file:$N
                omvault get there:x --vault w --password-from file:$N; echo
                omvault get there:x --vault w --recovery-from file:$C; echo
                omvault get here:x --vault w --recovery-from file:$C 2> /dev/null || echo "exit $?"
                omvault get here:x --vault w --password-from file:$N 2> /dev/null || echo "exit $?"
                omvault -q add here --vault w --password-from file:$N --field x=file:$P
                omvault -q log verify --vault w
                """)
        #expect(
            ran.output == """
                omvault: backed up 2 items of vault "personal" to b
                600
                whole
                2
                1
                password, recovery code
                exit 30
                omvault: warning: 1 item bound to another device is lost:
                omvault:   here
                omvault: warning: TAKEN: slot 2 (recovery code)
                omvault:   to change or remove them again: omvault key passwd, omvault key rm-slot
                omvault: restored 1 item to vault "w"
                there
                value
                value
                exit 10
                exit 10

                """, "\(ran)")
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("each refusal has its exit code, and leaves no file behind")
    func refusals() async throws {
        let ran = try await bash(
            Self.setup + """
                try() { "$@" > /dev/null 2> said || echo "$? $(tail -n 1 said | cut -c 1-40)"; }
                omvault -q backup create b
                try omvault backup create b
                try omvault backup create -
                try omvault backup create no/b
                try omvault backup verify no
                try omvault backup verify pw
                try omvault backup restore b
                try omvault backup restore b --into twin
                omvault -q add later --field x=file:v
                mv $V/personal.omv $V/newer
                try omvault backup restore b
                try omvault backup restore b --into ./elsewhere.omv
                try omvault backup restore b --replace-living
                ls $V
                try omvault backup restore b --accept-rollback --replace-living
                omvault ls
                mv $V/personal.omv $V/restored; mv $V/newer $V/personal.omv
                try omvault ls
                omvault -q init --no-recovery --vault n --kdf-mem 8 --kdf-time 1
                try omvault backup create --vault n c
                ls
                """)
        #expect(
            ran.output.split(separator: "\n").map { String($0.prefix(2)) } == [
                "5 ", "2 ", "60", "60", "30", "5 ", "5 ", "13", "13", "31", "ne", "he", "th", "31", "13", "b", "co", "ne", "pw",
                "sa", "v",
            ], "\(ran)")
    }

    @Test("a restore names what opens the vault again, and keeps the vault that stands elsewhere, until told otherwise")
    func revived() async throws {
        let ran = try await bash(
            Self.setup + """
                mv $V/personal.omv here.omv
                omvault -q -V ./here.omv backup create b
                refused 13 omvault backup restore b
                grep -c -- --replace-living .refused
                omvault -V ./here.omv get there:x; echo
                omvault -q -V ./here.omv key passwd --new-password-from file:new
                rm here.omv
                omvault -q backup restore b --replace-living --accept-rollback --json > said
                python3 -c 'import json; print(json.load(open("said"))["revived_slots"])'
                rm $V/personal.omv
                omvault backup restore b --replace-living --accept-rollback 2>&1 | sed 's/20[0-9-]*T[0-9:]*Z/NOW/'
                omvault get there:x; echo
                rm $V/personal.omv
                omvault backup restore b --replace-living --accept-rollback > /dev/null 2>&1
                omvault -q backup create c
                rm $V/personal.omv
                omvault backup restore c --replace-living 2>&1
                """)
        #expect(
            ran.output == """
                1
                value
                [1, 2]
                omvault: warning: these slots open the vault again as on NOW, even if they were changed or removed since: slot 1 \
                (password), slot 2 (recovery code)
                omvault:   to change or remove them again: omvault key passwd, omvault key rm-slot
                omvault: restored 2 items to vault "personal"
                value
                omvault: restored 2 items to vault "personal"

                """, "\(ran)")
    }

    @Test("a backup taken while 20 processes write is one state of the vault, and restores as that")
    func underWriters() async throws {
        let ran = try await bash(
            Self.setup + """
                for i in $(seq 20); do
                    (for j in 1 2 3; do omvault -q add w$i-$j --field x=file:v; done) & writers="$writers $!"
                done
                for k in 1 2 3 4; do omvault -q backup create b$k; omvault backup verify b$k > /dev/null; done
                wait $writers
                omvault -q backup create b5
                mv $V/personal.omv $V/aside
                for k in 1 2 3 4 5; do
                    omvault -q backup restore b$k --into at$k --accept-rollback --replace-living
                    omvault ls --vault at$k > names$k
                    # Each writer's items come in their order.
                    for i in $(seq 20); do
                        got=$(grep "^w$i-" names$k | tr '\\n' ' ')
                        case "$got" in ""|"w$i-1 "|"w$i-1 w$i-2 "|"w$i-1 w$i-2 w$i-3 ") ;; *) echo "hole: $got" ;; esac
                    done
                    wc -l < names$k
                    rm $V/at$k.omv
                done
                """)
        let counts = ran.output.split(separator: "\n").compactMap { Int($0) }
        #expect(ran.status == 0 && counts.count == 5 && counts.last == 62 && counts == counts.sorted(), "\(ran)")
    }
}
