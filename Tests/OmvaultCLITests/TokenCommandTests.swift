// Access tokens from the command to the server. The pages tokens.md and tokens-at-a-terminal.md have the rest.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Access tokens at the command line") struct TokenCommandTests {
    /// A login at an endpoint whose first token is dead, and whose tokens all differ.
    private static let start = """
        set -o pipefail
        agent_folder
        unique() {
            serve odd
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=unique" TokenRelease=allow "$@"
            login
        }
        refreshed() { grep -c grant_type=refresh_token "$seen" || true; }
        process() { omvault agent status --json | grep -o '"process":[0-9]*' | cut -d: -f2; }
        murder() { kill -9 "$(process)"; eventually no_agent; }
        no_agent() { ! omvault agent status > said 2>&1; }

        """

    /// - Returns: What the script printed, line by line.
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("fifty processes with an expired token make one request at the server, and get fifty equal tokens")
    func herd() async throws {
        let lines = try await script(
            """
            unique
            for n in {1..50}; do omvault token get work --format header > got.$n & done
            wait
            sort got.* | uniq -c | sed 's/^ *//'
            refreshed
            """)
        #expect(lines == ["granted online user=alice profile=work", "50 Authorization: Bearer at-2", "1"])
    }

    @Test("another agent has no token, unless the profile lets the session survive; then it has the newest refresh token")
    func restart() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let lines = try await script(
            """
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
            unique
            omvault token get work; echo
            murder
            refused 10 omvault token get work
            omvault -q agent start
            refused 10 omvault token get work
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=unique" TokenRelease=allow SessionActiveOnRestart=true
            login
            # The server takes each refresh token once. So a lost one would end the session here.
            for n in 1 2 3; do omvault token get work --fresh; echo; murder; done
            # No agent runs. The command starts one, because there is a ticket.
            omvault token get work; echo
            omvault token get work --fresh; echo
            omvault -q logout alice
            refused 10 omvault token get work
            ls "$XDG_RUNTIME_DIR/omvault" | grep -c omvault-session- || true
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "at-2", "granted online user=alice profile=work", "at-4", "at-5",
                "at-6", "at-6", "at-7", "0",
            ])
    }

    @Test(
        "a token is in no argument, environment or file, neither of the command nor of the agent and its helper",
        .enabled(if: geteuid() == 0, "only root may see what a process waits for"))
    func nowhere() async throws {
        let lines = try await script(
            #"""
            # The token is looked for wherever a process of this user could read it, while the command prints it into a full pipe.
            cat > look.py <<'PY'
            import os, pathlib, subprocess, sys
            reader, writer = os.pipe()
            os.set_blocking(writer, False)
            try:
                while True: os.write(writer, b"x" * 4096)
            except BlockingIOError: pass
            os.set_blocking(writer, True)
            # This text itself is in the arguments of the shell.
            needle = b"a-token-that-occurs-" + b"nowhere-else-4711"
            child = subprocess.Popen(["omvault", "token", "get", "work", "--format", "header"], stdout=writer)
            os.close(writer)
            # It waits for the pipe once it has the token.
            while True:
                call = pathlib.Path(f"/proc/{child.pid}/syscall").read_text().split()
                # write to standard output: 1 on x86-64, 64 on ARM64
                if call[:2] in (["1", "0x1"], ["64", "0x1"]) or child.poll() is not None: break
            print("waits" if child.poll() is None else "ended")
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                for name in "cmdline", "environ":
                    try:
                        if needle in (process / name).read_bytes(): print(process, name)
                    except OSError: pass
            data = b""
            while piece := os.read(reader, 65536): data += piece
            print(data.lstrip(b"x") == b"Authorization: Bearer " + needle + b"\n", child.wait())
            PY
            serve odd
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=marked" TokenRelease=allow
            login
            python3 look.py
            grep -rla "occurs-""nowhere" . || echo clean
            """#)
        #expect(lines == ["granted online user=alice profile=work", "waits", "True 0", "clean"])
    }

    @Test("the log of logins names the program that got a token, and counts equal handouts")
    func logged() async throws {
        let lines = try await script(
            #"""
            given() {
                omvault log ls --logins --json | grep -o '"user":"[^"]*","profile":"[^"]*","event":"token_given"[^}]*' \
                    | sed -E 's/"(first)":"[^"]*",//; s/"(user|profile|event|count|program|pid|uid|scopes|proven)"://g; s/"//g' \
                    | sed "s,$(readlink "/proc/$$/exe"),SHELL,; s/,$$,/,PID,/; s/,$UID,/,UID,/; s/,$named,/,PID,/"
            }
            unique
            named=none
            omvault token get work > got
            given
            for n in 1 2 3; do omvault -q token get work > got; done
            refused 13 omvault token get work --scope z
            # A copy of the shell is another program.
            cp "$(readlink "/proc/$$/exe")" other
            ./other -c 'echo $$ > pid; omvault -q token get work > got; true'; named=$(< pid)
            # The others wait for the end of the minute, or of the agent.
            omvault -q agent stop
            whole() { [[ $(given | cut -d , -f 4 | head -n 1) == 4 ]]; }
            eventually whole
            given | sed "s,$PWD/,,"
            omvault log verify --logins > verified 2>&1 && echo verified
            omvault log ls --logins --format plain | grep -o 'token_given.*, scopes a b; 4 times' | wc -l
            """#)
        #expect(
            lines == [
                "granted online user=alice profile=work", "alice,work,token_given,1,SHELL,PID,UID,[a,b],true",
                "alice,work,token_given,4,SHELL,PID,UID,[a,b],true", "alice,work,token_given,1,other,PID,UID,[a,b],true",
                "verified", "1",
            ])
    }

    @Test("the log of logins names user and profile of a token also if no credential is cached and there is no ledger")
    func loggedUncached() async throws {
        let lines = try await script(
            #"""
            unique OfflineAuthAllowed=false
            given() { omvault log ls --logins --json | grep -o '"user":[^,]*,"profile":[^,]*,"event":"token_given"' || true; }
            omvault token get work > got
            given
            omvault -q agent stop
            omvault log verify --logins > verified 2>&1 && echo verified
            """#)
        #expect(
            lines == [
                "granted online user=alice profile=work not_cached=offline_not_allowed",
                #""user":"alice","profile":"work","event":"token_given""#, "verified",
            ])
    }

    @Test("--exact-scope and --resource reach the server, the session's own token stays, and other scopes end with 13")
    func exactScopes() async throws {
        let lines = try await script(
            #"""
            start() {
                oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=$1" TokenRelease=allow OAuthScope=a,b
                login > /dev/null
            }
            get() { omvault -q token get work --json "$@" | grep -o '"access_token":"[^"]*"\|"scopes":[^]]*]' | paste -d ' ' - -; }
            serve odd
            start narrowing
            get
            get --scope a --exact-scope; get --exact-scope --scope a --min-valid 600
            get --resource https://api.example.org/x; get --scope b --exact-scope --resource https://api.example.org/x
            get; get --scope a,b
            grep -o 'refresh_token=rt-[^"]*' "$seen" | sed 's/&client_id=omvault//'
            refused 13 omvault token get work --scope c --exact-scope
            refused 2 omvault token get work --exact-scope
            refused 2 omvault token get work --scope '*' --exact-scope
            refused 2 omvault token get work --resource 'no address'
            refused 2 omvault token get work --no-agent --resource https://api.example.org
            start unique
            refused 13 omvault token get work --scope a --exact-scope
            grep error .refused
            get --scope a
            """#)
        #expect(
            lines == [
                #""access_token":"at-2" "scopes":["a","b"]"#, #""access_token":"at-3" "scopes":["a"]"#,
                #""access_token":"at-3" "scopes":["a"]"#, #""access_token":"at-4" "scopes":["a","b"]"#,
                #""access_token":"at-5" "scopes":["b"]"#, #""access_token":"at-2" "scopes":["a","b"]"#,
                #""access_token":"at-2" "scopes":["a","b"]"#, "refresh_token=rt-1", "refresh_token=rt-2&scope=a",
                "refresh_token=rt-3&resource=https%3A%2F%2Fapi.example.org%2Fx",
                "refresh_token=rt-4&scope=b&resource=https%3A%2F%2Fapi.example.org%2Fx",
                "omvault: error: the server gave a token with the scopes a b, and not with exactly those that were asked for",
                #""access_token":"at-8" "scopes":["a","b"]"#,
            ])
    }

    @Test("glewlwyd's tokens differ after --fresh, and a narrower scope gets the held one")
    func glewlwyd() async throws {
        let lines = try await script(
            """
            serve glewlwyd
            printf omvault-secret > secret
            oauth "oauth_discoveryURL=$issuer/.well-known/openid-configuration" "OAuthClientSecret=file:$PWD/secret" \\
                OAuthScope=profile TokenRelease=allow
            login
            omvault token get work > one
            omvault token get work --scope profile > two
            cmp one two && echo same
            refused 13 omvault token get work --scope openid
            for n in 1 2 3 4 5 6 7 8; do omvault token get work --fresh > fresh.$n & done
            wait
            omvault token get work > three
            cmp -s one three || echo another
            for n in 1 2 3 4 5 6 7 8; do [[ -s fresh.$n ]] || echo empty; done
            omvault token get work --min-valid 4000 > four 2> words; sed 's/in [0-9]* s/in … s/' words
            omvault token show work | head -n 3 | tr '\\t' ' '
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work", "same", "another",
                "omvault: the server's tokens expire sooner than asked: this one in … s", "profile work", "user alice",
                "scopes profile",
            ])
    }
}

extension ServerLoginTests {
    @Test("omvault-server gives tokens to a client, and to the agent; while it is down the held one stays, and nothing is lost")
    func tokens() async throws {
        let ran = try await Self.script(
            """
            server client add robot --scope profile > robot
            printf 'pw-1&=+ü' > right
            umask 077; mkdir run; export XDG_RUNTIME_DIR=$HOME/run
            trap 'omvault -q agent stop > /dev/null 2>&1; end_server || true' EXIT
            omvault -q profile set backup AuthServerType=OAuthAuthentication OAuthAuthZGrantType=OAuthClientCredentials \\
                OAuthClientID=robot "OAuthClientSecret=file:$PWD/robot" "TrustedCA=$PWD/cert.pem" \\
                "oauth_discoveryURL=$URL/.well-known/oauth-authorization-server" 2>&1
            omvault token get backup --no-agent > own
            [[ -s own ]] && echo own
            omvault token get backup --no-agent --format header > own; cut -d ' ' -f 1,2 own
            omvault -q agent status > /dev/null 2>&1 || echo 'no agent'
            printf wrong > robot; code=0
            omvault -q token get backup --no-agent 2> err || code=$?; echo "$code"
            omvault -q profile set work "ServerURL=$URL" ApplicationName=WhitePages "TrustedCA=$PWD/cert.pem" \\
                TokenRelease=allow 2>&1
            omvault -q login ana --profile work --password-from file:right --kdf-mem 8 --kdf-time 1 > /dev/null
            get() { local code=0; omvault -q token get work "$@" > "got" 2> err || code=$?; echo "$code"; }
            get; cp got first
            get --fresh; cmp -s got first || echo another; cp got second
            end_server; trap 'omvault -q agent stop > /dev/null 2>&1' EXIT
            get; cmp got second && echo held
            get --fresh; get --min-valid 1000000; get
            omvault -q token get backup --no-agent > own 2> err || echo $?
            SCHEME=https serve; trap 'omvault -q agent stop > /dev/null 2>&1; end_server || true' EXIT
            # The refusal before counts for two seconds.
            given() { [[ $(get --fresh) == 0 ]]; }
            eventually given; cmp -s got second || echo another
            """)
        #expect(
            ran.output.split(separator: "\n").joined(separator: " ")
                == "own Authorization: Bearer no agent 51 0 0 another 0 held 50 50 0 50 another", "\(ran)")
    }

    @Test("omvault-server gives the scopes of the login to every refresh: all of them are another token, and fewer end with 13")
    func exactScopes() async throws {
        let ran = try await Self.script(
            """
            printf 'pw-1&=+ü' > right
            umask 077; mkdir run; export XDG_RUNTIME_DIR=$HOME/run
            trap 'omvault -q agent stop > /dev/null 2>&1; end_server || true' EXIT
            omvault -q profile set work "ServerURL=$URL" ApplicationName=WhitePages "TrustedCA=$PWD/cert.pem" \\
                OAuthScope=profile,sync TokenRelease=allow 2>&1
            omvault -q login ana --profile work --password-from file:right --kdf-mem 8 --kdf-time 1 > /dev/null
            get() { local code=0; omvault -q token get work "$@" > "got" 2> err || code=$?; echo "$code"; }
            get; cp got own
            get --scope profile,sync --exact-scope; cmp -s got own || echo another; cp got exact
            get --scope sync,profile --exact-scope; cmp got exact && echo held
            get --scope profile --exact-scope
            get; cmp got own && echo own
            get --fresh; cmp -s got own || echo renewed
            """)
        #expect(
            ran.output.split(separator: "\n").joined(separator: " ") == "0 0 another 0 held 13 0 own 0 renewed", "\(ran)")
    }
}
