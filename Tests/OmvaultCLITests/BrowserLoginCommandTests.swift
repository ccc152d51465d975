// Logins at the server's own pages, from the command to a real server: docs/guide/browser-login.md.

import Foundation
import TestSupport
import Testing

@Suite("Logins in a browser") struct BrowserLoginCommandTests {
    /// A Glewlwyd of this test, since only one login at a time can listen at the port that the server knows. `./browser` opens a page
    /// as alice, who is logged in there, and follows the redirect. `approve FILE` approves the code in FILE.
    static let start = #"""
        set -o pipefail
        agent_folder
        serve glewlwyd
        base=http://127.0.0.1:$port
        at_page() { curl -s -b jar -c jar -o /dev/null -H 'Content-Type: application/json' "$@"; }
        at_page "$base/api/auth/" -d '{"username":"alice","password":"correct horse 42"}'
        at_page -X PUT "$base/api/auth/grant/native" -d '{"scope":"openid profile"}'
        cat > browser <<'END'
        #!/bin/bash
        echo "$1" >> opened
        to=$(curl -s -b jar -o /dev/null -w '%{redirect_url}' "$1&g_continue")
        for wrong in $(cat wrong-answers 2> /dev/null); do curl -s -o /dev/null "$redirect?$wrong"; done
        echo "$to" >> followed
        curl -s -o page "$to"
        END
        chmod +x browser; export redirect
        approve() {
            local code
            eventually grep -q '"code"' "$1"
            code=$(sed -n 's/.*"code":"\([^"]*\)".*/\1/p' "$1")
            at_page "$issuer/device?code=$code&g_continue"
        }
        sso() {
            omvault -q --yes profile discover sso "$issuer" --client-id native --grant OAuthAuthorizationCode \
                "OAuthRedirectEndpoint=$redirect" 'OAuthScope=openid profile' TokenRelease=allow ConnectTimeOut=30 TotalTimeOut=60 "$@"
        }
        in_browser() { omvault -q login --profile sso --browser ./browser --json "$@"; }
        user() { sed -n 's/.*"user":"\([^"]*\)".*/\1/p'; }

        """#

    /// - Returns: What the script printed, line by line.
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("a login in a browser gives a session with tokens; another user and a wrong answer get nowhere; logout revokes")
    func code() async throws {
        let lines = try await script(
            #"""
            sso
            # Answers that are not of this login come first: without a state, with another one, with an error.
            printf '%s\n' code=x 'code=x&state=other' 'error=access_denied&state=other' state=other > wrong-answers
            who=$(in_browser 2> shown | user); echo "${#who}"
            grep -c '"step":"open"' shown
            [[ $(cat page) == *'You can close this page'* && $(cat page) != *script* ]] && echo page
            in_browser 2>&1 | grep -o '"mode":"session"'
            # A session whose token has the scopes answers without the server; for others there is a new login.
            in_browser --scopes openid 2>&1 | grep -o '"mode":"session"'
            in_browser --scopes 'openid nothing' 2> /dev/null | grep -o '"mode":"online"'
            omvault token get sso > one; omvault token get sso --fresh > two
            cmp -s one two || echo renewed
            curl -s -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $(cat two)" "$issuer/userinfo"
            # The server knows who is at the browser.
            refused 51 omvault -q login bob --profile sso --browser ./browser --json
            in_browser --force | grep -c granted
            omvault -q logout "$who"
            refused 10 omvault token get sso
            refused 24 omvault login --profile sso --mode offline
            refused 4 omvault login check alice --profile sso --password-from file:right
            refused 2 omvault login --profile sso --password-from file:right
            refused 8 omvault login --profile sso --no-input
            """#)
        #expect(
            lines == ["32", "1", "page", #""mode":"session""#, #""mode":"session""#, #""mode":"online""#, "renewed", "200", "1"],
            "\(lines)")
    }

    @Test("neither state nor code nor access token is in any file of the home or of the agent")
    func nowhere() async throws {
        let lines = try await script(
            #"""
            sso SessionActiveOnRestart=true
            in_browser > said 2> shown
            omvault token get sso > ../token-$$
            state=$(sed -n 's/.*[?&]state=\([^&]*\).*/\1/p' opened)
            echo "${#state}"
            # The browser's own files have the address.
            code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' followed); echo "${#code}"
            rm opened followed page shown
            for word in "$state" "$code" "$(cat ../token-$$)" "$(cut -c 1-60 ../token-$$)"; do
                grep -rlaF -- "$word" . --exclude-dir=web && echo found || echo clean
            done
            rm ../token-$$
            """#)
        #expect(lines == ["43", "32", "clean", "clean", "clean", "clean"], "\(lines)")
    }

    @Test("a code for another device logs in once the user has approved it; a login that is ended leaves no helper")
    func device() async throws {
        let lines = try await script(
            #"""
            sso
            by_code() { exec omvault -q login --profile sso --device --json; }
            (by_code) > said 2> shown & login=$!
            approve shown
            wait "$login"; user < said | wc -c
            # The server's own session is in another browser, so none opens here.
            omvault logout "$(user < said)" --browser ./browser --json 2> noticed | grep -o '"browser":false'
            grep -c 'may still know the user' noticed; [[ -e opened ]] || echo "not opened"
            # Without a display the command takes the code by itself.
            (unset DISPLAY WAYLAND_DISPLAY; exec omvault login --profile sso --json) > said2 2> shown2 & login=$!
            approve shown2
            wait "$login"; grep -c '"step":"enter"' shown2
            omvault -q logout "$(user < said2)"
            # The command is ended, and its helper with it.
            (by_code) > said3 2> shown3 & login=$!
            eventually grep -q '"code"' shown3
            helper=$(cat "/proc/$login/task/"*/children)
            tr '\0' ' ' < "/proc/${helper% }/cmdline" | grep -o -- --online
            kill -TERM "$login"; wait "$login" || echo "ended"
            eventually is_gone "${helper% }"
            """#)
        #expect(lines == ["33", #""browser":false"#, "1", "not opened", "1", "--online", "ended"], "\(lines)")
    }

    @Test("without a person the command ends by itself; a taken port and a foreign redirect address have codes too")
    func refusals() async throws {
        let lines = try await script(
            #"""
            sso AuthTimeOutVal=1
            refused 3 omvault -q login --profile sso --redirect loopback --browser none --json
            grep -c not_finished .refused
            # The browser never gets the tokens of a code that is not ours.
            omvault -q profile set sso AuthTimeOutVal=60
            seq 1 20 | sed 's/^/state=/' > wrong-answers
            refused 52 omvault -q login --profile sso --browser ./browser --json
            grep -o wrong_answers .refused | head -n 1
            rm wrong-answers
            # Another program listens there.
            python3 - "${redirect##*:}" > listening <<'END' &
            import signal, socket, sys
            taken = socket.socket()
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", int(sys.argv[1].split("/")[0])))
            taken.listen()
            print("listening", flush=True)
            signal.pause()
            END
            other=$!
            eventually grep -q listening listening
            refused 16 omvault -q login --profile sso --browser ./browser --json
            kill "$other"; wait "$other" || true
            omvault -q profile set sso OAuthRedirectEndpoint=http://10.0.0.1/cb
            refused 9 omvault -q login --profile sso --browser ./browser --json --redirect loopback
            omvault -q profile set sso OAuthRedirectEndpoint=com.example.app:/cb
            refused 8 setsid omvault -q login --profile sso --json
            omvault -q profile set work AuthServerType=HTTPBasicAuthentication LoginURL=https://a.example LogoutURL=https://a.example
            refused 2 omvault -q login alice --profile work --device
            refused 2 omvault -q login --profile sso --device --redirect paste
            """#)
        #expect(lines == ["1", "wrong_answers"], "\(lines)")
    }

    @Test(
        "a preset of this machine makes a profile for logins in a browser and by a code",
        .enabled(if: geteuid() == 0, "needs a mount namespace of its own"))
    func preset() async throws {
        let lines = try await script(
            #"""
            cat > inside <<END
            set -eu
            mount -t tmpfs none /etc
            mkdir /etc/omvault
            cat > /etc/omvault/presets.json <<'EOF'
            {"ours": {"about": "The server of this test", "proven": true, "source": "this test", "settings":
             {"OAuthIssuer": "$issuer", "OAuthScope": "openid profile", "OAuthRedirectEndpoint": "$redirect"}}}
            EOF
            omvault profile preset ls --format plain | grep '^ours' | tr '\t' ' '
            discover() { omvault -q --yes profile discover sso --preset "\$1" --client-id native ConnectTimeOut=30 TotalTimeOut=60; }
            discover ours
            discover our 2> /dev/null || echo "exit \$?"
            chmod 666 /etc/omvault/presets.json
            discover ours 2> /dev/null || echo "exit \$?"
            chmod 644 /etc/omvault/presets.json
            echo '{"ours": {}}' > /etc/omvault/presets.json
            discover ours 2> /dev/null || echo "exit \$?"
            END
            unshare -m bash inside
            who=$(in_browser | user); echo "${#who}"
            omvault -q logout "$who"
            (exec omvault -q login --profile sso --device --json) > said 2> shown & login=$!
            approve shown
            wait "$login"; user < said | wc -c
            """#)
        #expect(
            lines == ["ours yes machine The server of this test", "exit 10", "exit 14", "exit 9", "32", "33"], "\(lines)")
    }
}
