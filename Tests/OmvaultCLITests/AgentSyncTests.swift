// Agents that sync by themselves: two homes, each with an agent, and a folder between them.

import Foundation
import TestSupport
import Testing

@Suite("The agent syncs") struct AgentSyncTests {
    /// `agent_of HOME OPTIONS…` starts the agent of a home. No password is there for the commands after `unlock_of`.
    static let agents =
        SyncCommandTests.devices + """
            umask 077
            on() { local home=$HOME/$1; shift; XDG_RUNTIME_DIR=$home/run HOME=$home omvault "$@"; }
            mkdir a/run b/run
            trap 'for home in a b; do on $home -q agent stop 2> /dev/null || true; done' EXIT
            agent_of() { on "$1" -q agent start "${@:2}"; }
            process_of() { on "$1" agent status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["process"])'; }
            unlock_of() { on "$1" -q unlock; }
            shows() { [[ $(OMVAULT_PASSWORD_FROM= on "$1" --no-input get "$2" 2> /dev/null) == "$3" ]]; }
            quietly() { OMVAULT_PASSWORD_FROM= on "$1" -q --no-input "${@:2}"; }

            """

    @Test("an edit on one device arrives on the other one, and no one types 'sync now'")
    func arrives() async throws {
        let ran = try await bash(
            Self.agents + """
                found; pair
                for home in a b; do agent_of $home --sync-every 1; unlock_of $home; done
                quietly a set github:password --value-from file:from-a
                eventually shows b github:password from-a
                quietly b set github:password --value-from file:from-b
                eventually shows a github:password from-b
                mv stick drawer
                quietly a set github:password --value-from file:new
                mv drawer stick
                eventually shows b github:password new
                echo arrived
                """)
        #expect(ran.output == "arrived\n", "\(ran)")
    }

    @Test("a remote that was added after the unlock gets its first exchange after an edit; --no-sync sends nothing")
    func addedLater() async throws {
        let ran = try await bash(
            Self.agents + """
                found; pair
                heads() { find stick -type f | sort; }
                agent_of a --no-sync; unlock_of a
                before=$(heads)
                quietly a set github:password --value-from file:from-a
                agent_of b --sync-every 1; unlock_of b
                on a -q agent stop
                [[ $(heads) == "$before" ]] && echo 'nothing sent'
                agent_of a --sync-every 1; unlock_of a
                eventually shows b github:password from-a
                mkdir other; on a -q sync remote rm 1 --yes > /dev/null 2>&1 || on a -q sync remote rm 1 > /dev/null
                on a -q agent stop; agent_of a; unlock_of a
                on a -q sync remote add other --create
                quietly a set github:password --value-from file:new
                has_pack() { find other -type f | grep -q pack; }
                eventually has_pack
                echo sent
                """)
        #expect(ran.output == "nothing sent\nsent\n", "\(ran)")
    }

    @Test("a folder that does not answer holds neither a read nor an edit nor a lock, and the lock ends the helper")
    func hung() async throws {
        let ran = try await bash(
            Self.agents + """
                found; pair
                agent_of a --sync-every 1
                unlock_of a
                agent=$(process_of a)
                # The helper is no child of the test, and other tests run at the same time: those of this agent only.
                helpers() { pgrep -P "$agent" || true; }
                stopped() {
                    for helper in $(helpers); do
                        kill -STOP "$helper" 2> /dev/null || continue
                        # If its last answer was ready, the agent kills it now. Otherwise the agent waits for it.
                        local looks
                        for looks in {1..100}; do grep -qs '^State:.T' /proc/$helper/status || continue 2; done
                        return 0
                    done
                    return 1
                }
                eventually stopped
                held=$helper
                quietly a get github:password; echo
                quietly a set github:password --value-from file:new
                quietly a get github:password; echo
                grep -q '^State:.T' /proc/$held/status && echo 'still held'
                quietly a lock
                ended() { ! grep -qs '^State:.[TRSD]' /proc/$held/status; }
                eventually ended
                echo 'helper ended'
                refused 8 quietly a get github:password
                """)
        #expect(ran.output == "old\nnew\nstill held\nhelper ended\n", "\(ran)")
    }

    @Test("an exchange is no use of the vault: its idle time runs on")
    func idle() async throws {
        let ran = try await bash(
            Self.agents + """
                found; pair
                agent_of a --sync-every 1 --idle 8; unlock_of a
                agent_of b --sync-every 1; unlock_of b
                # Each exchange of A brings an edit of B, so exchanges go on until the lock.
                is_locked() {
                    quietly b set github:password --value-from file:new
                    ! on a status --json | grep -qE '"state": *"unlocked"'
                }
                eventually is_locked
                echo locked
                """)
        #expect(ran.output == "locked\n", "\(ran)")
    }
}
