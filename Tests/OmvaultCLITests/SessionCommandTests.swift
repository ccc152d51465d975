// What `omvault login` leaves behind, against real servers: sessions in the agent, `logout`, and what ends with what.

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

    @Test("HTTP Basic: a session that answers the next login, and a logout that asks LogoutURL and ends with the cookies")
    func basic() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            login
            omvault login
            omvault login alice --no-input
            told user; told mode; told state; told server_session
            omvault logout --json
            asked /logout
            told user
            refused 8 omvault login alice --no-input
            check right --mode offline
            omvault logout alice --json
            login
            told user
            omvault login status --online 2>&1 > /dev/null | grep -o 'the session has ended'
            told user
            login
            omvault -q login rm alice --yes
            told user
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "granted session user=alice profile=work",
                "granted session user=alice profile=work", #""user":"alice""#, #""mode":"online""#, #""state":"valid""#,
                #""server_session":true"#,
                #"{"schema":"omvault/1","result":"logged_out","user":"alice","profile":"work","domain":null,"session":true,"server":"ended","sdk_code":null,"cleared":false}"#,
                "1", "none", "granted offline user=alice profile=work",
                #"{"schema":"omvault/1","result":"logged_out","user":"alice","profile":"work","domain":null,"session":false,"server":"not_asked","sdk_code":null,"cleared":false}"#,
                "granted online user=alice profile=work", #""user":"alice""#, "the session has ended", "none",
                "granted online user=alice profile=work", "none",
            ])
    }

    @Test("a server that is gone keeps nobody logged in here, and is spoken of; --clear leaves nothing of the login")
    func logoutWithoutServer() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            login --remember auto
            tell stop
            omvault logout 2> words; cat words
            told user
            omvault login status --json | grep -o '"remembered":.*' | grep -o '"password":[a-z]*'
            login --mode offline
            told mode; told server_session
            omvault -q logout alice --clear
            told user
            omvault login status alice --profile work --json | grep -o '"remembered":[^]]*]\\|"reason":"[a-z_]*"'
            refused 24 check right --mode offline
            omvault log ls --logins | cut -f 5 | tail -n 3
            refused 2 omvault logout alice --system
            cat .refused
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "omvault: the session ended here, but may stay open at the server: the server was not reached: the connection was refused",
                "omvault: logged out alice (work)", "none", #""password":false"#, "granted offline user=alice profile=work",
                #""mode":"offline""#, #""server_session":false"#, "none", #""reason":"no_credential""#, #""remembered":[]"#,
                "logged_out", "cleared", "refused",
                "omvault: error: the system store keeps no sessions: PAM only checks passwords",
                "omvault: hint: omvault login rm USER --system removes a cached credential",
            ])
    }

    @Test("a ledger that cannot be read hides no session and keeps none from ending, and a login makes it anew")
    func damagedLedger() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            ledger=.local/state/omvault/logins.db
            shown() { grep -o '"logins":\\[[^]]*]\\|"sessions":\\[{"user":"[a-z]*"\\|"sessions":\\[]' .refused; }
            said() { grep -v hint .refused; }
            login --remember auto
            : > $ledger
            refused 30 omvault login status --json; shown
            refused 30 omvault logout alice; said
            asked /logout
            refused 30 omvault logout --clear alice; said
            refused 30 omvault login status --json; shown
            refused 8 omvault login alice --no-input
            refused 20 omvault login alice --kdf-mem 8 --kdf-time 1 --password-from file:wrong; grep denied .refused
            login --remember auto 2> words; grep -c 'could not be read' words; grep -c 'not remembered' words || true
            omvault -q logout
            printf rubbish > .local/state/omvault-device/device.key
            login
            refused 30 omvault login status --json; shown
            refused 30 omvault logout; said | sed -n 1p
            refused 30 omvault login status --json; shown
            """)
        let error = "omvault: error: the cached credential is damaged or was changed; it was not used"
        let unchanged = "the cached credential and the remembered data could not be changed"
        #expect(
            lines == [
                "granted online user=alice profile=work", #""logins":[]"#, #""sessions":[{"user":"alice""#,
                "omvault: the session of alice (work) ended; \(unchanged)", error, "1",
                "omvault: there was no session of alice (work); \(unchanged)", error, #""logins":[]"#, #""sessions":[]"#,
                "denied reason=rejected", "granted online user=alice profile=work", "1", "0",
                "granted online user=alice profile=work not_cached=device_key_damaged", #""logins":[]"#,
                #""sessions":[{"user":"alice""#, "omvault: the session of alice (work) ended; \(unchanged)",
                #""logins":[]"#, #""sessions":[]"#,
            ])
    }

    @Test("OAuth: who asks for new tokens at once gets the one answer; a logout has the server take them back")
    func oauth() async throws {
        let lines = try await script(
            """
            serve glewlwyd
            oauth
            login
            omvault -q login refresh alice
            omvault login refresh alice --json | grep -o '"result":"[a-z]*"\\|"state":"[a-z]*"'
            for n in 1 2 3 4 5 6; do omvault -q login refresh alice & done
            for job in $(jobs -p | tail -n 6); do wait "$job"; done
            omvault login status alice --online --json | grep -o '"state":"[a-z]*"'
            grep -c 'revoked' "$log" || true
            omvault -q logout
            grep -c 'Refresh token generated for client .omvault. revoked' "$log"
            refused 10 omvault login refresh alice
            # This server takes a refresh token once: of six that went by themselves, five would have failed.
            (( $(grep -c 'Access token generated' "$log") < 9 )) && echo few
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""result":"refreshed""#, #""state":"valid""#, #""state":"valid""#,
                "0", "1", "few",
            ])
    }

    @Test(
        "R23: renewals, questions, session answers and time-outs change no byte of the login's row, and an offline login none of its slot"
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

    @Test("a check ends at the server what it opened there, and keeps no session")
    func checkLeavesNothing() async throws {
        let lines = try await script(
            """
            serve glewlwyd
            oauth
            check right
            told user
            grep -c 'Refresh token generated for client .omvault. revoked' "$log"
            grep -c 'Access token jti .* revoked' "$log"
            """)
        #expect(lines == ["granted online user=alice profile=work", "none", "1", "1"])
    }

    @Test("R55: what a refusal takes away of a session goes at once: a 401, and one wrong password too many offline")
    func refusals() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            login
            refused 20 check wrong --mode offline
            told user
            refused 20 check wrong
            told user
            eventually ended 1
            login
            omvault -q profile set work "LoginURL=https://localhost:$port/login?as=status/403"
            refused 51 check right
            told user
            basic
            login
            for n in 1 2; do refused 20 check wrong --mode offline; done
            told user
            refused 23 check wrong --mode offline
            told user
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""user":"alice""#, "none",
                "granted online user=alice profile=work", "none", "granted online user=alice profile=work",
                #""user":"alice""#, "none",
            ])
    }

    @Test("R55: a lock-out ends the session, also while the server is out of reach")
    func lockedOut() async throws {
        let lines = try await script(
            """
            fails() { code=0; "$@" > .failed 2>&1 || code=$?; [[ $code != 0 ]] || { cat .failed; exit 97; }; }
            serve nginx
            basic OnAttemptsExceeded=lockout
            login
            tell stop
            for n in 1 2; do fails check wrong; done
            told user
            fails check wrong
            told user
            """)
        #expect(lines == ["granted online user=alice profile=work", #""user":"alice""#, "none"])
    }

    @Test("R55: an account that the server blocks has no session any more")
    func blocked() async throws {
        let lines = try await script(
            """
            serve odd
            token() {
                omvault -q profile set work AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner \\
                    "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=$1" OAuthClientID=omvault ConnectTimeOut=30 TotalTimeOut=30 \\
                    OfflineAuthAllowed=true
            }
            token plain
            login
            told user
            token disabled
            code=0; check right > said 2>&1 || code=$?
            echo "$code"
            told user
            """)
        #expect(lines == ["granted online user=alice profile=work", #""user":"alice""#, "22", "none"])
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
            environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("a logout that somebody interrupts while the server hangs has ended everything here")
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
                """, [("it is over", "\u{3}"), ("ended 130", "")], environment: ["SERVE": Programs.serve])
        #expect(ran.status == 0 && ran.output.contains("\"password\":false"), "\(ran.output)\(ran.errors)")
    }

    @Test("time-outs: an idle session answers nobody and is revived offline; at its end the remembered password goes too")
    func timeOuts() async throws {
        let lines = try await script(
            """
            serve nginx
            basic IdleTimeOutValue=10 SessionTimeOutValue=20
            login --remember auto
            told state
            idle() { [[ $(told state) == '"state":"idle"' ]]; }
            eventually idle
            tell stop
            omvault login --kdf-mem 8 --kdf-time 1 | sed 's/ age=[0-9]*//'
            told state; told mode; told server_session
            password() { omvault login status --json | grep -o '"password":[a-z]*'; }
            password
            over() { [[ $(told state) == none ]]; }
            eventually over
            gone() { [[ $(password) == '"password":false' ]]; }
            eventually gone
            omvault log ls --logins | cut -f 5,6 | grep cleared
            check right --mode offline
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""state":"valid""#,
                "granted offline user=alice profile=work not_online=unreachable", #""state":"valid""#, #""mode":"offline""#,
                #""server_session":true"#, #""password":true"#,
                "cleared\tidle time-out", "cleared\tidle time-out", "cleared\tsession time-out",
                "granted offline user=alice profile=work",
            ])
    }

    @Test("without an agent a login is one, says that no session is kept, and ends at the server what nobody keeps")
    func withoutAgent() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            unset XDG_RUNTIME_DIR
            login 2> words; cat words
            asked /logout
            omvault login alice --kdf-mem 8 --kdf-time 1 --password-from file:right --json 2> words | grep -o '"session_kept":[a-z]*'
            omvault logout alice
            refused 10 omvault login refresh alice
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "omvault: no session is kept: the agent has no safe folder for its socket: XDG_RUNTIME_DIR does not name a folder of yours",
                "1", #""session_kept":false"#,
            ])
    }

    @Test("a session lives on over the agent's death where the profile says so, and is ended though no agent runs")
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
        "with its folder on a disk no session lives on over the agent's death, whatever the profile says: told at the login",
        .enabled("the tests' folder is in memory") { try await bash("stat -f -c %T .").output != "tmpfs\n" })
    func restartOnDisk() async throws {
        let lines = try await script(
            """
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

    @Test("the remembered password goes with the logout where the profile says so, and never elsewhere")
    func authorizationInLogout() async throws {
        let lines = try await script(
            """
            serve nginx
            basic SendAuthorizationHeaderInLogout=true
            omvault -q profile set work "LogoutURL=https://localhost:$port/tenant"
            login
            omvault -q logout
            all_logged
            grep 'GET /tenant ' "$log" | cut -d ' ' -f 3,9
            login --remember auto
            omvault -q logout
            all_logged
            grep 'GET /tenant ' "$log" | cut -d ' ' -f 3,9
            """)
        // nginx names the user whose password was right.
        #expect(
            lines == [
                "granted online user=alice profile=work", "- 401", "granted online user=alice profile=work", "- 401",
                "alice 200",
            ])
    }

    @Test("a refused login's JSON error has the SDK's number")
    func sdkCodes() async throws {
        let lines = try await script(
            """
            serve nginx
            basic
            login
            code() { { omvault login check "$@" --json --no-input 2>&1 || true; } | grep -o '"sdk_code":[0-9]*' || echo none; }
            code alice --password-from file:wrong --mode offline
            code alice --password-from file:wrong
            code bob --password-from file:wrong --mode offline
            code alice --password-from file:right --profile nobody
            omvault -q profile set work "LoginURL=https://localhost:$port/login?as=status/403"
            code alice --password-from file:right --mode online
            omvault -q profile set work "LoginURL=https://localhost:1/login"
            code alice --password-from file:right --mode online
            : > empty
            code alice --password-from file:empty --mode offline
            code alice --password-from tty --mode offline
            omvault -q profile set work CollectIdentityDomain=true
            code alice --password-from file:right
            code alice --password-from file:wrong --mode online --domain acme
            omvault -q profile set work "LoginURL=https://localhost:$port/login"
            code alice --password-from file:wrong --mode online --domain acme
            omvault -q profile rm work --yes
            basic
            login --force
            omvault -q profile set work "LogoutURL=https://localhost:$port/status/500"
            login --force
            omvault logout alice --json 2>&1 | grep -o '"sdk_code":[a-z0-9]*'
            omvault -q profile set work LogoutTimeOutValue=1 "LogoutURL=https://localhost:$port/logout"
            login --force
            kill -STOP "$(< web/pid)"
            omvault logout alice --json 2>&1 | grep -o '"sdk_code":[a-z0-9]*'
            kill -CONT "$(< web/pid)"
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""sdk_code":10003"#, #""sdk_code":10003"#, #""sdk_code":10408"#,
                "none", #""sdk_code":10408"#, #""sdk_code":10001"#, #""sdk_code":10039"#, #""sdk_code":10039"#,
                #""sdk_code":10037"#, #""sdk_code":10001"#, #""sdk_code":10011"#, "granted online user=alice profile=work",
                "granted online user=alice profile=work", #""sdk_code":10035"#,
                "granted online user=alice profile=work", #""sdk_code":10034"#,
            ])
    }
}
