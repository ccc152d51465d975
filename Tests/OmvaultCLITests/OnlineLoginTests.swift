// Logins at servers, seen through strace. The page login-with-a-server.md has the rest.

import Foundation
import TestSupport
import Testing

/// The start of each script: `profile PATH` makes the profile `work` for that path, and `check FILE` logs in.
private let start = """
    profile() { basic "https://localhost:$port$1" "TrustedCA=$ca" "${@:2}"; }
    check() {
        local code=0
        omvault -q login check "${user:-alice}" --kdf-mem 8 --kdf-time 1 --password-from "file:$1" "${@:2}" > .said || code=$?
        sed 's/ age=[0-9]*//' .said
        return $code
    }

    """

@Suite("Logging in with a server") struct OnlineLoginTests {
    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(start + text, location)
    }

    @Test("R29: a login stops waiting for a silent server at the deadline, and Ctrl-C stops it at once")
    func blackHole() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            serve odd odd
            basic "http://127.0.0.1:$blackhole/login" ConnectTimeOut=1 TotalTimeOut=1
            refused 50 check right
            grep ' error: ' .refused
            began=$SECONDS
            refused 50 check right --mode online
            (( SECONDS - began < 60 ))
            basic "http://127.0.0.1:$blackhole/login" ConnectTimeOut=60 TotalTimeOut=300
            set -m
            began=$SECONDS
            # What starts a test's processes holds signals back, and they inherit that.
            python3 -c 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execvp(sys.argv[1], sys.argv[1:])' \\
                strace -f -o trace -e trace=execve,connect omvault login check alice --password-from file:right &
            tracer=$!
            while_runs $tracer grep -qs "sin_port=htons($blackhole)" trace
            read -r omvault _ < trace
            kill -INT "$omvault"
            # strace ends with the last process that it follows, so the helper is gone then too.
            code=0; wait $tracer || code=$?
            echo "interrupted $code"
            (( SECONDS - began < 200 ))
            omvault login status --json | grep -o '"charged":[0-9]*' | sort -u
            """)
        #expect(
            lines == [
                "granted online user=alice profile=work",
                "omvault: error: the server was not reached: it did not answer in time; and offline: no credential is "
                    + "cached for this user and profile",
                "interrupted 130", #""charged":0"#,
            ])
    }

    @Test("R21: an offline login opens no connection, with a right password, a wrong one or an unknown user")
    func noConnection() async throws {
        let lines = try await script(
            """
            serve web nginx
            profile /login
            check right
            printf 'SID=abc' > session
            quiet() {
                strace -f -o trace -e trace=connect,socket,execve omvault -q login check "$1" --mode offline \\
                    --password-from "file:$2"
            }
            quiet alice right > granted
            refused 20 quiet alice wrong
            refused 20 quiet alice session
            refused 24 quiet bob right
            refused 1 grep -e 'AF_INET' -e connect -e omvault-agent trace
            # Of omvault and of omvault-full.
            grep -c execve trace
            omvault -q login check alice --password-from file:right > granted
            strace -f -o trace -e trace=connect omvault -q login check alice --password-from file:right > granted
            grep -q AF_INET trace
            """)
        #expect(lines == ["granted online user=alice profile=work", "2"])
    }
}
