// The access token that the small program gets from the agent itself: when it does, and when it leaves that to omvault-full.

import Foundation
import TestSupport
import Testing

@Suite("Tokens from the small program") struct QuickTokenTests {
    /// `alone` is the small program without omvault-full beside it: it says only what it answers itself.
    private static let start = #"""
        set -o pipefail
        agent_folder
        serve odd
        oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=${as:-plain}" TokenRelease=allow
        login > /dev/null
        mkdir alone; cp "$(command -v omvault)" alone/
        alone() { alone/omvault token get "$@" 2> errors && echo || { grep -q 'omvault-full is missing' errors && echo left; }; }

        """#

    private func script(_ text: String, before: String = "", _ location: SourceLocation = #_sourceLocation) async throws
        -> [String]
    {
        try await Serving.lines(before + Self.start + text, location)
    }

    @Test(
        "it gives a token once omvault-full has compared the session with the profile, in three forms, and the log names the program"
    )
    func given() async throws {
        let lines = try await script(
            #"""
            alone work
            omvault token get work; echo
            alone work; alone work --format raw; alone work --format header; alone work --format curl
            for words in '--format env' '--format json' '--json' '--min-valid 60' '--fresh' '--format=raw'; do alone work $words; done
            alone ../profiles/work; alone nothing; alone; alone --help
            (OMVAULT_FORMAT=json alone work)
            omvault log ls --logins --json | grep -o '"event":"token_given"' | sort -u
            omvault -q logout alice
            alone work
            """#)
        let left = [String](repeating: "left", count: 6)
        #expect(
            lines == ["left", "at-1", "at-1", "at-1", "Authorization: Bearer at-1", #"header = "Authorization: Bearer at-1""#]
                + left + ["left", "left", "left", "left", "left", #""event":"token_given""#, "left"], "\(lines)")
    }

    @Test("after a change of the profile or of the login it gives none, until omvault-full has compared them again")
    func changed() async throws {
        let lines = try await script(
            #"""
            omvault token get work > first
            alone work
            # Another spelling of the same profile is read as another one.
            profile=.config/omvault/profiles/work.json
            cp $profile kept; echo >> $profile
            alone work
            cp kept $profile; alone work
            omvault -q profile set work MaxLoginAttempts=3
            alone work
            refused 10 omvault token get work
            alone work
            login > /dev/null
            alone work; omvault token get work > first; alone work
            # Two sessions under one profile: no one knows whose token is meant.
            omvault -q login bob --kdf-mem 8 --kdf-time 1 --password-from file:right > said
            alone work
            omvault -q logout bob
            alone work
            chmod 755 .config/omvault/profiles; alone work; chmod 700 .config/omvault/profiles
            omvault -q agent stop; alone work
            """#)
        #expect(
            lines == ["at-1", "left", "at-1", "left", "left", "left", "at-1", "left", "at-1", "left", "left"], "\(lines)")
    }

    @Test("omvault-full takes no helper that another process started, whatever a variable says")
    func foreignHelper() async throws {
        let ran = try await bash(
            #"""
            cat > foreign.py <<'END'
            import os, signal, socket
            ours, theirs = socket.socketpair()
            bystander = os.fork()
            if bystander == 0: signal.pause()
            # Port 1 refuses, so only a helper of its own can say so.
            child = os.fork()
            if child == 0:
                other = os.fork()
                if other == 0: os.close(theirs.fileno()); print(ours.recv(100), flush=True); os._exit(0)
                ours.close()
                os.dup2(theirs.fileno(), 9)
                now = int(float(open("/proc/uptime").read().split()[0]) * 1000)
                # It runs, and is no child of this process.
                os.environ["OMVAULT_REQUEST_HELPER"] = f"{os.getpid()} 9 {bystander} {now}"
                theirs.close()
                os.execvp("omvault-full", ["omvault-full", "rest", "GET", "http://127.0.0.1:1/"])
            ours.close(); theirs.close()
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            os.kill(bystander, signal.SIGKILL)
            END
            python3 foreign.py 2> errors
            head -n 1 errors
            """#)
        #expect(
            ran.output.split(separator: "\n").sorted() == [
                "50", "b''", "omvault: error: the server was not reached: the connection was refused",
            ], "\(ran.output)\(ran.errors)")
    }

    @Test("a token that has to be renewed or agreed to, and a token for no line, is left to omvault-full")
    func left() async throws {
        let lines = try await script(
            #"""
            for kind in short brief injected; do
                oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=$kind" TokenRelease=allow
                login > /dev/null
                omvault -q token get work > first 2> errors || true
                alone work --format header
            done
            for release in confirm never; do
                oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=plain" TokenRelease=$release
                login > /dev/null
                refused $([[ $release == never ]] && echo 13 || echo 8) omvault token get work --no-input
                alone work
            done
            """#)
        #expect(lines == ["left", "left", "left", "left", "left"], "\(lines)")
    }
}
