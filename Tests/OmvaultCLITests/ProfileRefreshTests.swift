// `omvault profile refresh` at our own server, and with profiles that have no server to ask.

import TestSupport
import Testing

@testable import omvault_full

@Suite("A profile's refresh") struct ProfileRefreshTests {
    @Test(
        "at omvault-server: policy and endpoints with their ages, a new policy, an older one, and the server away",
        .enabled(if: Programs.server != nil))
    func server() async throws {
        let ran = try await ServerLoginTests.script(
            """
            omvault -q profile set work "ServerURL=$URL" ApplicationName=WhitePages "TrustedCA=$PWD/cert.pem" 2>&1
            refresh() {
                local code=0
                omvault profile refresh work --format plain > rows 2> err || code=$?
                echo "exit $code"; sed 's/^omvault: //' err | head -1
                sed -nE "s,$URL,URL,; s/[[:blank:]]+/ /g; /MaxLogin|_endpoint/s/ [0-9]+$/ N/p" rows
            }
            omvault profile show work --json | grep -oE '"policy_age":[0-9]+' | sed 's/[0-9]*$/N/'
            refresh
            cp -a server before
            server policy set WhitePages MaxLoginAttempts=1 > /dev/null; refresh | head -3
            check work right; check work wrong
            end_server
            refresh
            rm -r server; mv before server; SCHEME=https serve; refresh | head -3
            omvault login check ana --profile work --password-from file:right 2>&1 | grep -o 'lower than the epoch known'
            omvault -q profile rm work --yes
            python3 -c 'import sqlite3; print(*sqlite3.connect(".local/state/omvault/logins.db").execute("SELECT count(*) FROM remembered").fetchone())'
            """)
        let endpoints = [
            "token_endpoint URL/oauth2/token server N", "revocation_endpoint URL/oauth2/revoke server N",
            "introspection_endpoint URL/oauth2/introspect server N",
        ]
        #expect(
            ran.output.split(separator: "\n").map(String.init) == [
                "\"policy_age\":N",
                "exit 0", "the server's policy has epoch 1, and is the same as before", "MaxLoginAttempts 2 server N",
            ] + endpoints + [
                "exit 0", "the server's policy has epoch 2; before it was 1", "MaxLoginAttempts 1 server N", "0", "20",
                "exit 50", "error: the server was not reached: the connection was refused", "MaxLoginAttempts 1 server N",
            ] + endpoints + [
                "exit 31",
                "error: the server's policy has epoch 1, but this device already knows epoch 2; the policy is not used",
                "MaxLoginAttempts 1 server N", "lower than the epoch known", "0",
            ], "\(ran)")
    }

    @Test(
        "at a Mobile and Social service, and at a discovery document that is none: nothing that was known is lost",
        .enabled(if: Programs.server != nil))
    func documents() async throws {
        let ran = try await ServerLoginTests.script(
            """
            url="wp://settings?AuthServerType::=OAMMSAuthentication&OAMMSURL::=$URL"
            url="$url&OAMMSServiceDomain::=MobileServiceDomain&ApplicationName::=WhitePages"
            omvault -q profile import "$url&TrustedCA::=$PWD/cert.pem" --name phone --yes --allow TrustedCA > /dev/null 2> err
            refresh() {
                local code=0
                omvault profile refresh "$1" --format plain > rows 2> err || code=$?
                echo "exit $code"; sed -n '/hint:/d; /sdk:/d; s/^omvault: //p' err
                sed -nE "s,$URL,URL,; s/[[:blank:]]+/ /g; /MaxLogin|^[a-z]+(_endpoint)? /s/ [0-9]+$/ N/p" rows
            }
            refresh phone
            omvault -q profile set work "ServerURL=$URL" ApplicationName=WhitePages "TrustedCA=$PWD/cert.pem" 2>&1
            omvault -q profile refresh work > rows
            document=$(sed -n 's,.*\\("https[^"]*oauth-authorization-server"\\).*,\\1,p' .config/omvault/profiles/work.json | tr -d '"')
            # The policy comes, and the document of the endpoints is another one.
            omvault -q profile set work "oauth_discoveryURL=$URL/v1/profiles/WhitePages" --no-fetch
            refresh work
            # With the right address the known endpoints are there again, also without the server.
            omvault -q profile set work "oauth_discoveryURL=$document" --no-fetch
            end_server
            refresh work
            """)
        let policy = "the server's policy has epoch 1, and is the same as before", limit = "MaxLoginAttempts 2 server N"
        let phone = [
            "register URL/oic_rest/rest/mobileoamauthentication/register server N",
            "authenticate URL/oic_rest/rest/mobileoamauthentication/authenticate server N",
            "access URL/oic_rest/rest/mobileoamauthentication/access server N",
            "validate URL/oic_rest/rest/jwtoamauthentication/tokens/info server N",
            "delete URL/oic_rest/rest/mobileoamauthentication/delete server N",
        ]
        let broken =
            "error: the server's endpoints could not be fetched (the server gave no usable answer: its answer is not the answer "
            + "to a login)"
        let work = [
            "exit 50", "error: the server was not reached: the connection was refused", limit,
            "token_endpoint URL/oauth2/token server N", "revocation_endpoint URL/oauth2/revoke server N",
            "introspection_endpoint URL/oauth2/introspect server N",
        ]
        #expect(
            ran.output.split(separator: "\n").map(String.init)
                == ["exit 0", policy, limit] + phone + ["exit 52", policy, broken, limit] + work, "\(ran)")
    }

    @Test("a profile without a server, and one with a server that this version does not speak to")
    func nothingToAsk() async throws {
        let ran = try await bash(
            """
            omvault -q profile set local OfflineAuthAllowed=true MaxLoginAttempts=4
            omvault profile refresh local --format plain 2>&1 | tr '\\t' ' '
            omvault -q profile refresh local --json
            omvault -q profile set later AuthServerType=FederatedAuthentication LoginURL=https://id.example/in \\
                LogoutURL=https://id.example/out LoginSuccessURL=https://id.example/s LoginFailureURL=https://id.example/f > said 2>&1
            omvault profile refresh later --format plain 2>&1 | grep -e error -e LoginURL | tr '\\t' ' '; echo "${PIPESTATUS[0]}"
            omvault profile refresh none > said 2>&1; echo "$?"
            ls .local/state 2>&1 | grep -c omvault
            """)
        #expect(
            ran.output == """
                omvault: profile "local" has no server, so nothing was asked
                OfflineAuthAllowed true set -
                MaxLoginAttempts 4 set -
                CryptoScheme SaltedSHA-512 default -
                OfflineCredentialMaxAge 0 default -
                {"schema":"omvault/1","profile":"local","server":null,"refreshed":true,"policy_epoch":null,"policy_age":null,\
                "endpoints_age":null,"values":{"OfflineAuthAllowed":true,"MaxLoginAttempts":4,"CryptoScheme":"SaltedSHA-512",\
                "OfflineCredentialMaxAge":0},"from":{"OfflineAuthAllowed":"set","MaxLoginAttempts":"set","CryptoScheme":"default",\
                "OfflineCredentialMaxAge":"default"},"age":{"OfflineAuthAllowed":null,"MaxLoginAttempts":null,\
                "CryptoScheme":null,"OfflineCredentialMaxAge":null}}
                LoginURL https://id.example/in set -
                omvault: error: this version cannot ask a server of type FederatedAuthentication
                4
                9
                0

                """, "\(ran)")
    }

    @Test(
        "an age in words has one unit, and never a part of it",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (3_600, "1 h"), (86_399, "23 h"), (86_400, "1 day"),
            (3 * 86_400 + 5, "3 days"), (Int64.max, "106751991167300 days"),
        ] as [(Int64, String)])
    func words(seconds: Int64, words: String) {
        #expect(ValueAge.seconds(seconds).cell(isForPeople: true) == words)
        #expect(ValueAge.seconds(seconds).cell(isForPeople: false) == "\(seconds)")
    }
}
