// Logins by the implicit grant, from the command to a real server: docs/reference/online.md, "Logins in a browser".

import Foundation
import TestSupport
import Testing

@Suite("Logins by the implicit grant") struct ImplicitLoginCommandTests {
    /// A Glewlwyd, as for the other logins in a browser. `./browser` plays the script of the page: it looks whether the policy allows
    /// the script, and posts the fragment as the script does.
    private static let start =
        BrowserLoginCommandTests.start + #"""
            at_page -X PUT "$base/api/auth/grant/page" -d '{"scope":"openid profile"}'
            cat > browser <<'END'
            #!/usr/bin/python3
            import base64, hashlib, re, subprocess, sys, urllib.parse
            curl = lambda *words: subprocess.run(["curl", "-s", *words], check=True, capture_output=True, text=True).stdout
            to = curl("-b", "jar", "-o", "/dev/null", "-w", "%{redirect_url}", sys.argv[1] + "&g_continue")
            open("followed", "a").write(to + "\n")
            page, _, fragment = to.partition("#")
            answer = curl("-i", "-H", "Sec-Fetch-Mode: navigate", page)
            script = re.search("<script>(.*)</script>", answer, re.S)[1]
            digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
            if f"script-src 'sha256-{digest}'; connect-src 'self';" not in answer or "?" in to:
                sys.exit("a browser runs no script here")
            origin = "http://" + urllib.parse.urlsplit(page).netloc
            open("page", "w").write(curl("-H", f"Origin: {origin}", "-H", "Content-Type: text/plain;charset=UTF-8",
                                         "-H", "Sec-Fetch-Mode: cors", "-H", "Sec-Fetch-Site: same-origin",
                                         "--data-binary", fragment, page))
            END
            page() {
                omvault -q --yes profile discover page "$issuer" --client-id page --grant OAuthImplicit \
                    "OAuthRedirectEndpoint=$redirect" 'OAuthScope=openid profile' TokenRelease=allow ConnectTimeOut=30 \
                    TotalTimeOut=60 "$@"
            }
            in_page() { omvault -q login --profile page --browser ./browser --json "$@"; }

            """#

    @Test("Glewlwyd's implicit grant needs --insecure; then the page's own script brings the token, and nothing renews it")
    func implicit() async throws {
        let lines = try await Serving.lines(
            Self.start + #"""
                page
                omvault profile show page 2>&1 | grep -c 'RFC 9700'
                omvault -q profile set owner AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner \
                    OAuthClientID=a OAuthTokenEndpoint=https://id.example.org/token
                omvault profile show owner 2>&1 | grep -c 'OAuthResourceOwner: RFC 9700'
                # Before the server is asked or a browser is opened.
                refused 33 in_page
                grep -o 'RFC 9700' .refused; [[ ! -e followed ]] && echo 'nothing opened'
                refused 33 omvault login --profile page --no-input
                refused 8 omvault login --profile page --insecure --no-input
                refused 2 omvault login --profile page --insecure --device
                who=$(in_page --insecure | user); echo "${#who}"
                cat page; echo; grep -c '#.*access_token=' followed
                omvault token get page > one
                curl -s -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $(cat one)" "$issuer/userinfo"
                omvault token userinfo page --json | grep -c '"sub"'
                [[ $(omvault token get page --id-token) == ey*.*.* ]] && echo 'ID token'
                refused 10 omvault token get page --fresh; omvault token get page | cmp - one && echo kept
                # Another user is not taken.
                refused 51 omvault -q login bob --profile page --browser ./browser --insecure --json
                refused 9 omvault profile set page OAuthSenderConstraint=dpop
                refused 9 omvault profile set page OAuthScope=profile
                # Glewlwyd revokes no token of a client without a secret, and this one has none.
                omvault -q logout "$who" --browser none
                refused 10 omvault token get page
                sso
                refused 2 omvault login --profile sso --insecure
                """#)
        #expect(
            lines == [
                "1", "1", "RFC 9700", "nothing opened", "32",
                "omvault has the answer and continues there. You can close this page.",
                "1", "200", "1", "ID token", "kept",
            ], "\(lines)")
    }
}
