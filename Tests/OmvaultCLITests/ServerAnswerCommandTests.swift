// What the command makes of servers' answers, and what it tells the user to do about them.

import Foundation
import TestSupport
import Testing

@Suite("What servers answer, at the command line") struct ServerAnswerCommandTests {
    private static let start = """
        set -o pipefail
        agent_folder
        token() { oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=$1"; }
        discovery() { oauth "oauth_discoveryURL=http://127.0.0.1:$http$1/.well-known/openid-configuration"; }
        check() { omvault login check alice --kdf-mem 8 --kdf-time 1 --password-from file:right "$@" | sed 's/ age=[0-9]*//'; }
        hints() { sed -n 's/^omvault: hint: //p' .refused; }
        state() { omvault login status --json "$@" | grep -o '"state":"[a-z]*"' || echo none; }

        """

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test(
        "OfflineOnServerError has auto, and only auto, go offline on a 500; a gateway's 511 and 521 to 524 need no key for that")
    func serverError() async throws {
        let lines = try await script(
            """
            serve web nginx
            at() { basic "https://localhost:$port/login$1" "TrustedCA=$ca"; }
            at ''; check
            at '?as=status/500'; refused 52 check; hints
            omvault -q profile set work OfflineOnServerError=true
            check 2> /dev/null
            refused 52 check --mode online
            for status in 501 520; do at "?as=status/$status"; refused 52 check; done
            omvault -q profile set work OfflineOnServerError=false
            for status in 511 521 522 523 524; do at "?as=status/$status"; check 2> /dev/null; done
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "--mode offline uses the cached credential, if there is one; omvault profile set work OfflineOnServerError=true "
                    + "makes every login use it after status 500",
                "granted offline user=alice profile=work not_online=server_error",
            ] + Array(repeating: "granted offline user=alice profile=work not_online=unreachable", count: 5))
    }

    @Test(
        "row-D2: a session whose token has ended is renewed by the next login where the server gives a refresh token, else it asks"
    )
    func endedToken() async throws {
        let lines = try await script(
            """
            serve web odd
            grants() { { grep -o 'grant_type=[a-z_]*' "$seen" || echo =none; } | cut -d = -f 2 | tr '\\n' ' '; : > "$seen"; echo; }
            token short-bare
            login; state
            refused 8 omvault login alice --no-input; grep -c 'gave no token to renew it' .refused
            login; grants
            token renewing
            login; state
            omvault login alice --no-input; state; grants
            omvault login alice --no-input; grants
            token first-only
            login; state
            refused 8 omvault login alice --no-input; state; grants
            token first-only
            login; state --online; grants
            """)
        let online = "granted online user=alice profile=work", session = "granted session user=alice profile=work"
        #expect(
            lines == [
                online, #""state":"expired""#, "1", online, "password password ",
                online, #""state":"expired""#, session, #""state":"valid""#, "password refresh_token ", session, "none ",
                online, #""state":"expired""#, "none", "password refresh_token ",
                online, #""state":"ended""#, "password refresh_token ",
            ])
    }

    @Test(
        "S1, T8: a logout and a check that no address is known for, or a wrong one, say that the tokens live on, and what to set")
    func nowhereToRevoke() async throws {
        let lines = try await script(
            """
            serve web odd
            ends() {
                login > /dev/null
                omvault logout alice --json 2> said | grep -o '"server":"[a-z_]*","sdk_code":[a-z0-9]*'
                sed 's/.*may stay open/may stay open/; s/^omvault: //' said
                check 2> said > /dev/null
                grep -c 'the session of this login stays open at the server' said || true
            }
            token plain; ends
            omvault -q profile set work --unset OAuthTokenEndpoint oauth_discoveryURL=http://127.0.0.1:$http/silent/.well-known/openid-configuration
            ends
            discovery ''; ends
            omvault -q profile rm work --yes
            serve other nginx
            basic "https://localhost:$port/login" "TrustedCA=$ca"
            omvault -q profile set work "LogoutURL=https://localhost:$port/status/404"
            check 2> said > /dev/null
            grep -o 'hint: .*' said
            """)
        let message = "may stay open at the server: the server was not asked: the profile has no address that ends sessions"
        #expect(
            lines == [
                #""server":"not_asked","sdk_code":null"#, message,
                "hint: set oauth_discoveryURL instead of OAuthTokenEndpoint: the server's document says where tokens are revoked",
                "1",
                #""server":"not_asked","sdk_code":null"#, message,
                "hint: the document at oauth_discoveryURL must name a revocation_endpoint at a safe address; without one, the "
                    + "tokens stay valid until they expire",
                "1", #""server":"ended","sdk_code":null"#, "0",
                "hint: LogoutURL must be the address that ends a session; if the server has none, set LogoutURL to the address in LoginURL",
            ])
    }

    @Test("T1, T2, T6, T14: a hint names the key of the kind of server that was asked, and what to set it to")
    func hintsByKind() async throws {
        let lines = try await script(
            """
            serve web odd
            token moved; refused 52 check; hints
            token status-404; refused 52 check; hints
            discovery /wrong-issuer; omvault -q profile set work --unset OAuthTokenEndpoint; refused 52 check; hints
            omvault -q profile set work oauth_discoveryURL=http://127.0.0.1:$http/nothing; refused 52 check; hints
            omvault -q profile set work --unset oauth_discoveryURL OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=not-set-up
            refused 52 check; hints
            omvault -q profile rm work --yes
            web() { basic "http://127.0.0.1:$http$1"; refused 52 check; hints; }
            web /hop-6; web /status-404; web /status-431
            """)
        #expect(
            lines == [
                "OAuthTokenEndpoint and the token_endpoint in the server's document must be addresses that do not redirect",
                "OAuthTokenEndpoint must be the address of the token endpoint",
                "oauth_discoveryURL must have the scheme, host and port of the issuer in its document; or set OAuthTokenEndpoint "
                    + "and unset oauth_discoveryURL",
                "oauth_discoveryURL must have the scheme, host and port of the issuer in its document; or set OAuthTokenEndpoint "
                    + "and unset oauth_discoveryURL",
                "the user may have to give consent, use a second factor or change an expired password on the server's own page; "
                    + "or the server's administrator allows OAuthClientID to log in without that",
                "LoginURL must be an address that does not redirect; the address of a folder ends with a slash. If the server sends "
                    + "a page after the password, name the cookies that prove the login in RequiredTokens",
                "LoginURL must be the address of the login, and answer GET",
                "LoginURL must be the address of the login; or the user name, the password or CustomAuthHeaders are too long for "
                    + "this server's limit on a header field",
            ])
    }

    @Test("T5: where the server resets the connection, before its answer or in the middle of it, a hint says how to go offline")
    func reset() async throws {
        let lines = try await script(
            """
            serve web odd
            at() { basic "http://127.0.0.1:$1"; refused 52 check; hints | grep . || echo 'no hint'; }
            at "$resetting/login"
            at "$http/reset"
            omvault -q profile set work OfflineAuthAllowed=false; refused 52 check; hints | grep . || echo 'no hint'
            """)
        let hint = "--mode offline uses the cached credential, if there is one"
        #expect(lines == [hint, hint, "no hint"])
    }

    @Test(
        "T4, T8, S10: profile set says which file cannot be used and which address is not asked, and what a missing LogoutURL may be"
    )
    func profileNotices() async throws {
        let lines = try await script(
            """
            set_() { omvault profile set work "$@" 2>&1 | sed -n "s!$PWD!HERE!; s/^omvault: //p" | grep -v '^profile "work"'; }
            refused 9 omvault profile set none AuthServerType=HTTPBasicAuthentication LoginURL=https://a.example/; hints
            set_ AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner OAuthClientID=id OfflineAuthAllowed=true \\
                OAuthTokenEndpoint=https://localhost:1/t oauth_discoveryURL=https://localhost:1/d || true
            set_ --unset oauth_discoveryURL TrustedCA=$PWD/ca.pem
            printf 'no certificate' > ca.pem
            set_ OAuthClientSecret=file:$PWD/secret
            refused 60 check; hints | tail -n 1
            printf secret > secret
            refused 9 check; grep -o 'was not asked: .*' .refused | sed "s!$PWD!HERE!"
            chmod g+w ca.pem
            set_ OAuthScope=a | sed 's/:.*(Trust/: … (Trust/'
            """)
        #expect(
            lines == [
                "this kind of server needs it; if the server has no logout, set LogoutURL to the address in LoginURL",
                "OAuthTokenEndpoint is used and oauth_discoveryURL is not, so no address for revoking tokens is known; unset one",
                "HERE/ca.pem (TrustedCA) does not exist: no login asks the server until it is a PEM file, and only you or root can "
                    + "change the file and its folder",
                "HERE/secret (OAuthClientSecret) cannot be read: no login asks the server until it can be read",
                "set OAuthClientSecret to the source of the client's secret; --mode offline does not need it",
                "was not asked: HERE/ca.pem (TrustedCA) holds no certificate",
            ] + lines.suffix(1))
        #expect(lines.count == 7 && lines.last?.contains("(TrustedCA)") == true)
    }

    @Test("S10: a credential that the server's clock makes expire at once is told as expired; T13: whose policy it is is told")
    func clockAndApplication() async throws {
        let lines = try await script(
            """
            serve odd odd
            omvault -q profile set slow AuthServerType=HTTPBasicAuthentication "LoginURL=https://localhost:$https/slow-clock" \\
                "LogoutURL=https://localhost:$https/slow-clock" "TrustedCA=$ca" OfflineAuthAllowed=true
            check --profile slow 2> said
            grep -o 'by the server.s clock .* it cannot be used offline' said
            refused 24 check --profile slow --mode offline
            omvault -q profile rm slow --yes
            serve web nginx
            refused 52 omvault profile set work AuthServerType=HTTPBasicAuthentication "LoginURL=https://localhost:$port/login" \\
                "LogoutURL=https://localhost:$port/logout" "TrustedCA=$ca" "ProfileURL=https://localhost:$port/profile"
            grep -o "the server's policy is for another.*used" .refused; hints | head -n 1
            """)
        #expect(
            lines == [
                "granted online user=alice profile=slow",
                "by the server's clock the cached credential expired at 2024-01-31T00:00:00Z, so it cannot be used offline",
                "the server's policy is for another ApplicationName than the profile's, so it is not used",
                "set ApplicationName to the name in the policy at ProfileURL",
            ])
    }
}
