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
            rm -r "$session"
            omvault status --json 2> said | grep -o '"state":"[^"]*"' | uniq
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

    /// An agent of a job in the folder for state, then a login session with a folder of its own.
    private static let twoAgents = """
        unlock
        job() { env -u XDG_RUNTIME_DIR "$@"; }
        mkdir -m 700 own; export XDG_RUNTIME_DIR=$PWD/own
        state() { job omvault status --json 2> said | grep -o '"state":"[^"]*"' | head -n 1; }

        """

    @Test("lock --all reaches each agent of this user, whatever the environment says")
    func everyAgent() async throws {
        let ran = try await alone(
            """
            mkdir -m 700 "$session" own
            unlock
            export XDG_RUNTIME_DIR=$PWD/own
            omvault -q lock --all
            env -u XDG_RUNTIME_DIR omvault -q agent status > said
            code env -u XDG_RUNTIME_DIR omvault get item:f --no-input
            unlock
            OMVAULT_AGENT_SOCK=$PWD/own/other.sock omvault -q lock --all
            code omvault get item:f --no-input
            """)
        #expect(ran.output == "8\n8\n", "\(ran)")
    }

    @Test("status, vault ls, agent status and doctor tell of another agent that has a vault open, and agent stop ends it too")
    func otherAgentIsTold() async throws {
        let ran = try await alone(
            Self.twoAgents + """
                for verb in status 'vault ls' 'agent status'; do
                    omvault $verb 2>&1 > /dev/null | grep -o 'another agent of yours, .*, can read 1 vault' | grep -cF "$state/run/agent.sock"
                done
                omvault doctor | grep -P '^other agent\t' | cut -f 2
                omvault status --json 2>&1 > /dev/null | grep -c 'another agent'
                unlock
                omvault agent stop 2>&1
                code omvault agent stop
                job omvault doctor | grep -c '^other agent' || true
                """)
        #expect(ran.output == "1\n1\n1\nwarning\n1\nomvault: 2 agents ended\n61\n0\n", "\(ran)")
    }

    @Test("a rekey in a login session makes the agent of a job drop the old keys")
    func rekey() async throws {
        let ran = try await alone(
            Self.twoAgents + """
                state
                omvault -q key rekey --yes --password-from file:password
                state
                """)
        #expect(ran.output == "\"state\":\"unlocked\"\n\"state\":\"locked\"\n", "\(ran)")
    }

    @Test("a logout, a removed login and a login after a changed profile end the session in the agent of a job too")
    func logins() async throws {
        let ran = try await alone(
            """
            omvault -q profile set work OfflineAuthAllowed=true MaxLoginAttempts=5
            omvault -q login enroll ada --profile work --password-from file:password --kdf-mem 8 --kdf-time 1
            start() { omvault -q login start ada --profile work --mode offline --password-from file:password | cut -d " " -f 1,2; }
            sessions() { env -u XDG_RUNTIME_DIR omvault login status --json | grep -c '"state":"valid"' || true; }
            mkdir -m 700 own
            start; sessions
            (export XDG_RUNTIME_DIR=$PWD/own; omvault logout 2>&1; sessions)
            start
            (export XDG_RUNTIME_DIR=$PWD/own; omvault -q profile set work MaxLoginAttempts=6; start; sessions)
            start
            (export XDG_RUNTIME_DIR=$PWD/own; omvault -q login rm ada --profile work --yes; sessions)
            """)
        #expect(
            ran.output == """
                granted offline
                1
                omvault: logged out ada (work)
                0
                granted offline
                granted offline
                0
                granted offline
                0

                """, "\(ran)")
    }

    @Test("lock does not fail for an unsafe folder without an agent; if one may be there, the error says what was locked (61)")
    func unsafeState() async throws {
        let ran = try await alone(
            """
            mkdir -p -m 700 "$state" own
            export XDG_RUNTIME_DIR=$PWD/own
            chmod 755 "$state"; unlock; code omvault lock
            chmod 700 "$state"; env -u XDG_RUNTIME_DIR omvault -q agent start
            chmod 755 "$state"; unlock; code omvault lock; head -n 1 told | grep -o 'locked vault.* not in another'
            code omvault get item:f --no-input
            chmod 700 "$state"
            """)
        #expect(ran.output == "0\n61\nlocked vault \"personal\" in one agent, but not in another\n8\n", "\(ran)")
    }

    @Test("a folder that others can use, and a link are refused (61), and no other one takes its place")
    func unsafeFolders() async throws {
        let ran = try await alone(
            """
            mkdir -p -m 700 "$state"
            mkdir -m 755 "$session"; try; rm -r "$session"
            mkdir -m 700 other; ln -s "$PWD/other" "$session"; try; rm "$session"
            chmod 755 "$state"; try; chmod 700 "$state"
            mkdir -m 755 "$state/run"; try; rm -r "$state/run"
            ln -s "$PWD/other" "$state/run"; try; rm "$state/run"
            find "$HOME" /run -name 'agent.sock*' | wc -l
            """)
        let open = Self.refused("other users can read or change it"), link = Self.refused("it is a symbolic link")
        #expect(ran.output == open + link + open + open + link + "0\n", "\(ran)")
    }

    @Test(
        "another user's folder is refused (61), at each of the three places",
        .enabled("only root can give a folder away") {
            try await bash("[[ $(id -u) = 0 && $(awk '{print $3; exit}' /proc/self/uid_map) != 1 ]]").status == 0
        })
    func foreignFolders() async throws {
        let ran = try await alone(
            """
            mkdir -p -m 700 "$state"
            mkdir -m 700 "$session"; chown 65534 "$session"; try; rm -r "$session"
            chown 65534 "$state"; try; chown 0 "$state"
            mkdir -m 700 "$state/run"; chown 65534 "$state/run"; try; rm -r "$state/run"
            find "$HOME" /run -name 'agent.sock*' | wc -l
            """)
        let theirs = Self.refused("it belongs to another user")
        #expect(ran.output == theirs + theirs + theirs + "0\n", "\(ran)")
    }

    private static func refused(_ words: String) -> String {
        "61\nis not used for the agent's socket: \(words)\n8\nsecret\n"
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
