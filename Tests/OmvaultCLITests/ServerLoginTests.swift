// Logins at our own server, from the set-up of its address to the wipe.

import TestSupport
import Testing

@Suite("Logins at omvault-server", .enabled(if: Programs.server != nil)) struct ServerLoginTests {
    /// A server with TLS, the account ana and the application WhitePages.
    static let begin = """
        source "$FUNCTIONS"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 \\
            -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2> /dev/null
        hold_port
        server init --url "https://127.0.0.1:$PORT" --listen "127.0.0.1:$PORT" --certificate "$PWD/cert.pem" \\
            --key "$PWD/key.pem" > /dev/null
        echo 'pw-1&=+ü' | server user add ana
        server policy set WhitePages OfflineAuthAllowed=true MaxLoginAttempts=2 > /dev/null
        SCHEME=https serve
        printf 'pw-1&=+ü' > right; printf 'another password' > wrong
        check() { local code=0; omvault -q login check ana --profile "$1" --password-from "file:$2" > /dev/null 2> err || code=$?; echo "$code"; }

        """

    static func script(_ text: String) async throws -> Ran {
        try await bash(
            begin + text,
            environment: [
                "SERVER": try #require(Programs.server),
                "FUNCTIONS": Programs.scriptPrelude.replacing("prelude.bash", with: "server.bash"),
            ])
    }

    @Test("the server's address alone makes a profile: logins online and offline, the policy's limit, the wipe")
    func address() async throws {
        let ran = try await Self.script(
            """
            omvault -q profile set work "ServerURL=$URL" ApplicationName=WhitePages "TrustedCA=$PWD/cert.pem" 2>&1
            omvault profile show work --json | grep -oE '"MaxLoginAttempts":"?[0-9]+'
            check work right; check work wrong
            end_server
            check work right; check work wrong; check work right
            check work wrong; check work wrong; check work wrong; check work right
            SCHEME=https serve; check work right
            server user block ana; check work right
            """)
        #expect(
            ran.output.split(separator: "\n").joined(separator: " ")
                == "\"MaxLoginAttempts\":2 0 20 0 20 0 20 20 23 23 0 22", "\(ran)")
    }

    @Test("the SDK's configuration URL, with this server's address: set-up, logins online and offline, questions, the wipe")
    func configurationURL() async throws {
        let ran = try await Self.script(
            """
            url="wp://settings?AuthServerType::=OAMMSAuthentication&OAMMSURL::=$URL"
            url="$url&OAMMSServiceDomain::=MobileServiceDomain&ApplicationName::=WhitePages"
            omvault -q profile import "$url&TrustedCA::=$PWD/cert.pem" --name work --yes --allow TrustedCA > /dev/null 2> err
            check work right; check work wrong
            mkdir -m 700 run; export XDG_RUNTIME_DIR=$HOME/run
            omvault -q login ana --password-from file:right > /dev/null
            omvault login status ana --online 2>&1 | grep -o 'server confirms' || true
            omvault -q logout > /dev/null; omvault -q agent stop > /dev/null; export XDG_RUNTIME_DIR=$HOME/none
            end_server
            check work right; check work wrong; check work right
            check work wrong; check work wrong; check work wrong; check work right
            SCHEME=https serve; check work right
            # A question keeps a script out: only a person answers it. It is no wrong password.
            echo 'Grüne Schule' | server question add ana 'The name of your first school?'
            check work right; grep -o 'question' err | head -1
            server user block ana; check work right
            """)
        #expect(
            ran.output.split(separator: "\n").joined(separator: " ")
                == "0 20 server confirms 0 20 0 20 20 23 23 0 8 question 51", "\(ran)")
    }
}
