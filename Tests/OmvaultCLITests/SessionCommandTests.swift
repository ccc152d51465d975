// Sessions in the agent: their bytes, Ctrl-C, and a killed agent. The page sessions.md has the rest.

import Foundation
import TestSupport
import Testing

@Suite("Sessions at the command line") struct SessionCommandTests {
    /// `eventually` waits for what the agent does by itself.
    private static let start = """
        set -o pipefail
        agent_folder
        basic() { at_nginx AutoLoginAllowed=true KeychainDataProtection=always "$@"; }
        oauth() {
            printf omvault-secret > secret
            omvault -q profile set work AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner \\
                "oauth_discoveryURL=$issuer/.well-known/openid-configuration" OAuthClientID=omvault \\
                "OAuthClientSecret=file:$PWD/secret" OAuthScope=profile ConnectTimeOut=30 TotalTimeOut=30 \\
                OfflineAuthAllowed=true "$@"
        }
        told() { omvault login status --json | grep -o '"sessions":.*' | grep -o "\\"$1\\":[^,}]*" || echo none; }
        murder() { kill -9 "$(omvault agent status --json | grep -o '"process":[0-9]*' | cut -d: -f2)"; eventually no_agent; }
        no_agent() { ! omvault agent status > said 2>&1; }
        tickets() { ls "$XDG_RUNTIME_DIR/omvault" | grep -q omvault-session- && echo ticket || echo clean; }
        asked() { all_logged; grep -c "GET $1 " "$log" || true; }
        ended() { [[ $(asked /logout) == "$1" ]]; }

        """

    /// - Returns: What the script printed, line by line.
    func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test(
        "R23: a session changes no byte of the login's row, and an offline login no byte of its slot"
    )
    func slotUnchanged() async throws {
        let lines = try await script(
            """
            # The agent may be writing there at the end of a session.
            row() { sqlite3 -cmd '.timeout 60000' "$HOME/.local/state/omvault/logins.db" 'SELECT hex(row) FROM logins'; }
            # The last 149 bytes before the MAC of 32.
            slot() { local row=$(row); echo "${row: -362:298}"; }
            same() { [[ $(row) == "$row" ]] && echo "$1" || echo "$1 changed the row"; }
            serve glewlwyd
            oauth
            login
            row=$(row)
            omvault login refresh alice --json | grep -o '"result":"[a-z]*"'
            same refresh
            omvault login status alice --online --json | grep -o '"state":"[a-z]*"'
            same status
            omvault login alice --no-input
            same session
            oauth IdleTimeOutValue=10 SessionTimeOutValue=20
            login
            row=$(row) slot=$(slot)
            echo "${#slot}"
            idle() { [[ $(told state) == '"state":"idle"' ]]; }
            eventually idle
            same idle
            gone() { [[ $(told state) == none ]]; }
            eventually gone
            told state
            same time-out
            check right --mode offline
            [[ $row != $(row) ]] && echo charged
            [[ $slot == $(slot) ]] && echo 'the same slot'
            omvault -q login rm alice --yes
            login
            [[ $slot != $(slot) ]] && echo 'another slot'
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""result":"refreshed""#, "refresh", #""state":"valid""#,
                "status", "granted session user=alice profile=work", "session", "granted online user=alice profile=work",
                "298", "idle", "none", "time-out", "granted offline user=alice profile=work", "charged",
                "the same slot", "granted online user=alice profile=work", "another slot",
            ])
    }

    @Test("R55: a 401 ends the session at once, while the terminal still asks for another password")
    func refusedAtTerminal() async throws {
        let ran = try await atTerminal(
            "set -e\n" + Serving.start + Self.start + """
                serve nginx
                basic
                login
                { until [[ -e done ]]; do [[ $(told user) != none ]] || echo 'it is over'; done; } &
                omvault login alice --remember nothing --mode online --kdf-mem 8 --kdf-time 1 || echo "ended $?"
                touch done
                """,
            [("Password of alice: ", "wrong\n"), ("Password of alice: ", ""), ("it is over", "\u{4}"), ("ended 3", "")],
            environment: try await Server.environment)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("an interrupted logout at a hanging server has ended everything on this machine")
    func interruptedLogout() async throws {
        let ran = try await atTerminal(
            "set -e\n" + Serving.start + Self.start + """
                trap : INT
                serve nginx
                basic
                login --remember auto
                kill -STOP "$(cat web/pid)"
                none() { [[ $(told user) == none ]]; }
                { eventually none; echo 'it is over'; } &
                omvault logout || echo "ended $?"
                omvault login status --json | grep -o '"password":[a-z]*'
                kill -CONT "$(cat web/pid)"
                """, [("it is over", "\u{3}"), ("ended 130", "")], environment: try await Server.environment)
        #expect(ran.status == 0 && ran.output.contains("\"password\":false"), "\(ran.output)\(ran.errors)")
    }

    @Test("a session survives the agent's death if the profile allows it, and a logout without an agent ends it")
    func restart() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let lines = try await script(
            """
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
            serve nginx
            basic
            login
            murder
            omvault -q agent start
            told user
            basic SessionActiveOnRestart=true
            login 2> words; cat words
            told survives_restart
            murder
            omvault -q agent start
            told user; told survives_restart
            murder
            tickets
            omvault logout alice --json | grep -o '"session":[a-z]*\\|"server":"[a-z]*"'
            asked /logout
            tickets
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "none", "granted online user=alice profile=work",
                #""survives_restart":true"#, #""user":"alice""#, #""survives_restart":true"#, "ticket", #""session":true"#,
                #""server":"ended""#, "1", "clean",
            ])
    }

    @Test(
        "if the agent's folder is on a disk, no session survives the agent's death, and the login says so",
        .enabled("/var/tmp is in memory") { try await bash("stat -f -c %T \(TestFolder.disk)").output != "tmpfs\n" })
    func restartOnDisk() async throws {
        let lines = try await script(
            """
            export XDG_RUNTIME_DIR=$(mktemp -d \(TestFolder.disk)/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
            serve nginx
            basic SessionActiveOnRestart=true
            login 2> words; cat words
            told survives_restart
            tickets
            login --mode offline 2> words; wc -l < words
            murder
            omvault -q agent start
            told user
            basic SessionActiveOnRestart=false
            login 2> words; cat words
            told survives_restart
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "omvault: the session ends with the agent, though the profile has SessionActiveOnRestart: the agent's folder is "
                    + "not in memory; set XDG_RUNTIME_DIR to a folder on a tmpfs, then log in again",
                #""survives_restart":false"#, "clean", "granted offline user=alice profile=work", "1", "none",
                "granted online user=alice profile=work", #""survives_restart":false"#,
            ])
    }
}
