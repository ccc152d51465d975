// Logins with a client certificate, from the command to nginx: docs/guide/client-certificates.md.

import Foundation
import TestSupport
import Testing

@Suite("Logins with a client certificate") struct CertificateLoginTests {
    /// A vault with identities of the server's clients, unlocked in the agent, and a profile for the certificate alone.
    private static let start = #"""
        set -o pipefail
        agent_folder
        serve mutual
        printf 'correct horse' > vp; printf one > pw; printf 'correct horse 42' > right
        omvault -q init --password-from file:vp --kdf-mem 8 --kdf-time 1 --no-recovery
        omvault -q unlock --password-from file:vp
        keep() {
            openssl pkcs12 -export -inkey "$folder/$1.key" -in "$folder/$1.crt" -name "$1" -passout file:pw -out "$1.p12"
            omvault -q cert import "$1.p12" --password-from file:pw
        }
        keep p256; keep rsa; keep revoked 2> /dev/null
        chmod 700 . ; cp "$ca" ca.pem; chmod 600 ca.pem
        more=(TrustedCA="$PWD/ca.pem" ConnectTimeOut=30 TotalTimeOut=60)
        at() { echo "https://localhost:$port/$1"; }
        omvault -q profile set c AuthServerType=CertificateBasedAuthentication ApplicationName=app LoginURL="$(at login)" \
            LogoutURL="$(at logout)" RequiredTokens=SID ClientCertificate=identity:p256 "${more[@]}"

        """#

    /// - Returns: What the script printed, line by line.
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("the certificate alone logs in, keeps a session, and ends it at the server; a locked vault asks no server")
    func alone() async throws {
        let lines = try await script(
            #"""
            omvault -q login --profile c --json | grep -o '"user":"p256"'
            omvault -q login --profile c --json | grep -o '"mode":"session"'
            omvault -q login refresh p256 --profile c && echo checked
            omvault -q logout p256
            eventually grep -o 'GET /logout HTTP/1.1" 200' "$log"
            omvault -q login ada --profile c --json | grep -o '"user":"ada"'
            omvault -q logout ada
            refused 24 omvault login --profile c --mode offline
            refused 2 omvault login --profile c --password-from file:right
            omvault -q lock
            before=$(wc -l < "$log")
            refused 7 omvault login --profile c
            [[ $(wc -l < "$log") == "$before" ]] && echo unasked
            """#)
        #expect(
            lines == [
                #""user":"p256""#, #""mode":"session""#, "checked", #"GET /logout HTTP/1.1" 200"#, #""user":"ada""#, "unasked",
            ])
    }

    @Test("the agent does not ask the server of a session while the vault is locked, and keeps the session")
    func lockedSession() async throws {
        let lines = try await script(
            #"""
            omvault -q login --profile c > .said
            eventually grep -q 'GET /login HTTP/1.1" 200' "$log"
            omvault -q lock
            before=$(wc -l < "$log")
            refused 7 omvault login refresh p256 --profile c
            [[ $(wc -l < "$log") == "$before" ]] && echo unasked
            omvault -q unlock --password-from file:vp
            omvault -q login refresh p256 --profile c && echo checked
            """#)
        #expect(lines == ["unasked", "checked"])
    }

    @Test("a server's refusal of the certificate, and a server that proves nothing, have their codes")
    func refusals() async throws {
        let lines = try await script(
            #"""
            says() { grep -o "\"sdk_code\":[0-9]*" .refused; }
            try() { omvault -q profile set c "$@"; }
            try ClientCertificate=identity:revoked; refused 51 omvault login --profile c --json; says
            try ClientCertificate=identity:p256 LoginURL="https://localhost:$open/first"
            refused 51 omvault login --profile c --json; says
            try LoginURL="https://localhost:$optional/everyone"; refused 52 omvault login --profile c --json; says
            try LoginURL="https://localhost:$old/login"; refused 52 omvault login --profile c --json
            grep -q ClientCertificateTLS12 .refused && echo hint
            try ClientCertificateTLS12=true; omvault -q login --profile c --json | grep -o '"user":"p256"'
            try ClientCertificate=identity:nothing; refused 10 omvault login --profile c
            """#)
        #expect(
            lines == [
                #""sdk_code":30004"#, #""sdk_code":30001"#, #""sdk_code":20001"#, "hint", #""user":"p256""#,
            ])
    }

    @Test("HTTP Basic behind nginx needs the password and the certificate; without a name a person is asked for the identity")
    func mixed() async throws {
        let lines = try await script(
            #"""
            printf wrong > wrong
            omvault -q profile set b AuthServerType=HTTPBasicAuthentication LoginURL="$(at basic)" LogoutURL="$(at logout)" \
                PresentClientCertificate=true ClientCertificate=identity:rsa "${more[@]}"
            omvault -q login alice --profile b --password-from file:right --json | grep -o '"user":"alice"'
            omvault -q logout alice --profile b
            eventually grep -o 'GET /logout HTTP/1.1" 200' "$log"
            refused 20 omvault login alice --profile b --password-from file:wrong
            omvault -q profile set b PresentClientCertificate=false
            refused 52 omvault login alice --profile b --password-from file:right
            omvault -q profile set b PresentClientCertificate=true --unset ClientCertificate 2> /dev/null
            refused 8 omvault login alice --profile b --password-from file:right --no-input
            refused 4 omvault login check alice --profile c --password-from file:right
            grep -o 'log in with a client certificate' .refused
            """#)
        #expect(lines == [#""user":"alice""#, #"GET /logout HTTP/1.1" 200"#, "log in with a client certificate"])
    }

    @Test("tokens that are bound to the certificate are given to no program, and rest sends them with it")
    func bound() async throws {
        let lines = try await script(
            #"""
            set_o() {
                omvault -q profile set o AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthResourceOwner \
                    OAuthClientID=c OAuthTokenEndpoint="$(at token-bound)" OAuthRevocationEndpoint="$(at revoke/o)" TokenRelease=allow \
                    OAuthSenderConstraint=mtls "${more[@]}" "$@"
            }
            refused 9 set_o
            set_o ClientCertificate=identity:p256
            omvault -q login alice --profile o --password-from file:right > .said
            refused 13 omvault token get o
            grep -o 'omvault rest GET URL --profile o' .refused
            refused 125 omvault run --token T=o -- true
            omvault rest GET "$(at held)" --profile o | sed 's/ey.*/JWT/'; echo
            refused 2 omvault rest GET "$(at held)" --profile o --cert rsa
            refused 13 omvault rest GET "https://localhost:$optional/held" --profile o
            omvault -q profile set o ClientCertificate=identity:rsa
            refused 52 omvault login alice --profile o --password-from file:right --mode online
            grep -o 'not bound to the client certificate' .refused
            omvault -q logout alice --profile o > .said 2>&1 || true
            rest() { omvault rest GET "$@" --trusted-ca ca.pem; echo; }
            rest "$(at held)" --cert rsa
            rest "$(at away)" --cert rsa --follow 3
            refused 1 omvault rest GET "$(at back)" --cert rsa --follow 3 --trusted-ca ca.pem
            try() { omvault cert try "$@" --trusted-ca ca.pem; }
            try p256 "$(at login)"
            try p256 "https://localhost:$optional/everyone" --json | grep -o '"asks":"[a-z]*"'
            refused 51 try revoked "$(at login)" --json
            refused 52 try p256 "https://localhost:$open/login"
            refused 52 try p256 "https://localhost:$old/login"
            refused 2 omvault cert try p256 http://localhost/
            omvault -q lock
            before=$(wc -l < "$log")
            refused 7 try p256 "$(at login)"
            refused 7 omvault rest GET "$(at held)" --cert rsa --trusted-ca ca.pem
            [[ $(wc -l < "$log") == "$before" ]] && echo unasked
            """#)
        #expect(
            lines == [
                "omvault rest GET URL --profile o", "CN=p256 Bearer JWT", "not bound to the client certificate",
                "CN=rsa ", "NONE ", "asks\tfor a certificate, and refuses clients without one", "without\tstatus 400",
                "with\tstatus 200", "TLS\t1.3", "key\tec-p256, 256 bits", "result\taccepted", #""asks":"optional""#, "unasked",
            ])
    }

    @Test("a request shows the certificate of --cert beside a token that is bound to a key of the session, with its proof")
    func proved() async throws {
        let lines = try await script(
            #"""
            at_mutual=$port
            serve tokens bound
            u=http://127.0.0.1:$http
            oauth "OAuthTokenEndpoint=$u/token" "OAuthRevocationEndpoint=$u/revoke" OAuthSenderConstraint=dpop \
                "RESTOrigins=https://localhost:$at_mutual" "${more[@]}"
            login --profile work > .said
            rest() { omvault rest GET "https://localhost:$at_mutual/proved" --profile work "$@"; }
            for n in 1 2; do rest --cert p256 | sed 's/ at-[0-9]*/ TOKEN/; s/ eyJ[^ ]*/ PROOF/'; echo; done
            refused 1 rest
            omvault -q lock
            refused 7 rest --cert p256
            """#)
        #expect(lines == ["CN=p256 DPoP TOKEN PROOF", "CN=p256 DPoP TOKEN PROOF"])
    }

    @Test("a client of OAuth proves itself with its certificate, at the alias of the server's document")
    func oauth() async throws {
        let lines = try await script(
            #"""
            omvault -q profile set o AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthClientCredentials OAuthClientID=c \
                oauth_discoveryURL="https://localhost:$open/.well-known/openid-configuration" OAuthClientAuthMethod=tls_client_auth \
                OAuthEndpointOrigins="https://localhost:$port" ClientCertificate=identity:p256 "${more[@]}"
            omvault token get o --no-agent; echo
            omvault -q profile set o ClientCertificate=identity:revoked
            refused 51 omvault token get o --no-agent
            """#)
        #expect(lines == ["of CN=p256"])
    }
}
