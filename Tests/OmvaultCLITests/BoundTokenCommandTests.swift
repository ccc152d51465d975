// Tokens that are bound to a key of the session: docs/reference/online.md, "Bound tokens".

import TestSupport
import Testing

@Suite("Tokens that are bound to a key") struct BoundTokenCommandTests {
    @Test("rest and userinfo work with a proof for each request; no other verb gives the token, which is useless without the key")
    func proofs() async throws {
        let lines = try await Serving.lines(
            #"""
            set -o pipefail
            umask 077
            # A ticket needs a folder in memory.
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
            serve bound
            u=http://127.0.0.1:$http
            code() { local code=0; "$@" > printed 2> errors || code=$?; echo "$code"; }
            says() { grep -q -F -e "$1" errors || { echo "not said: $1"; cat errors; }; }
            asked() { grep -c -F -e "\"$1\"" "$seen" || true; }
            named() { oauth "OAuthTokenEndpoint=$u$1/token" "OAuthRevocationEndpoint=$u/revoke" "OAuthUserInfoEndpoint=$u/user?a=b" \
                OAuthSenderConstraint=dpop TokenRelease=allow SessionActiveOnRestart=true "${@:2}"; }
            named ""
            login > /dev/null
            # The first proof has no nonce, so the server wants one.
            asked /token
            code omvault token get work; says 'omvault rest GET URL --profile work'
            code omvault run --token T=work -- true
            omvault token ls | tail -n 1 | grep -o 'DPoP$'
            omvault token show work --json | grep -o '"kind":"DPoP"'
            rest() { omvault rest "$@" --profile work | sed 's/ "sub".*//'; }
            rest GET "$u/a//b?x=1"
            printf 'the body' > file; rest POST "$u/b" -d file:file
            rest GET "$u/moved" --follow 1
            omvault token userinfo work --json | grep -o '"sub":"alice"'
            # The ticket has the key.
            omvault -q agent stop; omvault -q token ls > listed; rest GET "$u/c"
            before=$(asked /token); rest GET "$u/last"; rest GET "$u/d"; echo $(($(asked /token) - before))
            # Glewlwyd and others keep a spent proof, and a thief has no other one.
            stolen=$(sed -n 's/.*"DPoP \(at-[0-9]*\)".*/\1/p' "$seen" | tail -n 1)
            for scheme in DPoP Bearer; do
                curl -s -o /dev/null -w '%{http_code}\n' -H "Authorization: $scheme $stolen" "$u/a"
            done
            code omvault -q login refresh alice --profile work
            omvault logout alice > /dev/null 2>&1; asked /revoke
            named /plain; code login; says OAuthSenderConstraint=none; asked /revoke
            named /endless; code login; asked /endless/token
            named /plain OAuthSenderConstraint=none; code login
            # A plain token has no proof, so no nonce is of use.
            code omvault rest GET "$u/asks" --profile work; asked /asks
            code omvault rest GET "$u/asks" -H 'DPoP: x' --profile work
            named "" OAuthSenderConstraint=none; code login
            named "" OAuthAuthZGrantType=OAuthClientCredentials "OAuthClientSecret=file:$PWD/right"; code omvault token get work --no-agent; says 'profile set work OAuthSenderConstraint=none'
            """#)
        #expect(
            lines == [
                "2", "13", "125", "DPoP", "\"kind\":\"DPoP\"", #"{"method": "GET", "path": "/a//b?x=1", "body": "","#,
                #"{"method": "POST", "path": "/b", "body": "the body","#,
                #"{"method": "GET", "path": "/arrived?x=1", "body": "","#,
                "\"sub\":\"alice\"", #"{"method": "GET", "path": "/c", "body": "","#,
                #"{"method": "GET", "path": "/last", "body": "","#,
                #"{"method": "GET", "path": "/d", "body": "","#, "1", "401", "401", "0", "2", "52", "4", "52", "2", "0", "51",
                "2",
                "2", "52", "13",
            ], "\(lines)")
    }

    @Test("Glewlwyd demands a nonce in each proof: at the code, at userinfo and at the refresh; without a proof it gives nothing")
    func glewlwyd() async throws {
        let lines = try await Serving.lines(
            #"""
            agent_folder
            serve glewlwyd
            base=http://127.0.0.1:$port
            python3 - "$base" <<'END'
            import json, sys, urllib.request
            cookie = {}
            def api(method, path, body=None):
                request = urllib.request.Request(sys.argv[1] + "/api/" + path, body and json.dumps(body).encode(), method=method,
                                                 headers={"Content-Type": "application/json", **cookie})
                with urllib.request.urlopen(request, timeout=30) as answer:
                    for field in answer.headers.get_all("Set-Cookie") or []: cookie["Cookie"] = field.split(";")[0]
                    return answer.read()
            api("POST", "auth/", {"username": "admin", "password": "password"})
            plugin = json.loads(api("GET", "mod/plugin/oidc"))
            plugin["parameters"].update({
                "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60, "oauth-dpop-iat-gap-duration": 60,
                "oauth-dpop-dpop_bound_access_tokens-property": "bound", "oauth-dpop-nonce-mandatory": True,
                "oauth-dpop-nonce-counter": 1})
            api("PUT", "mod/plugin/oidc", plugin)
            for action in "disable", "enable": api("PUT", f"mod/plugin/oidc/{action}/", {})
            END
            at_page() { curl -s -b jar -c jar -o page -H 'Content-Type: application/json' "$@"; }
            at_page "$base/api/auth/" -d '{"username":"alice","password":"correct horse 42"}'
            at_page -X PUT "$base/api/auth/grant/native" -d '{"scope":"openid profile"}'
            cat > browser <<'END'
            #!/bin/bash
            echo "$1" >> opened
            curl -s -o page "$(curl -s -b jar -o /dev/null -w '%{redirect_url}' "$1&g_continue")"
            END
            chmod +x browser
            omvault -q --yes profile discover sso "$issuer" --client-id native --grant OAuthAuthorizationCode \
                "OAuthRedirectEndpoint=$redirect" 'OAuthScope=openid profile' OAuthSenderConstraint=dpop ConnectTimeOut=30 \
                TotalTimeOut=60 "RESTOrigins=$base"
            who=$(omvault -q login --profile sso --browser ./browser --json 2> shown | sed -n 's/.*"user":"\([^"]*\)".*/\1/p')
            grep -c dpop_jkt= opened
            omvault token userinfo sso --json | grep -c "\"sub\":\"$who\""
            # Its own name for the address has two slashes, and a proof has to have them too.
            for n in 1 2 3; do omvault rest GET "$base//api/oidc/userinfo" --profile sso | grep -c "$who"; done
            for n in 1 2; do omvault -q login refresh "$who" --profile sso; done
            omvault token show sso --json | grep -o '"kind":"DPoP"'
            # The verifier is that of RFC 7636, the key that of RFC 9449. A thief has both, and the code, but not the private key.
            thief() {
                local address="$issuer/auth?response_type=code&client_id=native&redirect_uri=$redirect&scope=openid&state=s&nonce=n" code
                address+="&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&g_continue"
                address+="&dpop_jkt=0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"
                code=$(curl -s -b jar -o /dev/null -w '%{redirect_url}' "$address" | sed -n 's/.*[?&]code=\([^&]*\).*/\1/p')
                curl -s -o page -w '%{http_code}\n' "$issuer/token" -d grant_type=authorization_code -d client_id=native \
                    -d code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk -d "code=$code" -d "redirect_uri=$redirect" "$@"
                grep -o invalid_dpop_proof page
            }
            thief; thief -H 'DPoP: x'
            """#)
        #expect(
            lines == ["1", "1", "1", "1", "1", "\"kind\":\"DPoP\"", "403", "invalid_dpop_proof", "403", "invalid_dpop_proof"],
            "\(lines)")
    }
}
