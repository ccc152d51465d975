// The agent under what a machine and other people do to it, numbered as in the specification: floods, folders, full
// keyrings, faked boots, and its own sudden end.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The agent and its hazards") struct AgentHazardTests {
    /// As ``AgentTests/start``, in memory, with a ticket and an item of after-first-unlock.
    private static let ticket =
        AgentTests.start.replacingOccurrences(
            of: "export XDG_RUNTIME_DIR=$HOME/run\nmkdir",
            with: """
                export XDG_RUNTIME_DIR=$(mktemp -u -d /dev/shm/omvault-test-XXXXXX)
                mkdir
                """) + """
            memory=$XDG_RUNTIME_DIR
            trap 'omvault -q agent stop 2>/dev/null || true; rm -rf "$memory"' EXIT
            omvault -q policy set afu-ticket on --password-from file:password
            printf later | omvault -q add after --field f=stdin --level after-first-unlock --password-from file:password

            """

    @Test("R45: with 10,800 half-open connections the agent stays small, and still serves a client")
    func flood() async throws {
        let ran = try await bash(
            AgentTests.start + """
                (ulimit -Sn 200; omvault -q agent start)
                unlock
                agent=$(pid)
                resident() { sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/$agent/status; }
                before=$(resident)
                cat > flood.py <<'PY'
                import os, socket, sys
                waits, goes = os.pipe(), os.pipe()
                for _ in range(12):
                    if os.fork() == 0:
                        os.close(goes[1])
                        held = []
                        for _ in range(900):
                            s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); held.append(s)
                        os.write(waits[1], b'.')
                        os.read(goes[0], 1)
                        os._exit(0)
                ready = b''
                while len(ready) < 12: ready += os.read(waits[0], 12)
                print('ready', flush=True)
                sys.stdin.read()
                PY
                mkfifo open; python3 flood.py run/omvault/agent.sock < open > log & flood=$!
                exec 5> open
                while_runs $flood grep -qs ready log
                code omvault get item:f --no-input; cat said; echo
                if [ "$(id -u)" = 0 ]; then
                    (($(ls /proc/$agent/fd | wc -l) < 120)) && (($(ls /proc/$agent/task | wc -l) < 80)) && echo bounded
                    # Enough for 256 open vaults beside them, whatever it was started with.
                    awk '/^Max open files/ && ($4 >= 4096 || $4 == $5) {print "raised"}' /proc/$agent/limits
                else printf 'bounded\\nraised\\n'; fi
                (($(resident) < before + 32768)) && echo small
                exec 5>&-
                wait $flood
                test "$(pid)" = "$agent" && echo alive
                """)
        #expect(ran.output == "0\nsecret\nbounded\nraised\nsmall\nalive\n", "\(ran)")
    }

    @Test("R46: without a safe folder in memory no ticket is written, there or elsewhere")
    func folders() async throws {
        let ran = try await bash(
            Self.ticket + """
                mine=$XDG_RUNTIME_DIR
                # What the program makes, binds or connects to outside of the vault's own folders and the stretch slots.
                try() {
                    code strace -f -o trace -e trace=open,openat,mkdir,mkdirat,bind,connect,link,linkat,rename,renameat \\
                        omvault -q unlock --password-from file:password
                    grep -E 'O_CREAT|^[0-9]+ +(mkdir|bind|connect|link|rename)' trace |
                        grep -vE "$HOME/.local|/run/lock/|= -1 E(NOENT|EXIST)" || true
                }
                (XDG_RUNTIME_DIR=$PWD/none; try)
                ln -s "$mine" link; (XDG_RUNTIME_DIR=$PWD/link; try)
                (XDG_RUNTIME_DIR=/tmp; try)
                if [ "$(id -u)" = 0 ]; then
                    mkdir -m 700 theirs; chown 65534 theirs; (XDG_RUNTIME_DIR=$PWD/theirs; try)
                else echo 61; fi
                find "$HOME" "$mine" -name 'omvault-ticket-*' | wc -l

                # On a disk there is an agent, but no ticket: what it knew is gone with it.
                export XDG_RUNTIME_DIR=$(mktemp -d \(TestFolder.disk)/omvault-test-XXXXXX)
                unlock; omvault -q lock; omvault get after:f; echo
                find "$XDG_RUNTIME_DIR" -name 'omvault-ticket-*' -o -name 'omvault-secret-*' | wc -l
                slay; omvault -q agent start
                code omvault get after:f --no-input
                omvault -q agent stop
                rm -r "$XDG_RUNTIME_DIR"
                export XDG_RUNTIME_DIR=$mine
                """)
        let inMemory = try await bash("stat -f -c %T \(TestFolder.disk)").output == "tmpfs\n"
        #expect(ran.output == "61\n61\n61\n61\n0\nlater\n" + (inMemory ? "1\n0\n" : "0\n8\n"), "\(ran)")
    }

    @Test(
        "R47: if the keyring is full, the ticket's secret is in the folder in memory, and lock --forget deletes it",
        .enabled(if: geteuid() == 0, "only root can be a user of its own with a quota of its own"))
    func keyringFull() async throws {
        let ran = try await bash(
            """
            set -e
            place=$(mktemp -d); run=$(mktemp -d /dev/shm/omvault-test-XXXXXX)
            trap 'rm -rf "$place" "$run"' EXIT
            chmod 755 "$place"
            cp "$(command -v omvault)" "$(command -v omvault-full)" "$(command -v omvault-agent)" "$place"; chmod 755 "$place"/*
            cat > "$place/keys.py" <<'PY'
            import ctypes, errno, platform, sys
            add, control = {'x86_64': (248, 250), 'aarch64': (217, 219)}[platform.machine()]
            libc = ctypes.CDLL(None, use_errno=True)
            if sys.argv[1] == 'clear': libc.syscall(control, 7, -4); sys.exit()
            # Until not even the smallest key finds room.
            for size in (5000, 500, 50, 1):
                number = 0
                while libc.syscall(add, b'user', b'filler %d %d' % (size, number), b'x' * size, size, -4) > 0: number += 1
            print('full' if ctypes.get_errno() in (errno.EDQUOT, errno.EPERM, errno.ENOSYS) else ctypes.get_errno())
            PY
            { declare -f eventually is_gone; cat; } > "$place/script" <<'SH'
            set -e
            cd "$HOME"
            umask 077
            trap 'python3 "$PLACE/keys.py" clear; omvault -q agent stop 2>/dev/null || true' EXIT
            python3 "$PLACE/keys.py" clear; python3 "$PLACE/keys.py" fill
            printf 'password\\n' > password
            omvault -q init --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
            omvault -q policy set afu-ticket on --password-from file:password
            printf later | omvault -q add after --field f=stdin --level after-first-unlock --password-from file:password
            secrets() { ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-secret || true; }
            omvault -q unlock --password-from file:password
            secrets
            agent=$(omvault agent status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["process"])')
            kill -9 "$agent"; eventually is_gone "$agent"
            omvault -q agent start
            omvault get after:f --no-input; echo
            omvault -q lock --forget
            secrets
            omvault get after:f --no-input 2>/dev/null || echo $?
            SH
            mkdir -m 700 "$place/home"
            chown -R 61047:61047 "$place/home" "$run"
            setpriv --reuid 61047 --regid 61047 --clear-groups env -i PLACE="$place" HOME="$place/home" \\
                XDG_RUNTIME_DIR="$run" PATH="$place:/usr/bin:/bin" bash "$place/script"
            """)
        #expect(ran.output == "full\n1\nlater\n0\n8\n", "\(ran)")
    }

    @Test(
        "R47: the command of the unit for sleep makes the agent forget every key",
        arguments: ["omvault-lock@", "omvault-lock"])
    func sleep(unit: String) async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let ran = try await bash(
            Self.ticket + """
                words=$(sed -nE 's/^Exec(Start|Stop)=[^ ]*omvault //p' "$UNIT")
                test -n "$words"
                unlock
                omvault get after:f --no-input; echo
                code omvault $words
                code omvault get item:f --no-input
                code omvault get after:f --no-input
                ls "$XDG_RUNTIME_DIR/omvault" | grep -cE 'ticket|secret' || true
                omvault -q agent stop
                # Without an agent there is nothing to do, and nothing fails.
                code omvault $words
                """,
            environment: ["UNIT": root.appending(path: "docs/systemd/\(unit).service").path])
        #expect(ran.output == "later\n0\n8\n8\n0\n0\n", "\(ran)")
    }

    @Test(
        "R38: a faked boot id opens no ticket of another boot, and no old ticket without its secret",
        .enabled("this system makes no namespace") { try await bash("unshare -Urm true").status == 0 })
    func fakedBoot() async throws {
        let ran = try await bash(
            Self.ticket + """
                id=/proc/sys/kernel/random/boot_id
                # An agent for which the boot has the id in the file.
                fake() {
                    unshare "$1" bash -c 'mount --bind "$0" '$id' && exec omvault -q agent start' "$PWD/$2"
                }
                cat $id > real; echo 00000000-1111-4222-8333-444444444444 > other
                unlock; slay; omvault -q agent start
                omvault get after:f --no-input; echo
                cp -p "$XDG_RUNTIME_DIR"/omvault/omvault-ticket-* .

                # The secret is still in the keyring, but the boot is another one: root makes a namespace that shares it.
                if [ "$(id -u)" = 0 ]; then
                    slay; fake -m other
                    code omvault get after:f --no-input
                    omvault -q agent stop
                else echo 8; slay; fi

                # After a reboot the secret is gone. A copy of the ticket and the old id do not bring it back.
                omvault -q agent start; unlock; omvault -q lock --forget; omvault -q agent stop
                cp -p omvault-ticket-* "$XDG_RUNTIME_DIR/omvault"
                fake -Urm real
                code omvault get after:f --no-input
                omvault -q agent stop
                cp -p omvault-ticket-* "$XDG_RUNTIME_DIR/omvault"
                omvault -q agent start
                code omvault get after:f --no-input
                """)
        #expect(ran.output == "later\n8\n8\n8\n", "\(ran)")
    }

    @Test("if the agent is killed during a change, the client exits with 61 and says that the change may be saved")
    func killedWhileAsked() async throws {
        let ran = try await bash(
            AgentTests.start + """
                unlock
                agent=$(pid)
                # A process that holds the vault's lock stops the agent in the change.
                cat > hold.py <<'PY'
                import fcntl, glob, os, sys
                held = [os.open(path, os.O_RDWR) for path in glob.glob('.local/state/omvault-device/*.lock')]
                for fd in held: fcntl.flock(fd, fcntl.LOCK_EX)
                print('held', len(held) > 0, flush=True)
                sys.stdin.read()
                PY
                mkfifo open; python3 hold.py < open > log & holder=$!
                exec 5> open
                while_runs $holder grep -qs True log
                printf new > new
                (code strace -o trace -e trace=sendto omvault add new --field f=file:new --no-input > ended; cp told why) &
                change=$!
                # It has asked whether the vault is open and the name is free, and then for the change.
                has_sent() { [ "$(grep -cs sendto trace)" = 3 ]; }; while_runs $change has_sent
                kill -9 "$agent"; eventually is_gone "$agent"
                wait $change
                cat ended
                grep -c 'the change may have been made' why
                exec 5>&-
                wait $holder
                omvault -q get item:f --password-from file:password; echo
                refused 10 omvault get new:f --password-from file:password
                omvault -q verify --deep --password-from file:password > report && echo whole
                """)
        #expect(ran.output == "61\n1\nsecret\nwhole\n", "\(ran)")
    }

    @Test("if the agent is killed while six clients write, each confirmed change is in the vault, and the vault is whole")
    func killedWhileWriting() async throws {
        let ran = try await bash(
            AgentTests.start + """
                unlock
                agent=$(pid)
                write() {
                    for n in $(seq 1 200); do
                        status=0
                        omvault -q add w$1-$n --field f=file:password --no-input 2> told$1 || status=$?
                        [ $status = 0 ] || break
                        echo w$1-$n >> done$1
                    done
                    echo $status > code$1
                }
                for n in 1 2 3 4 5 6; do write $n & done
                under_way() { [ "$(cat done? 2>/dev/null | wc -l)" -ge 24 ]; }; while_runs "$agent" under_way
                kill -9 "$agent"; eventually is_gone "$agent"
                wait
                cat code? | sort -u | grep -vxE '61|8' || true
                for n in 1 2 3 4 5 6; do grep -q 'error: ' told$n || cat told$n; done
                omvault ls --password-from file:password > listed
                cat done? | grep -vxFf listed | wc -l
                omvault -q verify --deep --password-from file:password > report && echo whole
                unlock
                omvault get item:f; echo
                """)
        #expect(ran.output == "0\nwhole\nsecret\n", "\(ran)")
    }
}
