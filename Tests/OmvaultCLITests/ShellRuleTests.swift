// The rules of the command line that docs/internals/shell-acceptance.md has by number, and that no other suite shows.

import ArgumentParser
import OMJSON
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

@Suite("Rules of the command line") struct ShellRuleTests {
    /// A vault with an item, its password in `password`, the item's in `secret`, and `code`, which prints an exit code.
    static let home = """
        set -e
        umask 077
        printf 'correct horse' > password; printf hunter2 > secret; printf wrong > wrong
        omvault -q init --kdf-mem 8 --kdf-time 1 --password-from file:password > recovery
        omvault -q add github --plain username=ada --field password=file:secret --password-from file:password
        vault=$HOME/.local/share/omvault/personal.omv
        code() { status=0; "$@" > said 2> told < /dev/null || status=$?; echo "$status"; }

        """

    /// The same with an agent that has the vault open.
    static let unlocked =
        home + """
            export XDG_RUNTIME_DIR=$HOME/run; mkdir run
            trap 'omvault -q agent stop 2> /dev/null || true' EXIT
            omvault -q unlock --password-from file:password

            """

    @Test("rule 1: no secret is in an argument of any process that a command starts, from each source that needs no terminal")
    func arguments() async throws {
        let ran = try await bash(
            Self.home + """
                mkdir run; export XDG_RUNTIME_DIR=$HOME/run EDITOR='sed -i s/r2/r3/'
                export OMVAULT_CLIP_COPY_CMD='tee copied' TOKEN=canary-env
                mkdir credentials; printf canary-credential > credentials/kept; export CREDENTIALS_DIRECTORY=$PWD/credentials
                printf 'otpauth://totp/x:y?secret=CANARYCANARYCANA' > uri
                printf canary-value > value; printf canary-other > other; printf canary-password > password2
                printf 'token: {{ om://personal/github/password }}' > template
                cat > verbs << 'END'
                # An agent that stays would keep strace.
                trap 'omvault -q agent stop' EXIT
                omvault -q unlock --password-from file:password
                omvault -q add one --field f=file:value --field g=env:TOKEN --field 'h=cmd:cat value' --field i=fd:5 5< value
                omvault -q set one:f --value-from stdin < other; omvault -q set one:g --value-from cred:kept
                omvault otp --uri-from file:uri > /dev/null
                printf '%s\\n' protocol=https host=a.example username=ada password=canary-git | omvault helper git store
                omvault get one:f > /dev/null; omvault show one --reveal > /dev/null; omvault -q get one:f --clip
                omvault -q edit github:password
                omvault find --query-from file:value > /dev/null
                omvault run --env SECRET=om://personal/one/f -- true
                omvault inject -i template > /dev/null
                omvault -q key passwd --password-from file:password --new-password-from file:password2
                omvault -q backup create backup --password-from file:password2
                omvault -q export --to csv -o exported --reveal-plaintext-risk --password-from file:password2
                omvault -q import exported --from csv --existing skip
                omvault crypto encrypt -i value -o sealed --password-from file:password2 --kdf-mem 8 --kdf-time 1
                omvault crypto decrypt -i sealed --password-from file:password2 > /dev/null
                omvault crypto hmac --key-from file:value other > /dev/null
                omvault -q profile set work OfflineAuthAllowed=true MaxLoginAttempts=5
                omvault -q login enroll ada --profile work --password-from file:password2 --kdf-mem 8 --kdf-time 1
                omvault -q login check ada --profile work --password-from file:password2 > /dev/null
                omvault -q lock
                omvault ls --password-from fd:6 6< password2 > /dev/null
                head -n 1 recovery > code
                omvault -q key passwd --recovery-from file:code --new-password-from file:password
                END
                strace -f -qq -o trace -s 65536 -e trace=execve bash -e verbs
                recovered=$(head -n 1 recovery)
                grep -ciF -e canary -e 'correct horse' -e hunter -e "${recovered:0:9}" trace || true
                (($(grep -c execve trace) > 40)) && echo traced
                # The search finds what is there.
                strace -f -qq -o trace -s 65536 -e trace=execve /bin/echo canary-value > /dev/null; grep -c canary- trace
                """)
        #expect(ran.output == "0\ntraced\n1\n", "\(ran)")
    }

    @Test("rule 2: -q hides no usage error of any command")
    func quiet() async throws {
        let script = """
            while read -r line; do
                code=0; said=$(omvault -q $line --no-input nothing:at=all 2>&1 > /dev/null < /dev/null) || code=$?
                printf '%s\\037%s\\037%s\\036' "$line" $code "$said"
            done
            """
        let ran = try await bash("\(script) << 'END'\n\(JSONFailureTests.verbs.joined(separator: "\n"))\nEND")
        let ended = ran.output.split(separator: "\u{1E}").map { $0.split(separator: "\u{1F}", omittingEmptySubsequences: false) }
        #expect(ended.count == JSONFailureTests.verbs.count)
        let failed = ended.filter { $0[1] != "0" }
        #expect(failed.count > 60)
        for one in failed { #expect(one[2].contains("error: "), "\(one)") }
    }

    @Test("rule 3: a prompt is never on standard output, so the output is the answer alone")
    func prompts() async throws {
        let ran = try await atTerminal(
            Self.home + """
                omvault get github > out; cat out; echo .
                omvault key passwd > out; stat -c 'key passwd: %s' out
                omvault rm github --purge > out; stat -c 'rm: %s' out
                omvault crypto encrypt secret --kdf-mem 8 --kdf-time 1 > sealed
                omvault crypto decrypt sealed > out; cat out; echo .
                """,
            [
                ("Password", "correct horse\n"), ("Password", "correct horse\n"), ("New password", "other\n"),
                (", again:", "other\n"), ("Password", "other\n"), ("[y/N]", "y\n"), ("New password:", "pw\n"),
                ("New password, again:", "pw\n"), ("Password:", "pw\n"),
            ])
        let lines = ran.output.split(separator: "\r\n")
        #expect(lines.count { $0 == "hunter2." } == 2 && lines.contains("key passwd: 0") && lines.contains("rm: 0"), "\(ran)")
    }

    @Test(
        "rule 4: a word that is no command is no item either, whichever program reads it", arguments: ["omvault", "omvault-full"])
    func unknownCommand(program: String) async throws {
        let ran = try await bash(
            Self.unlocked + """
                omvault -q add frob --field password=file:secret
                code \(program) frob; cat said; head -n 1 told
                code \(program) --json frob; cat said
                code \(program) -- frob; cat said
                omvault get frob; echo
                """)
        #expect(ran.output == "2\nomvault: error: no command \"frob\"\n2\n2\nhunter2\n", "\(ran)")
    }

    @Test("rule 5: wrong password, damage, rollback, locked and not found are five exit codes, and no two are the same")
    func codes() async throws {
        let ran = try await bash(
            Self.home + """
                code omvault get github --password-from file:wrong
                eventually omvault -q get github --password-from file:password > said 2> told
                code omvault get nothing --password-from file:password
                code omvault status --exit-code
                cp "$vault" old; omvault -q set github:password --value-from file:wrong --password-from file:password
                cp old "$vault"; rm -f "$vault"-*
                code omvault get github --password-from file:password
                head -c 30000 /dev/urandom > "$vault"
                code omvault get github --password-from file:password
                """)
        #expect(ran.output == "20\n10\n7\n31\n30\n", "\(ran)")
    }

    @Test("rule 9: no wrong password of a sample opens a file, and none gives a byte (a whole run tries a thousand)")
    func wrongPasswords() async throws {
        let ran = try await bash(
            """
            printf 'correct horse' > password; printf hunter2 > secret
            omvault -q crypto encrypt secret -o sealed --password-from file:password --kdf-mem 8 --kdf-time 1
            for number in $(seq \(Sweep.count(1_000, sample: 25))); do
                code=0; omvault crypto decrypt sealed --password-from stdin <<< "correct horse$number" 2> told || code=$?
                [[ $code = 20 ]] || echo "$number: $code"
            done
            omvault crypto decrypt sealed --password-from file:password; echo
            """)
        #expect(ran.output == "hunter2\n", "\(ran)")
    }

    @Test(
        "rule 10: of a changed file or record no byte comes out", arguments: ["sealed", "raw", "chacha", "age", "vault"])
    func authentication(form: String) async throws {
        let forms = [
            "sealed": ("crypto encrypt -i secret --key-from file:key", "crypto decrypt -i file --key-from file:key"),
            "raw": (
                "crypto encrypt --raw --alg aes-256-gcm -i secret --key-from file:key",
                "crypto decrypt --raw --alg aes-256-gcm -i file --key-from file:key"
            ),
            "chacha": (
                "crypto encrypt --alg chacha20-poly1305 -i secret --key-from file:key",
                "crypto decrypt -i file --key-from file:key"
            ),
            "age": ("crypto encrypt --recipient key.pub -i secret", "crypto decrypt -i file --key-from file:key"),
        ]
        guard let (seals, opens) = forms[form] else {
            let ran = try await bash(
                Self.home + """
                    # The column keeps its type and its length: one bit of what is encrypted changes.
                    change() {
                        python3 -c '
                    import sqlite3, sys
                    vault = sqlite3.connect(sys.argv[1])
                    for row, body in vault.execute("SELECT rowid, body FROM records").fetchall():
                        changed = bytearray(body); changed[len(body) * int(sys.argv[2]) // 4] ^= int(sys.argv[3])
                        vault.execute("UPDATE records SET body = ? WHERE rowid = ?", (bytes(changed), row))
                    vault.commit()' "$vault" "$@"
                    }
                    for place in 1 2 3; do
                        change $place 1
                        code omvault get github --password-from file:password; wc -c < said
                        change $place 1
                    done
                    omvault get github --password-from file:password; echo
                    """)
            return #expect(ran.output == "30\n0\n30\n0\n30\n0\nhunter2\n", "\(ran)")
        }
        let ran = try await bash(
            """
            set -e
            printf 'a secret message' > secret; head -c 32 /dev/urandom > key
            [[ \(form) != age ]] || { rm key; ssh-keygen -q -t ed25519 -N '' -f key; }
            omvault \(seals) > whole
            cp whole file; omvault \(opens) | cmp - secret && echo whole
            python3 -c '
            import subprocess, sys
            whole = open("whole", "rb").read()
            for place in [len(whole) * n // 12 for n in range(12)] + [len(whole) - 1]:
                changed = bytearray(whole); changed[place] ^= 1; open("file", "wb").write(changed)
                ran = subprocess.run(["omvault"] + sys.argv[1:], capture_output=True)
                if ran.returncode == 0 or ran.stdout: print(place, ran)
            open("file", "wb").write(whole[:-1])
            ran = subprocess.run(["omvault"] + sys.argv[1:], capture_output=True)
            if ran.returncode == 0 or ran.stdout: print("cut", ran)' \(opens)
            """)
        #expect(ran.output == "whole\n", "\(ran)")
    }
}
