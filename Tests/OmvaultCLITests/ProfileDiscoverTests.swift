// `omvault profile discover`: a profile from an issuer's own document.

import TestSupport
import Testing

@testable import omvault_full

@Suite("A profile from an issuer") struct ProfileDiscoverTests {
    @Test(
        "at omvault-server: the endpoints are shown, the user is asked, and a login works; another spelling is refused",
        .enabled(if: Programs.server != nil))
    func server() async throws {
        let ran = try await ServerLoginTests.script(
            """
            discover() {
                local code=0
                omvault profile discover work "$@" > out 2> err < /dev/null || code=$?
                sed -nE "s,$URL,URL,g; s/^omvault: ([a-z_]+ =|error: )/\\1/p" err; echo "exit $code"
            }
            also=(--client-id omvault --grant OAuthResourceOwner "TrustedCA=$PWD/cert.pem" OfflineAuthAllowed=true)
            discover "$URL" "${also[@]}"
            omvault profile show work > out 2>&1 || echo "not saved"
            discover "$URL" "${also[@]}" --yes
            sed -nE "s,$URL,URL,; s/.*\\"(OAuthIssuer|OAuthEndpointOrigins)\\": *\\"([^\\"]*)\\".*/\\1 \\2/p" .config/omvault/profiles/work.json
            check work right; check work wrong
            discover "$URL/" "${also[@]}" --yes
            discover "$URL/nothing" "${also[@]}" --yes
            discover "$URL" "${also[@]}" OAuthIssuer=https://a.example --yes
            discover "ftp://a" "${also[@]}"
            end_server
            discover "$URL" "${also[@]}" --yes
            """)
        let shown = [
            "token_endpoint = URL/oauth2/token", "revocation_endpoint = URL/oauth2/revoke",
            "introspection_endpoint = URL/oauth2/introspect",
        ]
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(
            lines.filter { !$0.hasPrefix("error: ") } == shown + ["exit 8", "not saved"] + shown + [
                "exit 0", "OAuthIssuer URL", "0", "20", "exit 52", "exit 52", "exit 2", "exit 2", "exit 50",
            ], "\(ran)")
    }

    @Test("an endpoint at another origin is shown before it is allowed, and without that no password is sent")
    func foreign() async throws {
        let lines = try await Serving.lines(
            """
            serve odd odd
            discover() { omvault profile discover work "http://127.0.0.1:$http$1" --client-id c --grant OAuthResourceOwner --yes "${@:2}"; }
            refused 13 discover /foreign OfflineAuthAllowed=true
            sed -nE "s/$http/PORT/g; s/.*hint: if you/if you/p" .refused
            refused 13 discover /foreign OfflineAuthAllowed=true --allow-origin http://localhost:1
            discover /foreign OfflineAuthAllowed=true --allow-origin "http://localhost:$http/" 2>&1 | sed -nE "s/$http/PORT/g; /_endpoint/s/^omvault: //p"
            omvault profile show work --format plain | sed -nE "s/$http/PORT/; s/^(OAuthEndpointOrigins)[[:blank:]]+([^[:blank:]]+).*/\\1 \\2/p"
            echo right > right
            login() { omvault login check alice --profile work --password-from file:right --kdf-mem 8 --kdf-time 1 --mode online; }
            login | cut -d ' ' -f 1,2
            omvault -q profile set work "OAuthEndpointOrigins=http://localhost:1"
            refused 13 login
            grep -o 'reason=[a-z_]*' .refused
            omvault -q profile set work --unset OAuthEndpointOrigins
            refused 13 login
            # The server's own document decides: an issuer that it does not name is refused before any password.
            refused 52 discover /wrong-issuer
            refused 52 discover /other-tenant
            refused 52 discover /unsafe
            grep -o 'no token endpoint at a safe address' .refused
            # A client's own secret goes there as little as a password, whichever scopes are asked for.
            printf secret > secret; chmod 600 secret
            omvault -q profile discover job "http://127.0.0.1:$http/foreign" --client-id c --grant OAuthClientCredentials --yes \\
                --allow-origin "http://localhost:$http" "OAuthClientSecret=file:$PWD/secret" 2> /dev/null
            omvault -q profile set job --unset OAuthEndpointOrigins
            refused 13 omvault token get job --no-agent
            refused 13 omvault token get job --no-agent --scope read
            grep -c grant_type=client_credentials "$seen" || true
            refused 2 omvault profile discover x "http://127.0.0.1:$http" --client-id c --grant OAuthResourceOwner --yes \\
                --allow-origin nonsense
            # Of all requests one had a password.
            grep -c grant_type=password "$seen"
            """)
        #expect(
            lines == [
                "if you trust them: --allow-origin http://localhost:PORT", "token_endpoint = http://localhost:PORT/token/plain",
                "revocation_endpoint = http://127.0.0.1:PORT/token/revoke",
                "OAuthEndpointOrigins http://localhost:PORT", "granted online", "reason=foreign_endpoint",
                "no token endpoint at a safe address", "0", "1",
            ])
    }
}
