// The folder of the agent's socket for a command without XDG_RUNTIME_DIR, as cron and `su -` start one.

import Foundation
import Glibc
import TestSupport
import Testing

/// A namespace of mounts, in which the script is root.
private let namespace = geteuid() == 0 ? "-m" : "-Urm"

@Suite(
    "The agent without XDG_RUNTIME_DIR",
    .enabled("this system makes no namespace") { try await bash("unshare \(namespace) true").status == 0 })
struct AgentFolderTests {
    /// Runs the script where /run has nothing of this machine: an agent of the developer's own must not be asked.
    private func alone(_ script: String) async throws -> Ran {
        try await bash(
            """
            cat > inside << 'INSIDE'
            mount -t tmpfs -o mode=755 none /run; mkdir -m 755 /run/user; mkdir -m 1777 /run/lock
            \(AgentTests.start)
            unset XDG_RUNTIME_DIR
            session=/run/user/$(id -u) state=$HOME/.local/state/omvault
            trap 'omvault -q agent stop 2> /dev/null || true; rm -rf "$session"; omvault -q agent stop 2> /dev/null || true' EXIT
            try() {
                code omvault unlock --password-from file:password; grep -o 'is not used .*\\|no folder .*' told | head -n 1
                code omvault get item:f --no-input
                omvault -q get item:f --password-from file:password; echo
            }
            \(script)
            INSIDE
            exec unshare \(namespace) bash inside
            """)
    }

    @Test("without a login session the socket is in the folder for state: unlock, get and lock work, and no secret is there")
    func state() async throws {
        let ran = try await alone(
            """
            code omvault get item:f --no-input
            [[ -e $state ]] || echo 'a look makes no folder'
            unlock
            omvault get item:f --no-input; echo
            omvault agent env | grep -cF "'$state/run/agent.sock'"
            omvault doctor | grep -P '^agent\\t' | cut -f 2
            omvault -q lock
            code omvault get item:f --no-input
            omvault -q agent stop
            stat -c %a "$state" "$state/run"
            (cd "$state/run"; find . -type f -printf '%p %s\\n' | sort)
            """)
        #expect(
            ran.output == """
                8
                a look makes no folder
                secret
                1
                ok
                8
                700
                700
                ./agent.sock.lock 0
                ./agent.sock.start 0

                """, "\(ran)")
    }

    @Test("the folder of a login session comes first, and lock reaches the agent of a job from before it too")
    func session() async throws {
        let ran = try await alone(
            """
            unlock
            mkdir -m 700 "$session"
            code omvault get item:f --no-input
            ls -A "$session"
            unlock
            ls "$session/omvault"
            omvault get item:f --no-input; echo
            omvault -q lock --all
            code omvault get item:f --no-input
            omvault -q agent stop; rm -r "$session"
            omvault status --json | grep -o '"state":"[^"]*"' | uniq
            code omvault get item:f --no-input
            """)
        #expect(
            ran.output == """
                8
                agent.sock
                agent.sock.lock
                agent.sock.start
                secret
                8
                "state":"first-unlocked"
                8

                """, "\(ran)")
    }

    @Test("a folder that others can use, a link and another user's folder are refused (61), and no other one takes its place")
    func unsafeFolders() async throws {
        let ran = try await alone(
            """
            mkdir -p -m 700 "$state"
            mkdir -m 755 "$session"; try; rm -r "$session"
            mkdir -m 700 other; ln -s "$PWD/other" "$session"; try; rm "$session"
            chmod 755 "$state"; try; chmod 700 "$state"
            mkdir -m 755 "$state/run"; try; rm -r "$state/run"
            ln -s "$PWD/other" "$state/run"; try; rm "$state/run"
            if [[ $(id -u) = 0 && $(awk '{print $3; exit}' /proc/self/uid_map) != 1 ]]; then
                mkdir -m 700 "$state/run"; chown 65534 "$state/run"; try; rm -r "$state/run"
            else printf '61\\nis not used for the agent'\\''s socket: it belongs to another user\\n8\\nsecret\\n'; fi
            find "$HOME" /run -name 'agent.sock*' | wc -l
            """)
        func refused(_ words: String) -> String { "61\nis not used for the agent's socket: \(words)\n8\nsecret\n" }
        let open = refused("other users can read or change it"), link = refused("it is a symbolic link")
        #expect(
            ran.output == open + link + open + open + link + refused("it belongs to another user")
                + "0\n", "\(ran)")
    }

    @Test("the socket's folder may have a path of any length, and a name that is too long for a socket is named (61)")
    func longPath() async throws {
        let ran = try await alone(
            """
            letters() { printf 'x%.0s' $(seq "$1"); }
            export XDG_STATE_HOME=$PWD/$(letters 200)
            mkdir -m 700 "$XDG_STATE_HOME"
            omvault -q agent start; code omvault agent status; omvault -q agent stop
            export OMVAULT_AGENT_SOCK=$PWD/$(letters 120)
            code omvault agent start; head -n 1 told
            """)
        #expect(
            ran.output == "0\n61\nomvault: error: the name of the agent's socket is too long for a socket\n", "\(ran)")
    }
}
