#if Server
// Tests of the program `omvault-server`, with curl as its client.

import TestSupport
import Testing

@Suite("The program omvault-server") struct ServerProgramTests {
    /// Runs a script with the functions of Tests/Scripts/server.bash.
    ///
    /// - Parameter dialogue: With it the script runs at a terminal, where a user types.
    func script(_ text: String, _ dialogue: [(prompt: String, answer: String?)]? = nil) async throws -> Ran {
        let home = try TestFolder()
        let server = try #require(Programs.server)
        let functions = Programs.scriptPrelude.replacing("prelude.bash", with: "server.bash")
        let command = ["/bin/bash", "-euo", "pipefail", "-c", "source \(functions)\n\(text)"]
        let environment = ["PATH": "/usr/bin:/bin", "HOME": home.path, "SERVER": server, "LC_ALL": "C.UTF-8"]
        guard let dialogue else { return try await run(command, in: home, environment: environment) }
        return try await runAtTerminal(command, dialogue, in: home, environment: environment)
    }

    private static let begin = """
        server init --url http://127.0.0.1:8080 --listen 127.0.0.1:0 > /dev/null
        echo 'a long password' | server user add ana
        serve
        status() { curl -s -o body -D head -w '%{http_code}' "$@"; echo; }
        token() { curl -s -d "grant_type=password&username=ana&client_id=omvault&device=laptop&scope=sync" \\
            --data-urlencode "password=$1" $URL/oauth2/token; }

        """

    @Test("a server is made, logs an account in, is asked, and stops gracefully")
    func whole() async throws {
        let ran = try await script(
            Self.begin + """
                status $URL/healthz; cat body
                token 'a long password' | grep -o '"token_type":"Bearer"'
                server device ls | cut -f 2-4
                server device revoke "$(server device ls | cut -f 1)"; server device ls
                server user block ana; token 'a long password' | grep -o 'Account is blocked'
                server user unblock ana; token 'a long password' | grep -c access_token
                echo 'another password' | server user passwd ana --end-grants; server device ls
                token 'another password' | grep -c access_token
                server user ls; server user rm ana --yes; token 'another password' | grep -o Wrong
                server policy set App MaxLoginAttempts=7; curl -s $URL/v1/profiles/App; echo
                server client add backup > secret; server client ls; server client rm backup
                end_server; echo "ended $?"; tail -1 server.log | grep -o stopped
                """)
        #expect(
            ran.output == """
                200
                ok
                "token_type":"Bearer"
                ana\tlaptop\tsync
                Account is blocked
                1
                1
                ana\tactive\t0
                Wrong
                epoch=1
                MaxLoginAttempts=7
                {"ApplicationName":"App","MaxLoginAttempts":"7","epoch":1}
                backup\tprofile
                ended 0
                stopped

                """, "\(ran)")
        #expect(ran.errors == "")
    }

    @Test("what is malformed, too long or too large gets its 4xx, and the server goes on")
    func malformed() async throws {
        let ran = try await script(
            Self.begin + """
                long() { head -c "$1" /dev/zero | tr '\\0' a; }
                status $URL/nothing; status -X PATCH $URL/healthz; status -X PUT $URL/healthz
                status --path-as-is $URL/v1/../healthz; status --path-as-is "$URL/v1/profiles/a%2Fb"; status "$URL/v1/%zz"
                status "$URL/v1/profiles/$(long 2000)"; status "$URL/healthz?$(long 9000)"
                long 70000 > large; status --data-binary @large $URL/oauth2/token
                status -H "Transfer-Encoding: chunked" --data-binary @large $URL/oauth2/token
                status -H "X: $(long 20000)" $URL/healthz
                status -H 'Authorization: Bearer a' -H 'Authorization: Bearer b' $URL/healthz
                status -d '{}' -H 'Content-Type: application/json' $URL/oauth2/token
                printf 'not HTTP at all\\r\\n\\r\\n' | timeout 5 bash -c "cat > /dev/tcp/127.0.0.1/$PORT"
                status $URL/healthz
                """)
        #expect(
            ran.output.split(separator: "\n").joined(separator: " ")
                == "404 405 405 404 404 404 400 400 413 413 400 400 415 200", "\(ran)")
    }

    @Test("the log has a line for each request, and no query, name, password or token")
    func log() async throws {
        let ran = try await script(
            Self.begin + """
                token 'a long password' > tokens; token 'a wrong password' > /dev/null
                secret=$(grep -o 'omvr_[^"]*' tokens)
                curl -s "$URL/v1/profiles/canary-app?canary=query" > /dev/null; curl -s "$URL/canary/path" > /dev/null
                curl -s -d "grant_type=refresh_token&client_id=omvault&refresh_token=$secret" $URL/oauth2/token > /dev/null
                end_server
                grep -c '"request"' server.log
                ! grep -E "canary|ana|long|wrong|omv[ar]_" server.log
                grep -o '"route":"[^"]*"' server.log | sort -u
                """)
        #expect(
            ran.output == """
                5
                "route":"/*/*"
                "route":"/oauth2/token"
                "route":"/v1/profiles"

                """, "\(ran)")
    }

    @Test("TLS: a client checks the certificate; without one the server listens on a loopback address only")
    func tls() async throws {
        let ran = try await script(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 \\
                -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2> /dev/null
            server init --url https://127.0.0.1:8443 --listen 127.0.0.1:0 --certificate "$PWD/cert.pem" --key "$PWD/key.pem" > /dev/null
            SCHEME=https serve
            curl -s --cacert cert.pem $URL/healthz
            curl -s $URL/healthz || echo "unknown authority $?"
            curl -s --cacert cert.pem --tls-max 1.1 $URL/healthz || echo "old TLS $?"
            end_server
            "$SERVER" init --data other --url https://a.example --listen 0.0.0.0:80 2>&1 || echo "code $?"
            """)
        #expect(
            ran.output == """
                ok
                unknown authority 60
                old TLS 35
                omvault-server: error: without a certificate the server listens on a loopback address only
                omvault-server: hint: --certificate and --key, or --listen 127.0.0.1:8080
                code 2

                """, "\(ran)")
    }

    @Test("passwords and answers are typed twice and not shown; a signal at the question leaves the terminal with its echo")
    func terminal() async throws {
        let ran = try await script(
            """
            # The shell goes on after Ctrl-C.
            trap : INT
            server init --url http://127.0.0.1:8080 --listen 127.0.0.1:0 > /dev/null
            server user add ana; server question add ana 'Which school?'; server question ls ana
            server user add bob || echo "differ $?"
            server user add bob || echo "interrupt $?"; echoes
            "$SERVER" user add --data "$PWD/server" bob < /dev/tty & asking=$!
            await_silence; kill -TERM $asking; wait $asking || echo "terminate $?"; echoes
            server user ls
            """,
            [
                ("New password for ana: ", "canary password\n"), ("Again: ", "canary password\n"),
                ("Answer: ", "canary answer\n"),
                ("Again: ", "canary answer\n"), ("New password for bob: ", "canary password\n"), ("Again: ", "canary passwort\n"),
                ("New password for bob: ", "canary\u{3}"),
            ])
        #expect(!ran.output.contains("canary"), "\(ran)")
        let lines = ran.output.split(separator: "\r\n").filter { !$0.contains(": ") }
        #expect(
            lines == [
                "1\tWhich school?", "differ 8", "interrupt 130", "echo", "terminate 143", "echo", "ana\tactive\t0",
            ], "\(ran)")
    }

    @Test("bad input of an administrator gets a clear error and its code, and changes nothing")
    func administrator() async throws {
        let ran = try await script(
            """
            code() {
                "$@" > out 2> err && echo "ran: $*" ||
                    echo "$? $(sed -n 's/omvault-server: error: //p;/^Error/p' err | head -1 | sed "s|$HOME|HOME|")"
            }
            code server user ls
            server init --url http://127.0.0.1:8080 --listen 127.0.0.1:0 > /dev/null
            code server init --url http://127.0.0.1:8080
            code "$SERVER" init --data x --url ftp://a; code "$SERVER" init --data x --url http://a.example
            echo short > short; code server user add ana < short; echo ' ' > blank; code server question add ana Why < blank
            echo 'a long password' > long; server user add ana < long; code server user add ana < long
            code server user add a:b < long; code server user rm bob --yes; code server user block bob; code server user rm ana < /dev/null
            code server policy set App Nothing=1; code server policy set App MaxLoginAttempts=many; code server policy show App
            code server device revoke zz; code server client rm x; code server client add 'a b'; code server client add a --scope root
            code "$SERVER" nothing
            chmod 644 server/settings.json; code server user ls; chmod 600 server/settings.json
            sed -i 's/"most_connections"/"most_connection"/' server/settings.json; code server user ls
            """)
        #expect(
            ran.output == """
                9 "HOME/server/settings.json" is not there
                5 "HOME/server/settings.json" is there already
                2 not an address of a server: ftp://a
                2 http is for this machine only: http://a.example
                8 a password has 8 to 1024 bytes
                2 the answer is empty; no question was added
                5 there is an account "ana" already
                2 "a:b" is not a name of an account
                10 there is no account "bob"
                10 there is no account "bob"
                8 removing an account needs an answer
                2 not a key of a policy: Nothing=1
                2 MaxLoginAttempts does not take "many"
                10 there is no policy "App"
                10 there is no login "zz"
                10 there is no client "x"
                2 "a b" is not an id of a client
                2 not a list of scopes: root
                2 Error: Unexpected argument 'nothing'
                9 another user can change "HOME/server/settings.json"
                9 "HOME/server/settings.json" is not a server's settings

                """, "\(ran)")
    }
}
#endif
