// Sessions that the ledger remembers, from the command to the server: docs/reference/tokens.md, "Sessions that outlive a reboot".

import Foundation
import TestSupport
import Testing

@Suite("Remembered sessions at the command line") struct RememberedSessionCommandTests {
    /// A login at an endpoint whose first token is dead, whose tokens all differ, and that takes each refresh token once.
    private static let start = """
        set -o pipefail
        agent_folder
        serve odd
        unique() {
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=unique" TokenRelease=allow "$@"
            login
        }
        refreshed() { grep -c grant_type=refresh_token "$seen" || true; }
        process() { omvault agent status --json | grep -o '"process":[0-9]*' | cut -d: -f2; }
        murder() { kill -9 "$(process)"; eventually no_agent; }
        no_agent() { ! omvault agent status > said 2>&1; }

        """

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("a remembered session outlives the agent at its level; an older ledger, a logout and another profile end it")
    func remembered() async throws {
        let lines = try await script(
            """
            remembered() { unique RememberTokens=true "KeychainDataProtection=KeychainDataAccessible$1"; }
            remembered Always
            omvault token get work; echo
            # No agent runs, and the server is down. The command starts an agent, and no user logs in.
            murder; touch web/down
            for n in 1 2 3 4; do omvault token get work > got.$n & done; wait
            sort got.* | uniq -c | tr -s ' '
            omvault token ls | tail -n 1 | tr -s ' \\t' ' ' | sed 's/ [0-9]* allow/ LEFT allow/'
            omvault -q agent stop
            refused 50 omvault token get work --min-valid 4000
            murder; rm web/down
            # The server takes each refresh token once. So a lost one would end the session here.
            for n in 1 2 3; do omvault token get work --fresh; echo; murder; done
            mkdir older; cp .local/state/omvault/logins.db* older
            omvault token get work --fresh; echo
            murder
            # Attack: the refresh token of the older ledger would make the server end the newest one.
            rm .local/state/omvault/logins.db*; cp older/* .local/state/omvault
            before=$(refreshed)
            refused 10 omvault token get work
            [[ $(refreshed) == "$before" ]] && echo silent
            login; omvault token get work; echo
            murder
            omvault -q logout
            refused 10 omvault token get work
            login
            murder
            omvault -q profile set work OAuthScope=a
            refused 10 omvault token get work
            # At a level of the vault
            printf 'pw' > vault-password; export OMVAULT_PASSWORD_FROM=file:$PWD/vault-password
            omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q unlock
            remembered WhenUnlocked
            murder
            refused 7 omvault token get work
            omvault -q unlock
            omvault token get work; echo
            # The agent renews it while the level is locked.
            omvault -q lock
            omvault token get work --fresh; echo
            murder
            omvault -q unlock
            omvault token get work; echo
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "at-2", " 4 at-2", "work alice a b LEFT allow yes", "at-3", "at-4",
                "at-5",
                "at-6", "silent",
                "granted online user=alice profile=work", "at-8", "granted online user=alice profile=work",
                "granted online user=alice profile=work", "at-11", "at-12", "at-12",
            ])
    }
}
