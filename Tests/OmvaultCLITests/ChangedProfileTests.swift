// A session whose agent was killed and whose profile was changed. The page sessions.md has the other changes.

import Testing

extension SessionCommandTests {
    @Test("the next login ends a session of a killed agent and a changed profile; one logout ends two sessions of one name")
    func changedProfileTicket() async throws {
        let lines = try await script(
            """
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
            serve nginx
            basic SessionActiveOnRestart=true
            login
            kill -9 "$(omvault agent status --json | grep -o '"process":[0-9]*' | cut -d: -f2)"
            no_agent() { ! omvault agent status > said 2>&1; }
            eventually no_agent
            omvault -q profile set work "LoginURL=https://localhost:$port/tenant"
            login 2> words; grep -o 'it was ended' words
            omvault login status --json | grep -o '"outdated":[a-z]*'
            eventually ended 1
            ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-session-
            omvault -q logout alice
            ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-session- || true
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "granted online user=alice profile=work", "it was ended",
                #""outdated":false"#, "1", "0",
            ])
    }
}
