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
}
