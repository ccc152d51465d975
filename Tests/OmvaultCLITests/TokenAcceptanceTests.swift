// Acceptance tests of tokens that no other suite has: docs/internals/token-acceptance.md.

import TestSupport
import Testing

@Suite("Acceptance of tokens") struct TokenAcceptanceTests {
    /// An OpenID provider that takes any port (Tests/Servers/issuer.py). `./browser` opens its page as the user in WHO.
    private static let start = #"""
        set -o pipefail
        agent_folder
        serve issuer
        cat > browser <<'END'
        #!/bin/bash
        to=$(curl -s -o /dev/null -w '%{redirect_url}' "$1&user=${WHO:-ada}")
        printf '%s\n' "$to" > "followed-${WHO:-ada}"
        if [[ -n ${THIEF-} ]]; then
            code=${to#*code=}
            for verifier in "$(printf 'x%.0s' {1..43})" ''; do
                curl -s -o /dev/null -w '%{http_code}\n' -d grant_type=authorization_code -d client_id=native -d "code=${code%%&*}" \
                    --data-urlencode "redirect_uri=${to%%\?*}" -d "code_verifier=$verifier" "$issuer/token" >> stolen
            done
        fi
        curl -s -o /dev/null "$to"
        END
        chmod +x browser; export issuer
        sso() {
            omvault -q --yes profile discover "$1" "$2" --client-id native --grant OAuthAuthorizationCode OAuthScope=openid \
                OAuthRedirectEndpoint=http://127.0.0.1/cb TokenRelease=allow ConnectTimeOut=30 TotalTimeOut=60 "${@:3}"
        }
        in_browser() { omvault -q login --browser ./browser --json "$@" 2>> shown; }
        counted() { curl -s "$issuer/counts" | grep -o "\"$1\": [0-9]*"; }

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("twenty logins at once have a port each, and a code without its verifier is worth nothing")
    func logins() async throws {
        let lines = try await script(
            #"""
            sso sso "$issuer" OAuthUserClaim=sub
            for number in {1..20}; do
                # No user of another login can come to the port of this one.
                WHO=user$number in_browser "user$number" --profile sso > "said-$number" & logins[number]=$!
            done
            for number in {1..20}; do wait "${logins[number]}"; done
            grep -l '"mode":"online"' said-* | wc -l
            omvault token ls --format plain | grep -c 'user'
            counted code
            for number in {1..20}; do omvault token get sso --user "user$number" --format header; done | sort -u | wc -l
            THIEF=1 WHO=mallory in_browser mallory --profile sso | grep -c granted
            cat stolen
            # Its owner has used it, so it is worth nothing with its verifier too.
            counted code
            """#)
        #expect(lines == ["20", "20", #""code": 20"#, "20", "1", "400", "400", #""code": 21"#], "\(lines)")
    }

    @Test("no program gets an address of a server that lies, nor a word of it")
    func addresses() async throws {
        let lines = try await script(
            #"""
            sso sso "$issuer"
            mark=$(cat /proc/sys/kernel/random/uuid)
            programs() {
                local status=0
                strace -f -qq -e trace=execve -s 4096 -o calls omvault -q login --profile sso --force --browser ./browser --json > said 2>&1 ||
                    status=$?
                echo "$status" "$(grep -cE 'execve\("[^"]*(browser|xdg-open|/sh)"' calls || true)"
            }
            # An agent that runs already is no program of the traced login.
            in_browser --profile sso > said
            programs
            for address in file:///etc/passwd 'javascript:alert(1)' "https://x/\$(touch $mark)" "-flag=$mark" "http://elsewhere.example/$mark"; do
                liar=$issuer/lies/$(printf %s "$address" | base64 -w 0 | tr +/ -_)
                omvault -q profile set sso "OAuthIssuer=$liar" "OpenIDConnectDiscoveryURL=$liar/.well-known/openid-configuration"
                programs
                [[ ! -e $mark ]]
            done
            """#)
        #expect(lines == ["0 1"] + Array(repeating: "52 0", count: 5), "\(lines)")
    }

    @Test("with the metadata in the profile the server is asked for no document: at the login, the refresh and the logout")
    func configured() async throws {
        let lines = try await script(
            #"""
            sso sso "$issuer"
            omvault -q profile set sso AuthServerType=OpenIDConnect10 --unset oauth_discoveryURL --unset OAuthIssuer \
                --unset OAuthAuthZGrantType "OpenIDConnectConfiguration=$(curl -s "$issuer/.well-known/openid-configuration")"
            documents() { counted document; }
            before=$(documents)
            in_browser --profile sso | grep -c granted
            one=$(omvault token get sso); two=$(omvault token get sso --fresh)
            [[ $one != "$two" ]] && echo fresh
            omvault token userinfo sso --json | grep -o '"sub":"[^"]*"'
            omvault -q profile refresh sso --json | grep -o '"token_endpoint"' | sort -u
            omvault -q logout ada@example.org --profile sso
            [[ $(documents) == "$before" ]] && echo none
            omvault profile show sso --format plain | grep '^OpenIDConnectConfiguration' | cut -f 2 | sed "s|$issuer|ISSUER|; s/, [0-9]* bytes//"
            refused 9 omvault profile set sso OpenIDConnectConfiguration='{"issuer":7}'; grep -c metadata .refused
            omvault -q profile set sso OpenIDConnectDiscoveryURL=https://id.example.org/d 2> said; cat said
            omvault profile set sso OpenIDConnectDiscoveryURL=https://id.example.org/d > said 2>&1; grep -c 'is used in its place' said
            omvault -q profile set sso --unset OpenIDConnectDiscoveryURL OAuthIssuer=https://id.example.org
            refused 52 omvault login --profile sso --browser ./browser; grep -c 'hint: OpenIDConnectConfiguration must be' .refused
            url="wp://settings?AuthServerType::=OpenIDConnect10&OAuthClientID::=c&OAuthRedirectEndpoint::=http://127.0.0.1"
            url+='&OpenIDConnectConfiguration::={"issuer":"https://id.example.org"}'
            refused 13 omvault profile import "$url" --name other --yes; grep -c 'allow OpenIDConnectConfiguration' .refused
            omvault -q profile import "$url" --name other --yes --allow OpenIDConnectConfiguration && echo imported
            """#)
        #expect(
            lines == [
                "1", "fresh", #""sub":"ada""#, #""token_endpoint""#, "none", "metadata of ISSUER", "1", "1", "1", "1", "imported",
            ], "\(lines)")
    }

    @Test("a token that lives as long as was asked for is never refused, also at the end of many lives")
    func lives() async throws {
        let lines = try await script(
            #"""
            # A life that leaves two seconds for many calls, and eighteen for a slow machine.
            echo 20 > "$life"
            sso sso "$issuer"
            in_browser --profile sso > said
            for call in {1..60}; do
                omvault token get sso --min-valid 18 --format header |
                    curl -s -o /dev/null -w '%{http_code}\n' -H @- "$issuer/user"
            done | sort | uniq -c | tr -s ' '
            counted unauthorized; counted reused
            omvault token get sso --fresh > /dev/null; counted refresh | grep -vc ': 0'
            """#)
        #expect(lines == [" 60 200", #""unauthorized": 0"#, #""reused": 0"#, "1"], "\(lines)")
    }

    @Test("one e-mail address from two issuers is two logins, and the subject decides")
    func issuers() async throws {
        let lines = try await script(
            #"""
            sso first "$issuer"
            sso second "$other"
            WHO=ada in_browser --profile first | grep -o '"user":"[^"]*"'
            WHO=eve in_browser --profile second | grep -o '"user":"[^"]*"'
            omvault token get first > first; omvault token get second > second
            # Each token is of its own server and subject.
            for name in first second; do
                for at in "$issuer" "$other"; do curl -s -H "Authorization: Bearer $(cat "$name")" "$at/user" | grep -o '"sub": "[^"]*"' || echo no; done
            done
            omvault -q logout ada@example.org --profile second
            refused 10 omvault token get second
            omvault token get first | cmp - first && echo there
            # The same address, another subject: not the same user.
            WHO=eve in_browser ada@example.org --profile first --force > said; grep -o '"sub": "[^"]*"' \
                <(curl -s -H "Authorization: Bearer $(omvault token get first)" "$issuer/user")
            """#)
        #expect(
            lines == [
                #""user":"ada@example.org""#, #""user":"ada@example.org""#, #""sub": "ada""#, "no", "no", #""sub": "eve""#,
                "there",
                #""sub": "eve""#,
            ], "\(lines)")
    }
}
