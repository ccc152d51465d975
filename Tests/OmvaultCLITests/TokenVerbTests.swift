// What can be asked about a token, and how a session ends at its server: docs/reference/tokens.md.

import Foundation
import TestSupport
import Testing

@Suite("Questions about tokens at the command line") struct TokenVerbTests {
    /// - Returns: What the script printed, line by line.
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(text, location)
    }

    @Test("a login in a browser leaves an ID token; userinfo and revoke work without TokenRelease")
    func browser() async throws {
        let lines = try await script(
            BrowserLoginCommandTests.start + #"""
                sso
                omvault -q profile set sso TokenRelease=never
                who=$(in_browser 2> shown | user)
                refused 13 omvault token get sso
                refused 13 omvault token get sso --id-token
                omvault token userinfo sso --json | sed "s/$who/WHO/g" \
                    | grep -o '"schema":"omvault/1","profile":"sso","user":"WHO","claims":{.*"sub":"WHO"'
                omvault token userinfo sso | sed "s/$who/WHO/g" | grep -P '^sub\tWHO$'
                # This server takes no token back from a client without a secret. The session ends here.
                refused 51 omvault token revoke sso --user "$who"
                refused 10 omvault token userinfo sso
                refused 10 omvault token revoke sso
                omvault -q profile set sso TokenRelease=allow
                in_browser > said 2> shown
                omvault token get sso --id-token | cut -d. -f2 | tr _- /+ | base64 -d 2> broken | grep -o '"aud":"native"'
                [[ $(omvault token get sso --id-token --format env) == "ID_TOKEN='ey"* ]] && echo variable
                omvault token get sso --id-token --format json | grep -o '^{"schema":"omvault/1","id_token":"ey'
                refused 2 omvault token get sso --id-token --scope openid
                refused 2 omvault token get sso --id-token --no-agent
                """#)
        #expect(
            lines == [
                #""schema":"omvault/1","profile":"sso","user":"WHO","claims":{"sub":"WHO""#, "sub\tWHO", #""aud":"native""#,
                "variable", #"{"schema":"omvault/1","id_token":"ey"#,
            ], "\(lines)")
    }

    @Test("logout sends the browser on to the server's page once, with the ID token in no argument")
    func endSession() async throws {
        let lines = try await script(
            BrowserLoginCommandTests.start + #"""
                cat > leave <<'END'
                #!/bin/bash
                echo "$1" > left
                curl -s -o page -D head "$1"
                curl -s -o page2 "$1" || echo gone > second
                touch done
                END
                chmod +x leave
                sso
                in_browser > said 2> shown
                omvault token get sso --id-token > ../id-token-$$
                omvault logout --profile sso --browser ./leave --json | grep -o '"browser":true'
                eventually test -e done
                sed 's/:[0-9]*\/[0-9a-f]\{32\}$/:PORT\/PATH/' left
                head -n 1 head | cut -d ' ' -f 2
                to=$(sed -n 's/^[Ll]ocation: \(.*\)\r$/\1/p' head)
                [[ $to == "$base"/*"id_token_hint=$(cat ../id-token-$$)&client_id=native" ]] && echo hint
                rm ../id-token-$$
                cat second
                at_page "$to"
                # Nothing opens without a display, with --no-input and with none.
                rm left done
                in_browser > said 2> shown
                unset DISPLAY WAYLAND_DISPLAY
                omvault logout --profile sso 2>&1 | grep -c 'may still know the user'
                in_browser > said 2> shown
                omvault logout --profile sso --browser ./leave --no-input --json | grep -o '"browser":false'
                in_browser > said 2> shown
                omvault logout --profile sso --browser none 2>&1 | grep -c 'may still know the user' || true
                in_browser > said 2> shown
                omvault logout --profile sso --browser ./missing 2>&1 | grep -c 'may still know the user'
                [[ -e left ]] || echo nothing
                """#)
        #expect(
            lines == [
                #""browser":true"#, "http://127.0.0.1:PORT/PATH", "302", "hint", "gone", "1", #""browser":false"#, "0", "1",
                "nothing",
            ], "\(lines)")
    }

    @Test("introspect tells whether the server takes the token; revoke tells what the server did")
    func introspect() async throws {
        let lines = try await script(
            #"""
            set -o pipefail
            agent_folder
            serve glewlwyd
            printf omvault-secret > secret
            at() {
                oauth "oauth_discoveryURL=$issuer/.well-known/openid-configuration" "OAuthClientSecret=file:$PWD/secret" \
                    OAuthScope=profile TokenRelease=allow "$@"
            }
            at
            login
            omvault token introspect work --json | grep -o '"claims":{"active":true,.*"client_id":"omvault"'
            omvault token introspect work | grep -P '^active\ttrue$'
            omvault token get work > token
            curl -s -o said -u omvault:omvault-secret -d "token=$(cat token)" "$issuer/revoke"
            refused 10 omvault token introspect work
            # The session has another token soon.
            omvault -q token get work --fresh > token
            omvault token introspect work | grep -c active
            omvault token revoke work --json | grep -o '"result":"revoked"'
            curl -s -u omvault:omvault-secret -d "token=$(cat token)" "$issuer/introspect" | grep -o '"active":false'
            login
            # Without a document the profile names the addresses, and a server without them is not asked.
            oauth "OAuthTokenEndpoint=$issuer/token" "OAuthClientSecret=file:$PWD/secret" OAuthScope=profile
            login
            refused 4 omvault token introspect work
            refused 4 omvault token userinfo work
            refused 4 omvault token revoke work
            refused 10 omvault token introspect work
            oauth "OAuthTokenEndpoint=$issuer/token" "OAuthClientSecret=file:$PWD/secret" OAuthScope=profile \
                "OAuthIntrospectionEndpoint=$issuer/introspect" "OAuthUserInfoEndpoint=$issuer/userinfo"
            login
            omvault token introspect work | grep -c active
            omvault token userinfo work | grep -c '^sub'
            """#)
        #expect(
            lines == [
                "granted online user=alice profile=work", #""claims":{"active":true,"aud":"profile","client_id":"omvault""#,
                "active\ttrue", "1", #""result":"revoked""#, #""active":false"#, "granted online user=alice profile=work",
                "granted online user=alice profile=work", "granted online user=alice profile=work", "1", "1",
            ], "\(lines)")
    }
}
