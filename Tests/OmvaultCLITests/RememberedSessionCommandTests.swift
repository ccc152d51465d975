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
            remembered() {
                unique RememberTokens=true "KeychainDataProtection=KeychainDataAccessible$1" \\
                    "RESTOrigins=http://127.0.0.1:$http" "OAuthRevocationEndpoint=http://127.0.0.1:$http/token/revoke"
            }
            there() { XDG_RUNTIME_DIR=$PWD/second omvault "$@"; }
            elsewhere() { there token get work --user alice --fresh; there -q agent stop; echo; }
            remembered Always
            omvault token get work; echo
            # No agent runs, and the server is down. The command starts an agent, and no user logs in.
            murder; touch web/down
            omvault login status --json | grep -o '"ledger_sessions":.*' | cut -d, -f1-3
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
            omvault profile set work OAuthScope=a > said 2>&1; grep -o '1 kept session of it was deleted' said
            omvault -q profile set work --unset OAuthScope
            refused 10 omvault token get work
            # Two agents with the same session: the server is not asked with the spent refresh token.
            # Another user's session, which only the ledger has, never takes its place.
            mkdir -m 700 second
            login
            there -q login bob --kdf-mem 8 --kdf-time 1 --password-from file:right > said
            elsewhere
            omvault token get work --fresh; echo
            elsewhere
            curl -s -o said -d '[{"status":401,"body":"","fields":[]},{"status":200,"body":"yes","fields":[]}]' "http://127.0.0.1:$http/tell/a"
            omvault rest GET "http://127.0.0.1:$http/told/a" --profile work; echo
            grep -o 'Bearer at-1[0-9]' "$seen"
            elsewhere
            omvault token revoke work --json | grep -o '"result":"revoked"'
            grep -o 'token=rt-[0-9]*' "$seen" | tail -n 1
            refused 10 omvault token get work --user alice
            # A logout tells the server the newest tokens, too.
            login
            elsewhere
            omvault -q logout alice
            grep -o 'token=rt-[0-9]*' "$seen" | tail -n 1
            omvault -q logout bob
            # At a level of the vault
            printf 'pw' > vault-password; export OMVAULT_PASSWORD_FROM=file:$PWD/vault-password
            omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
            omvault -q unlock
            remembered WhenUnlocked
            murder
            refused 7 omvault token get work
            omvault -q unlock
            omvault token get work; echo
            # The newer state of another agent stays in the ledger while the level is locked.
            there -q unlock
            elsewhere
            omvault -q lock
            refused 7 omvault rest GET "http://127.0.0.1:$http/told/a" --profile work --resource "http://127.0.0.1:$http"
            omvault -q unlock
            omvault token get work; echo
            # The agent renews it while the level is locked.
            omvault -q lock
            omvault token get work --fresh; echo
            murder
            omvault -q unlock
            omvault token get work; echo
            # A logout while the level is locked cannot tell the server.
            murder
            omvault logout 2>&1 | grep -o -e 'refresh token lives on there' -e 'deleted the remembered session of alice'
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "at-2",
                #""ledger_sessions":[{"profile":"work","user":"alice","domain":null}]"#, " 4 at-2",
                "work alice a b LEFT allow yes Bearer", "at-3", "at-4",
                "at-5",
                "at-6", "silent",
                "granted online user=alice profile=work", "at-8", "granted online user=alice profile=work",
                "1 kept session of it was deleted", "granted online user=alice profile=work", "at-12", "at-13",
                "at-14", "yes", "Bearer at-13", "Bearer at-14", "at-15", #""result":"revoked""#, "token=rt-15",
                "granted online user=alice profile=work", "at-17", "token=rt-17",
                "granted online user=alice profile=work", "at-19", "at-20", "at-20", "at-21", "at-21",
                "refresh token lives on there",
                "deleted the remembered session of alice",
            ])
    }
}
