// The agent with tickets, kills, races, other users and systemd. The page agent.md has the verbs.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The agent behind the verbs") struct AgentTests {
    /// A vault, a runtime folder, and an agent that does not outlive the script.
    static let start = """
        set -e
        umask 077
        export XDG_RUNTIME_DIR=$HOME/run
        mkdir "$XDG_RUNTIME_DIR"
        printf 'password\\n' > password
        omvault -q init --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
        printf secret | omvault -q add item --field f=stdin --password-from file:password
        trap 'omvault -q agent stop 2>/dev/null || true' EXIT
        unlock() { omvault -q unlock --password-from file:password "$@"; }
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }
        pid() { omvault agent status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["process"])'; }
        # Waits until it is gone: until then its socket still takes connections.
        slay() { agent=$(pid); kill -9 "$agent"; eventually is_gone "$agent"; }

        """

    @Test("lock --forget deletes a ticket that an earlier agent wrote")
    func foreignTicket() async throws {
        let ran = try await bash(
            Self.start.replacingOccurrences(of: "export XDG_RUNTIME_DIR=$HOME/run\nmkdir", with: Self.memory + "\nmkdir") + """
                trap 'omvault -q agent stop 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"' EXIT
                omvault -q policy set afu-ticket on --password-from file:password
                printf later | omvault -q add after --field f=stdin --level after-first-unlock --password-from file:password
                unlock
                slay
                omvault -q agent start
                omvault get after:f --no-input; echo
                slay
                omvault -q agent start
                omvault -q lock --forget
                code omvault get after:f --no-input
                """)
        #expect(ran.output == "later\n8\n", "\(ran.errors)")
    }

    @Test("lock --forget of an unreadable vault deletes the ticket of that vault only")
    func unreadable() async throws {
        let ran = try await bash(
            Self.start.replacingOccurrences(of: "export XDG_RUNTIME_DIR=$HOME/run\nmkdir", with: Self.memory + "\nmkdir") + """
                trap 'omvault -q agent stop 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"' EXIT
                omvault -q -V second init --password-from file:password --no-recovery --kdf-mem 8 --kdf-time 1
                tickets() { ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-ticket-; }
                for vault in personal second; do
                    omvault -q -V $vault policy set afu-ticket on --password-from file:password
                    printf later | omvault -q -V $vault add after --field f=stdin --level after-first-unlock \\
                        --password-from file:password
                    omvault -q -V $vault unlock --password-from file:password
                done
                tickets
                vault=$(find . -name personal.omv)
                cp "$vault" kept; printf 'no vault' > "$vault"
                omvault -q -V personal lock --forget
                tickets
                slay
                cp kept "$vault"
                omvault -q agent start
                omvault -V second get after:f --no-input; echo
                code omvault -V personal get after:f --no-input
                """)
        #expect(ran.status == 0 && ran.output == "2\n1\nlater\n8\n", "\(ran.output)\(ran.errors)")
    }

    /// A runtime folder in memory, which tickets need.
    private static let memory = """
        export XDG_RUNTIME_DIR=$(mktemp -u -d /dev/shm/omvault-test-XXXXXX)
        """

    @Test("a read through the agent opens no vault file and no key file, and stretches no password")
    func opensNothing() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                strace -f -o trace -e trace=openat,open,execve omvault get item:f; echo
                grep -cE 'omv"|device\\.key|stretch|\\.mark' trace || true
                grep -c execve trace
                """)
        #expect(ran.output == "secret\n0\n1\n", "\(ran)")
    }

    @Test("after the agent is killed, verbs ask for the password, and the next unlock starts another agent")
    func killed() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                first=$(pid)
                kill -9 "$first"
                eventually is_gone "$first"
                test -S run/omvault/agent.sock && echo stale
                code omvault get item:f --no-input
                code omvault agent status
                code omvault lock
                unlock
                omvault get item:f; echo
                test "$(pid)" != "$first" && echo another
                """)
        #expect(ran.output == "stale\n8\n61\n0\nsecret\nanother\n", "\(ran)")
    }

    @Test("six unlocks at once start one agent")
    func startedOnce() async throws {
        let ran = try await bash(
            Self.start + """
                for n in 1 2 3 4 5 6; do
                    omvault -q unlock --password-from file:password & jobs="${jobs:-} $!"
                done
                for job in $jobs; do wait "$job"; done
                omvault get item:f; echo
                ls /proc | grep -E '^[0-9]+$' | while read -r p; do
                    tr '\\0' ' ' < "/proc/$p/cmdline" 2>/dev/null | grep -F "$PWD/run/omvault" || true
                done | grep -c agent.sock
                """)
        #expect(ran.output == "secret\n1\n", "\(ran)")
    }

    @Test("R46: without a safe runtime folder no agent runs: its own verbs exit with 61, the others ask for the password")
    func unsafeFolders() async throws {
        let ran = try await bash(
            Self.start + """
                try() {
                    code omvault unlock --password-from file:password
                    code omvault get item:f --no-input
                    omvault -q get item:f --password-from file:password; echo
                }
                chmod 755 run; try; chmod 700 run
                mkdir -m 755 run/omvault; chmod 755 run/omvault; try; chmod 700 run/omvault
                mv run real; ln -s real run; try; rm run; mv real run
                (XDG_RUNTIME_DIR=run try)
                (XDG_RUNTIME_DIR=$HOME/nowhere try)
                (XDG_RUNTIME_DIR=/tmp try)
                rmdir run/omvault; touch run/omvault; try; rm run/omvault
                find "$HOME" -name 'agent.sock*' | wc -l
                """)
        #expect(ran.output == String(repeating: "61\n8\nsecret\n", count: 7) + "0\n", "\(ran)")
    }

    @Test("an agent of a later version is left alone (61), and an agent of an earlier version is replaced")
    func otherVersions() async throws {
        let ran = try await bash(
            Self.start + """
                cat > fake.py <<'PY'
                import os, socket, sys
                version = int(sys.argv[1])
                os.umask(0o177)
                s = socket.socket(socket.AF_UNIX)
                s.bind(sys.argv[2]); s.listen(8)
                print('ready', flush=True)
                while True:
                    c, _ = s.accept()
                    head = c.recv(8)
                    if head[3] == 1:
                        c.sendall(bytes([0x4f, 0x41, version, 0x80, 0, 0, 0, 0]))
                        os.unlink(sys.argv[2]); print('gone', flush=True); sys.exit()
                    c.sendall(bytes([0x4f, 0x41, version, 0x81, 0, 0, 0, 1, version])); c.close()
                PY
                mkdir run/omvault
                for version in 7 0; do
                    python3 fake.py $version run/omvault/agent.sock > fake.log & fake=$!
                    while_runs $fake grep -qs ready fake.log
                    code omvault get item:f --no-input
                    omvault -q get item:f --password-from file:password; echo
                    code omvault unlock --password-from file:password
                    if [ $version = 7 ]; then
                        grep -c 'protocol 7' told
                        code omvault agent stop
                    fi
                    wait $fake
                    tail -1 fake.log
                done
                omvault get item:f
                """)
        #expect(ran.output == "8\nsecret\n61\n1\n0\ngone\n8\nsecret\n0\ngone\nsecret", "\(ran)")
    }

    @Test("the agent takes a socket from systemd, and refuses a datagram socket and an open folder")
    func socketActivation() async throws {
        let ran = try await bash(
            Self.start + """
                cat > activate.py <<'PY'
                import os, socket, sys
                s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if sys.argv[1] == 'stream' else socket.SOCK_DGRAM)
                os.umask(0o177); s.bind(sys.argv[2])
                if sys.argv[1] == 'stream': s.listen(8)
                print('ready', flush=True)
                if s.fileno() != 3: os.dup2(s.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')
                os.execvp(sys.argv[3], sys.argv[3:])
                PY
                mkdir run/omvault
                python3 activate.py stream "$PWD/run/omvault/agent.sock" omvault-agent > log & agent=$!
                while_runs $agent grep -qs ready log
                unlock
                omvault get item:f; echo
                test "$(pid)" = "$agent" && echo ours
                omvault -q agent stop
                wait $agent
                test -S run/omvault/agent.sock && echo "the socket is systemd's"
                rm run/omvault/agent.sock
                code python3 activate.py datagram "$PWD/run/omvault/agent.sock" omvault-agent
                mkdir -m 755 open
                code python3 activate.py stream "$PWD/open/agent.sock" omvault-agent
                """)
        #expect(ran.output == "secret\nours\nthe socket is systemd's\n61\n61\n", "\(ran)")
    }

    private static let activator = "/usr/bin/systemd-socket-activate"

    @Test(
        "systemd's socket activation starts the agent for the first client, and starts it again after a stop",
        .enabled(if: access(activator, X_OK) == 0, "this system has no systemd"))
    func systemdActivation() async throws {
        let ran = try await bash(
            Self.start + """
                mkdir run/omvault
                for round in 1 2; do
                    rm -f run/omvault/agent.sock
                    systemd-socket-activate -l "$PWD/run/omvault/agent.sock" "$(command -v omvault-agent)" 2> log & agent=$!
                    while_runs $agent grep -qs '^Listening' log
                    code omvault get item:f --no-input
                    unlock
                    omvault get item:f; echo
                    test "$(pid)" = "$agent" && echo ours
                    omvault -q agent stop
                    wait $agent
                done
                """)
        #expect(ran.output == "8\nsecret\nours\n8\nsecret\nours\n", "\(ran)")
    }

    @Test(
        "R45: agent and client refuse another user (61), and a process of the same user cannot read or trace the agent",
        .enabled(if: geteuid() == 0, "only root can be two users"))
    func otherUsers() async throws {
        let ran = try await bash(
            Self.start + """
                unlock
                cat > other.py <<'PY'
                import ctypes, os, socket, sys
                if sys.argv[1] == 'client':
                    os.chdir(sys.argv[2]); os.setuid(65534)
                    c = socket.socket(socket.AF_UNIX); c.connect('agent.sock')
                    try: c.sendall(bytes([0x4f, 0x41, 1, 2, 0, 0, 0, 0])); print(len(c.recv(100)))
                    except (BrokenPipeError, ConnectionResetError): print(0)
                if sys.argv[1] == 'server':
                    s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[2]); os.setuid(65534); s.listen(8)
                    print('ready', flush=True)
                    while True:
                        c, _ = s.accept(); print('got', len(c.recv(100)), flush=True)
                if sys.argv[1] == 'same':
                    pid = int(sys.argv[2])
                    try: os.open(f'/proc/{pid}/mem', os.O_RDONLY); print('read')
                    except PermissionError: print('no memory')
                    libc = ctypes.CDLL(None, use_errno=True)
                    print('traced' if libc.ptrace(16, pid, 0, 0) == 0 else f'errno {ctypes.get_errno()}')
                PY
                # The folder's mode would keep them out before the agent has to.
                chmod 711 run/omvault; chmod 666 run/omvault/agent.sock
                python3 other.py client run/omvault
                chmod 700 run/omvault
                omvault get item:f; echo
                omvault -q agent stop
                python3 other.py server run/omvault/agent.sock > log & squatter=$!
                while_runs $squatter grep -qs ready log
                code omvault unlock --password-from file:password
                grep -c 'another user (65534)' told
                code omvault get item:f --no-input
                kill -9 $squatter; wait $squatter || true
                grep -E 'got [1-9]' log || echo 'nothing was said'
                rm run/omvault/agent.sock

                chown nobody run; code omvault unlock --password-from file:password; chown root run
                chown nobody run/omvault; code omvault unlock --password-from file:password; chown root run/omvault

                theirs=$(mktemp -d); chmod 755 "$theirs"; mkdir "$theirs/run"
                cp "$(command -v omvault-agent)" other.py "$theirs"; chmod 755 "$theirs"/*; chmod 700 "$theirs/run"
                chown nobody "$theirs/run"
                as_nobody() { exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
                as_nobody "$theirs/omvault-agent" --socket "$theirs/run/s" & agent=$!
                while_runs $agent test -S "$theirs/run/s"
                (as_nobody python3 "$theirs/other.py" same $agent)
                kill $agent; wait $agent || true
                rm -r "$theirs"
                """)
        #expect(
            ran.output == """
                0
                secret
                61
                1
                8
                nothing was said
                61
                61
                no memory
                errno 1

                """, "\(ran)")
    }
}
