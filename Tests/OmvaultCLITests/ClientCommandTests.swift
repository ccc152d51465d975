// The registration of a client, from the command to a real server: docs/reference/profiles.md, "Registration".

import Foundation
import TestSupport
import Testing

@Suite("Clients that register themselves") struct ClientCommandTests {
    /// A vault that is open in the agent.
    private static let start = #"""
        set -o pipefail
        agent_folder
        printf 'vault password' > pw
        (export OMVAULT_PASSWORD_FROM=file:pw; omvault -q init --kdf-mem 8 --kdf-time 1 > /dev/null; omvault -q unlock)
        setting() { sed -nE "s/.*\"$1\": *\"([^\"]*)\".*/\1/p" ".config/omvault/profiles/$2.json"; }

        """#

    /// - Returns: What the script printed, line by line.
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("a client is registered, logs a user in, is updated and removed; its secrets are in the vault only")
    func glewlwyd() async throws {
        let lines = try await script(
            #"""
            serve glewlwyd
            base=http://127.0.0.1:$port
            at_page() { curl -s -b jar -c jar -o page -H 'Content-Type: application/json' "$@"; }
            discover() { omvault -q --yes profile discover "$@" ConnectTimeOut=30 TotalTimeOut=60; }
            discover lab "$issuer" --register "OAuthRedirectEndpoint=$redirect" 'OAuthScope=openid profile'
            client=$(setting OAuthClientID lab); echo "${#client} $(setting OAuthClientSecret lab)"
            omvault client show lab | grep -c "$client"
            refused 5 omvault --yes client register lab
            # The new client logs a user in.
            at_page "$base/api/auth/" -d '{"username":"alice","password":"correct horse 42"}'
            at_page -X PUT "$base/api/auth/grant/$client" -d '{"scope":"openid profile"}'
            cat > browser <<'END'
            #!/bin/bash
            curl -s -b jar -L -o page "$1&g_continue"
            END
            chmod +x browser
            omvault -q login --profile lab --browser ./browser --json | grep -c granted
            omvault -q profile set lab OAuthRedirectEndpoint=http://127.0.0.1:1/other
            omvault -q client update lab --client-name Lab
            omvault client show lab | grep -E 'client_name|redirect_uris' | tr '\t' ' '
            omvault -q --yes client rm lab
            refused 10 omvault client show lab
            # A client of its own has a secret. This server wants a redirect address of it too.
            refused 52 discover job "$issuer" --register --grant OAuthClientCredentials OAuthScope=profile
            grep -o 'this redirect address' .refused; refused 10 omvault show client.job
            discover job "$issuer" --register --grant OAuthClientCredentials OAuthScope=profile OAuthRedirectEndpoint=http://localhost
            setting OAuthClientSecret job
            omvault token get job --no-agent > got; (($(stat -c %s got) > 100)) && echo token
            secret=$(omvault get client.job:secret); echo "${#secret}"; rm got
            grep -rlaF --exclude-dir=web -- "$secret" . && echo found || echo clean
            omvault -q lock
            refused 7 omvault --no-input token get job --no-agent
            OMVAULT_PASSWORD_FROM=file:pw omvault token get job --no-agent | wc -l
            """#)
        #expect(
            lines == [
                "16 vault:client.lab:secret", "1", "1", "client_name Lab", "redirect_uris http://127.0.0.1:1/other",
                "this redirect address",
                "vault:client.job:secret", "token", "32", "clean", "0",
            ], "\(lines)")
    }

    @Test("each new token of a registration is kept before anything else happens, and the old one is used no more")
    func rotated() async throws {
        let lines = try await script(
            #"""
            serve odd
            issuer=http://127.0.0.1:$http/told
            answers() { curl -s -o /dev/null "http://127.0.0.1:$http/tell/$1" --data-binary "[$2]"; }
            answer() { printf '{"status":%s,"fields":[],"body":%s}' "$1" "$(python3 -c 'import json,sys; print(json.dumps(sys.argv[1]))' "$2")"; }
            client() { printf '{"client_id":"c-1","registration_access_token":"%s","registration_client_uri":"%s"}' "$1" "$issuer/client"; }
            answers .well-known/openid-configuration "$(answer 200 '{"issuer":"'"$issuer"'","token_endpoint":"'"$issuer"'/token",
                "registration_endpoint":"'"$issuer"'/register"}')"
            answers register "$(answer 201 "$(client r-1)")"
            answers client "$(answer 200 "$(client r-2)"),$(answer 200 "$(client r-3)"),$(answer 200 "$(client r-4)"),$(answer 204 '')"
            printf first > first; printf a.b.c > statement
            omvault -q --yes profile discover lab "$issuer" --register --grant OAuthResourceOwner \
                --initial-token-from file:first --statement-from file:statement
            omvault -q client show lab > shown
            omvault -q client update lab
            omvault -q --yes client rm lab
            python3 - "$seen" <<'END'
            import sys, re
            text = open(sys.argv[1], errors="replace").read()
            print(" ".join(re.findall(r'"Bearer ([^"]*)"', text)))
            print(text.count('software_statement'))
            END
            refused 10 omvault show client.lab
            # A refused token is 51, a server without registrations 52, and an answer that leads elsewhere is refused.
            answers register "$(answer 401 '{"error":"invalid_token"}')"
            refused 51 omvault -q --yes profile discover lab2 "$issuer" --register
            answers register "$(answer 201 '{"client_id":"c","registration_access_token":"r","registration_client_uri":"https://other.example/c"}')"
            omvault --yes profile discover lab2 "$issuer" --register 2>&1 | grep -c 'no address of its own'
            refused 4 omvault client show lab2
            # A profile of another client gives up its secret, and takes the method that was registered.
            printf old > old; chmod 600 old
            omvault -q profile set lab2 "OAuthClientSecret=file:$PWD/old" OAuthClientAuthMethod=client_secret_basic
            omvault -q --yes client rm lab2 --local
            answers register "$(answer 201 '{"client_id":"c-2","token_endpoint_auth_method":"none"}')"
            omvault -q --yes profile discover lab2 "$issuer" --register
            echo "$(setting OAuthClientID lab2) $(setting OAuthClientAuthMethod lab2) $(setting OAuthClientSecret lab2)"
            omvault -q --yes profile rm lab2; omvault -q --yes client rm lab2 --local
            # A vault that is locked, or an item that changes, while the server answers.
            answers register "$(answer 201 "$(client s-1)")"
            answers client "$(answer 200 "$(client s-2)"),$(answer 200 "$(client s-3)"),$(answer 204 '')"
            omvault -q --yes profile discover lab3 "$issuer" --register --grant OAuthResourceOwner
            refused 2 omvault --vault other client show lab3
            omvault -q set client.lab3:note --value-from file:old
            omvault -q client show lab3 > shown
            omvault get client.lab3:token; echo
            # Of a profile that was removed, the registration can still be ended.
            omvault -q --yes profile rm lab3
            omvault -q --yes client rm lab3
            refused 2 omvault -q --yes profile discover lab4 "$issuer" --register --system
            # A source that names nothing is no client without a secret.
            omvault -q profile set lab "OAuthClientSecret=vault:x:$(printf 'f%.0s' {1..300})"
            refused 9 omvault login check ada --profile lab --mode online --password-from file:old
            grep -c token "$seen" > before; refused 9 omvault login check ada --profile lab --password-from file:old
            grep -c token "$seen" | cmp - before
            answers .well-known/openid-configuration "$(answer 200 '{"issuer":"'"$issuer"'","token_endpoint":"'"$issuer"'/token"}')"
            refused 52 omvault -q --yes profile discover lab2 "$issuer" --register --grant OAuthResourceOwner
            refused 2 omvault -q --yes profile discover lab2 "$issuer" --register --client-id c
            refused 2 omvault -q --yes profile discover lab2 "$issuer"
            refused 2 omvault -q --yes profile discover lab2 "$issuer" --client-id c --proof none
            omvault profile ls
            """#)
        #expect(
            lines == ["first r-1 r-2 r-3 r-4", "1", "1", "c-2 none ", "s-2", "lab"], "\(lines)")
    }
}
