// A day's work with tokens and clients' secrets against real servers, and a search for each of them in every place where another
// program, another user or a later day could find it.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A day of tokens", .enabled(if: geteuid() == 0, "only root reads every process, and has a /dev/log of its own"))
struct DayOfTokensTests {
    /// Glewlwyd and the server of exchanges are behind relays. `ask WORDS…` runs omvault, for which the script wants a token: its
    /// output goes to the folder `asked`.
    private static let servers = #"""
        touch mark; mkdir asked given
        serve day day
        mkdir web; echo "$outer" > web/outer

        """#

    private static let begin = #"""
        mv vp right wrong given/
        export OMVAULT_PASSWORD_FROM=file:given/vp
        mount -t tmpfs -o mode=700 none "$XDG_RUNTIME_DIR"

        """#

    private static let work = #"""
        skipped=foreign:odd:day:web:.system
        # The port of the first server that `serve` named, and the other one.
        echo "$port" > "$day/outer.port"
        serve foreign exchange
        echo "$http" > "$day/second.port"; foreign=$http
        cp "$tokens"/good.jwt "$tokens/secret" given/
        serve odd odd
        at_page() { curl -s -b jar -c jar -o page -H 'Content-Type: application/json' "$@"; }
        at_page "$base/api/auth/" -d '{"username":"alice","password":"correct horse 42"}'
        for client in native keyed; do at_page -X PUT "$base/api/auth/grant/$client" -d '{"scope":"openid profile"}'; done
        cat > browser <<'END'
        #!/bin/bash
        to=$(curl -s -b jar -o /dev/null -w '%{redirect_url}' "$1&g_continue")
        curl -s -o page "$to"
        END
        chmod +x browser
        ask() { local name=$1; shift; omvault "$@" > "asked/$name" 2>> told; }
        user() { sed -n 's/.*"user":"\([^"]*\)".*/\1/p'; }
        discover() { omvault -q --yes profile discover "$@" ConnectTimeOut=30 TotalTimeOut=60 2>> told; }
        omvault -q unlock

        # In the morning a browser.
        discover sso "$issuer" --client-id native --grant OAuthAuthorizationCode "OAuthRedirectEndpoint=$redirect" \
            'OAuthScope=openid profile' TokenRelease=allow "RESTOrigins=http://127.0.0.1:$outer,http://127.0.0.1:$http,https://kube.example.org" \
            SessionActiveOnRestart=true
        omvault -q login --profile sso --browser ./browser --json > said 2>> told; who=$(user < said)
        for form in raw header curl env json; do ask "$form" token get sso --format "$form"; done
        ask quick token get sso
        omvault token get sso --format header | curl -s -H @- -o asked/page "http://127.0.0.1:$outer/api/oidc/userinfo"
        omvault token get sso --format curl | curl -s -K - -o asked/page "http://127.0.0.1:$outer/api/oidc/userinfo"
        ask id token get sso --id-token
        ask fresh token get sso --fresh
        omvault token userinfo sso > claims 2>> told
        omvault token ls > listed; omvault token show sso >> listed
        printf 'protocol=http\nhost=127.0.0.1:%s\n\n' "$outer" | ask git helper git --profile sso get
        export KUBERNETES_EXEC_INFO='{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":false,"cluster":{"server":"https://kube.example.org","config":null}}}'
        ask kubectl helper kubectl --profile sso
        printf 'http://127.0.0.1:%s' "$outer" | ask docker helper docker --profile sso get
        omvault rest GET "$issuer/userinfo" --profile sso > claims 2>> told
        omvault run --token-fd 3=sso -- bash -c 'watched; cat <&3 > asked/descriptor'
        # What a program gets in its environment is seen there, and a file is seen in its place.
        omvault -q run --token-file FILE=sso -- bash -c 'watched; cp "$FILE" asked/file'
        search | sed 's/^/before: /' | grep /proc || true
        omvault run --token TOKEN=sso -- bash -c 'watched; echo "$TOKEN" > asked/variable'
        # The door of a request that waits for a server has no token. Its helper has: so the search finds one.
        python3 - "http://127.0.0.1:$http/tell/slow" <<'END'
        import json, sys, urllib.request
        answer = {"status": 200, "body": "a", "fields": ["Content-Length: 2", "X-Stalls: yes"]}
        urllib.request.urlopen(urllib.request.Request(sys.argv[1], json.dumps([answer]).encode()))
        END
        (exec omvault rest GET "http://127.0.0.1:$http/told/slow" --profile sso > slow 2>> told) & door=$!
        while_runs $door test -s slow
        watched
        agent=$(omvault agent status --json | sed -n 's/.*"process":\([0-9]*\).*/\1/p')
        for helper in $(cat "/proc/$agent/task/"*/children); do
            tr '\0' ' ' < "/proc/$helper/cmdline" | grep -q -- --request && break
        done
        echo "door: $(python3 "$search" --memory "$day" $door)"
        echo "helper: $(python3 "$search" --memory "$day" "$helper")"
        kill -INT $door; wait $door || true
        omvault -q logout "$who" --profile sso --browser none 2>> told

        # A code for another device, a password, a client itself, and a token of another server.
        (exec omvault -q login --profile sso --device --json) > said 2> shown & login=$!
        eventually grep -q '"code"' shown
        at_page "$issuer/device?code=$(sed -n 's/.*"code":"\([^"]*\)".*/\1/p' shown)&g_continue"
        wait $login
        ask device token get sso
        omvault -q logout "$(user < said)" --profile sso --browser none 2>> told
        discover job "$issuer" --register --grant OAuthClientCredentials OAuthScope=profile OAuthRedirectEndpoint=http://localhost
        ask job token get job --no-agent
        discover robot "$issuer" --client-id keyed --grant OAuthClientCredentials OAuthClientKey=identity:robot OAuthScope=profile \
            OAuthClientAssertionAudience=endpoint
        ask robot token get robot --no-agent
        discover owner "$issuer" --register --grant OAuthResourceOwner 'OAuthScope=openid profile' TokenRelease=allow \
            OAuthRedirectEndpoint=http://localhost
        omvault -q login alice --profile owner --password-from file:given/right > said 2>> told
        ask owner token get owner
        omvault token introspect owner > claims 2>> told || true
        omvault -q logout alice --profile owner 2>> told
        omvault -q profile set swap AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthTokenExchange OAuthClientID=omvault \
            "OAuthTokenEndpoint=http://127.0.0.1:$second/token" "OAuthRevocationEndpoint=http://127.0.0.1:$second/revoke" \
            "OAuthClientSecret=file:$PWD/given/secret" KeychainDataProtection=KeychainDataAccessibleAlways TokenRelease=allow
        omvault token exchange swap --subject-type jwt --subject-from file:given/good.jwt --store 2>> told
        ask swap token get swap
        omvault -q token clear swap 2>> told
        watched
        echo evening
        search; cat counts

        """#

    @Test(
        "no secret that a server saw is in an argument, an environment, the log, the memory of a door or a file that is not asked for"
    )
    func day() async throws {
        let lines = try await Serving.lines(
            WatchedDay.start + Self.servers + ClientKeyCommandTests.start + Self.begin + WatchedDay.log + Self.work
                + #"""
                # The search finds a secret in each of these places, so it would have found the others.
                planted=$(head -c 60 asked/robot)$(tail -c +61 asked/robot)
                plant "$planted"
                echo planted
                search | grep '^access' | grep -v ' asked/'
                """#)
        let asked = [
            "curl", "descriptor", "device", "docker", "env", "file", "fresh", "git", "header", "job", "json", "kubectl", "owner",
            "quick", "raw", "robot", "swap", "variable",
        ]
        // The environment is that of the program that `run --token` filled.
        let found =
            ["access /proc environ"] + asked.map { "access asked/\($0)" } + [
                "id asked/id", "secret given/secret", "subject given/good.jwt",
            ]
        // What was looked for: of each kind at least so many.
        let counts = [
            "access": 7, "assertion": 1, "basic": 3, "device": 1, "id": 1, "refresh": 4, "registration": 2, "secret": 3,
            "subject": 1,
            "verifier": 1,
        ]
        try #require(lines.count == 5 + found.count + counts.count + 7, "\(lines)")
        #expect(lines.prefix(5) == ["door: none", "helper: access", "stored", "cleared", "evening"], "\(lines)")
        #expect(Array(lines[5..<5 + found.count]) == found, "\(lines)")
        for line in lines[(5 + found.count)...].prefix(counts.count) {
            let words = line.split(separator: " ").map(String.init)
            #expect((Int(words[1]) ?? 0) >= counts[words[0]] ?? .max, "\(line)")
        }
        #expect(
            lines.suffix(7) == [
                "planted", "access /dev/log", "access /dev/shm", "access /proc cmdline", "access /proc environ", "access /tmp",
                "access later/file",
            ], "\(lines)")
    }
}
