// The small program in front of omvault-full: what it answers itself, and that both programs give the same answers.

import Foundation
import TestSupport
import Testing

@Suite("The small program in front") struct SmallProgramTests {
    private static let start =
        AgentTests.start + """
            printf 'several\\nlines\\n' > lines
            omvault -q add '"it:em"' --field f=file:password --password-from file:password
            omvault -q add two --field a=file:password --field b=file:lines --password-from file:password
            omvault -q add ada --type login --plain username=ada --field password=file:password --password-from file:password

            """

    private static let home = "HOME"

    @Test("it answers the plain forms without omvault-full, and says that omvault-full is missing for all others")
    func alone() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                mkdir alone
                cp "$(command -v omvault)" alone/
                alone() { code alone/omvault "$@"; cat said told; echo; }
                alone --version
                alone get item:f
                alone get ada
                alone -V personal get two:b
                alone add new --field f=file:lines --field g=file:password
                alone get new:g
                alone get new:missing
                alone status
                """)
        let missing = """
            1
            omvault: error: the program \(Self.home)/alone/omvault-full is missing
            omvault: hint: install omvault-full beside omvault, from the same build


            """
        #expect(
            ran.output.replacing(/\/[^ ]*\/alone\//, with: "\(Self.home)/alone/") == """
                0
                omvault 0.1.0

                0
                secret
                0
                password
                0
                several
                lines
                0
                omvault: added "new" to vault "personal"

                0
                password

                """ + missing + missing, "\(ran.output)\(ran.errors)")
    }

    @Test("every command is answered as omvault-full answers it, with the vault open, locked and without an agent")
    func same() async throws {
        let ran = try await bash(
            Self.start + """
                answer() { printf '%s ' "$*"; code "$@"; cat said told; }
                both() {
                    answer omvault "$@" > one < /dev/null
                    answer omvault-full "$@" > other < /dev/null
                    diff <(sed '1s/^omvault //' one) <(sed '1s/^omvault-full //' other) || echo "differs: $*"
                    lines=$((lines + 1))
                }
                # Without the right to lock memory.
                without_memory() {
                    (ulimit -l 0; if ((EUID)); then "$@"; else export -f "${functions[@]}"; setpriv --bounding-set -ipc_lock \
                        bash -c '"$@"' bash "$@"; fi)
                    lines=$((lines + 1))
                }
                functions=(answer both code)
                device=$HOME/.local/state/omvault-device
                omvault -q add Übung --field f=file:password --password-from file:password
                lines=0
                all() {
                    both; both --help; both status
                    for item in item:f item item: two two:b ada '"it:em"' '"it:em":f' it:em nothing nothing:f item:nothing \\
                        '' : '"' item:f:g $'\\xff' $'a\\nb' -- -x; do
                        both get "$item"
                    done
                    both -V personal get item:f; both -V personal get item; both -V personal get nothing
                    both get; both get item two; both get item:f --json; both get --field f item; both get -- item:f
                    both --vault; both --vault get item:f; both -V nowhere get item:f; both -V ./none.omv get item:f
                    both -V '' get item:f; both --vault=personal get item:f; both --no-input get item:f; both -q get item:f
                    both ls; both ls i; both ls Ü; both ls nothing; both ls i a; both ls -0; both ls --trash; both ls ''
                    both find secret; both find ÜBUNG; both find PASSWORD; both find ada word; both find nothing; both find; both find ''
                    both find "$(printf 'x%.0s' {1..1025})"; both find a b c d e f g h i j k l m n o p q; both find -- ada
                    both add; both add item; both add item --field f=file:password; both add 'a:b' --field f=file:password
                    both add x --field f=file:missing; both add x --field f=file:.; both add x --field f=file:
                    both add x --field f=password; both add x --field ff; both add x --field ':=file:password'
                    both add x --field f=file:password --field f=file:password; both add '' --field f=file:password
                    both add x --field f=file:/dev/null --dry-run; both add -- x --field f=file:password
                    OMVAULT_FORMAT=json both get item:f; OMVAULT_FORMAT=json both ls; OMVAULT_FORMAT=none both ls
                    OMVAULT_VAULT=nowhere both get item:f; OMVAULT_VAULT=personal both get item:f
                    OMVAULT_PASSWORD_FROM=hunter2 both ls; OMVAULT_PASSWORD_FROM=env:PW PW=password both get item:f
                    chmod 755 "$device"; both get item:f; both add x --field f=file:password; chmod 700 "$device"
                    without_memory both get item:f; without_memory both ls; without_memory both find secret
                    HOME= both get item:f; XDG_RUNTIME_DIR= both get item:f; XDG_RUNTIME_DIR=/tmp both get item:f
                }
                unlock; all
                # What both add is the same in the vault.
                omvault add one/x --field f=file:lines --field g=file:password 2> told
                omvault-full add other/x --field f=file:lines --field g=file:password 2>> told
                sed 's/other/one/' told | uniq | wc -l
                show() { omvault show "$1/x" --reveal --json | sed 's/other/one/; s/"\\(id\\|created\\|modified\\)":"[^"]*"//g'; }
                cmp <(show one) <(show other)
                omvault -q lock; all
                omvault -q agent stop; all
                ((lines > 230)) && echo "all answers are the same"
                """)
        #expect(ran.status == 0 && ran.output == "1\nall answers are the same\n", "\(ran.output)\(ran.errors)")
    }

    @Test("omvault-full is not started if another user can change it, or if it is omvault itself; a replaced omvault finds it")
    func beside() async throws {
        let ran = try await bash(
            Self.start + """
                mkdir -m 1777 beside
                full=beside/omvault-full
                cp "$(command -v omvault)" beside/
                answer() { code "$@" status; cat said told; }
                printf '#!/bin/sh\\necho "full $1"\\n' > $full; chmod 755 $full; answer beside/omvault
                # omvault was replaced after it was started.
                cp beside/omvault kept
                exec 9< beside/omvault; rm beside/omvault; answer /proc/self/fd/9; exec 9<&-; mv kept beside/omvault
                chmod 600 $full; answer beside/omvault
                chmod 775 $full; answer beside/omvault
                ln -sf omvault $full; answer beside/omvault
                rm $full; cp beside/omvault $full; answer $full
                """)
        #expect(
            ran.output.replacing(/\/[^ ]*\/beside\//, with: "\(Self.home)/beside/") == """
                0
                full status
                0
                full status
                1
                omvault: error: the program \(Self.home)/beside/omvault-full cannot be started: Permission denied
                omvault: hint: check who may use it: ls -ld shows owner and permissions
                14
                \(Self.untrusted)
                1
                \(Self.itself)
                1
                \(Self.itself)

                """, "\(ran.output)\(ran.errors)")
    }

    @Test("another user's omvault-full in a shared folder is not started", .enabled(if: geteuid() == 0))
    func planted() async throws {
        let ran = try await bash(
            Self.start + """
                mkdir -m 1777 beside
                cp "$(command -v omvault)" beside/
                full=beside/omvault-full
                printf '#!/bin/sh\\necho planted\\n' > $full; chmod 755 $full; beside/omvault status
                chown 65534 $full; code beside/omvault status; cat said told
                mv $full theirs; chown root theirs; ln -s ../theirs $full; chown -h 65534 $full
                code beside/omvault status; cat said told
                """)
        #expect(
            ran.output.replacing(/\/[^ ]*\/beside\//, with: "\(Self.home)/beside/")
                == "planted\n14\n\(Self.untrusted)\n14\n\(Self.untrusted)\n", "\(ran.output)\(ran.errors)")
    }

    private static let untrusted = """
        omvault: error: \(home)/beside/omvault-full is not started: other users than those of omvault can change it
        omvault: hint: find out who created it before you remove it, and install omvault-full from the same build
        """
    private static let itself = """
        omvault: error: \(home)/beside/omvault-full is omvault itself
        omvault: hint: install omvault-full from the same build in its place
        """

    @Test("an add whose answer does not arrive is not repeated, and the error says that the item may be there")
    func lostAnswer() async throws {
        let ran = try await bash(
            Self.start + """
                mkdir -p "$XDG_RUNTIME_DIR/omvault"
                cat > agent.py <<'PY'
                import os, socket
                listener = socket.socket(socket.AF_UNIX)
                listener.bind("run/omvault/agent.sock")
                listener.listen()
                print("ready", flush=True)
                asked = 0
                while True:
                    client = listener.accept()[0]
                    client.recv(1 << 16)
                    asked += 1
                    open("asked", "w").write(str(asked))
                    client.close()
                PY
                python3 agent.py > log & agent=$!
                trap 'kill $agent' EXIT
                while_runs $agent grep -qs ready log
                code omvault add new --field f=file:password
                cat told asked
                """)
        #expect(
            ran.output == """
                61
                omvault: error: the agent ended, or its answer breaks the protocol
                omvault: hint: the change may have been made: look with omvault ls or omvault get before you run the command again
                1
                """, "\(ran.output)\(ran.errors)")
    }

    @Test("after an error of the disk, in the agent or in the command, the change may have been made, and each program says so")
    func diskError() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                strace -f -o trace -p $(pid) -e trace=fdatasync -e inject=fdatasync:error=EIO 2> attached & strace=$!
                trap 'kill $strace; omvault -q agent stop' EXIT
                while_runs $strace grep -qs attached attached
                code omvault add new --field f=file:password
                cat told
                code omvault mv item other
                cat told
                kill $strace; wait $strace || true
                trap - EXIT; omvault -q agent stop
                omvault -q key add-slot --type file --out key --password-from file:password
                code strace -f -o trace -e trace=fdatasync -e inject=fdatasync:error=EIO \\
                    omvault mv two third --key-file-from file:key
                grep -v warning: told
                """)
        let told = """
            60
            omvault: error: reading or writing failed: Input/output error
            omvault: hint: the change may have been made: look with omvault ls or omvault get before you run the command again

            """
        #expect(ran.output == told + told + told, "\(ran.output)\(ran.errors)")
    }

    /// The agent is stopped by a signal, so it keeps its socket and answers nothing.
    private static let silent =
        start + """
            unlock
            agent=$(pid)
            trap 'kill -CONT $agent; omvault -q agent stop' EXIT
            list='ls --password-from file:password'

            """

    @Test("omvault-full does not wait for an agent that the small program has waited for, and only then")
    func noted() async throws {
        let ran = try await bash(
            Self.silent + """
                OMVAULT_AGENT_SILENT=1 omvault-full get item:f --no-input; echo
                kill -STOP $agent
                begun=$SECONDS
                (export OMVAULT_AGENT_SILENT=$BASHPID; exec omvault-full $list) 2> told | wc -l
                cat told
                (export OMVAULT_AGENT_SILENT=$BASHPID; exec omvault-full get item --password-from file:password) 2>> told
                echo; wc -l < told; echo $((SECONDS - begun < 60))
                """)
        #expect(
            ran.output == """
                secret
                4
                omvault: warning: the agent did not answer in time; the agent was not asked
                secret
                2
                1

                """, "\(ran.output)\(ran.errors)")
    }

    /// It takes the 90 seconds that a client waits.
    @Test(
        "a silent agent is waited for once, by the small program or by omvault-full", .enabled(if: Sweep.isWhole),
        arguments: ["get item", "get item --rev 1"])
    func waitedForOnce(words: String) async throws {
        let ran = try await bash(
            Self.silent + """
                kill -STOP $agent
                begun=$SECONDS
                OMVAULT_PASSWORD_FROM=file:password omvault \(words) 2> told
                echo; cat told; echo $((SECONDS - begun > 80 && SECONDS - begun < 150))
                """)
        #expect(
            ran.output == "secret\nomvault: warning: the agent did not answer in time; the agent was not asked\n1\n",
            "\(ran.output)\(ran.errors)")
    }

    @Test("a field from a named pipe gets what its writer writes, and a field from a shell's pipe too")
    func pipes() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                mkfifo pipe
                printf 'through a pipe' > pipe & writer=$!
                omvault add piped --field f=file:pipe 2> told
                wait $writer; echo $?
                omvault get piped:f; echo
                omvault add shell --field f=file:<(printf 'from the shell') 2> told
                omvault get shell:f; echo
                """)
        #expect(ran.output == "0\nthrough a pipe\nfrom the shell\n", "\(ran.output)\(ran.errors)")
    }

    @Test("a reader of a pipe that has gone ends it by SIGPIPE, and a full disk by 60")
    func writing() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                set +e
                python3 - <<'PY'
                import os, subprocess
                reader, writer = os.pipe()
                os.close(reader)
                print(subprocess.run(["omvault", "get", "item:f"], stdout=writer).returncode)
                PY
                omvault get item:f > /dev/full; echo $?
                """)
        #expect(ran.output == "-13\n60\n", "\(ran.output)\(ran.errors)")
    }
}
