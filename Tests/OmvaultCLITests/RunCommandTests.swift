// `omvault run`: tokens for a program, its exit code, its signals, and what is left afterwards.

import Foundation
import TestSupport
import Testing

@Suite("Programs that get access tokens") struct RunCommandTests {
    private static let start = #"""
        set -o pipefail
        agent_folder
        unique() {
            serve odd
            oauth "OAuthTokenEndpoint=http://127.0.0.1:$http/token?as=${as:-unique}" TokenRelease=allow "$@"
            login > /dev/null
        }
        in_memory() {
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            at_end='omvault -q agent stop; rm -rf "$XDG_RUNTIME_DIR"'
        }
        left() { find "$XDG_RUNTIME_DIR" -name '*run-*'; }
        code() { local code=0; "$@" 2> errors || code=$?; echo "$code"; }

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        try await Serving.lines(Self.start + text, location)
    }

    @Test("a program gets a token in a variable and as a sealed descriptor, and nothing else of the environment changes")
    func variableAndDescriptor() async throws {
        let lines = try await script(
            #"""
            unique
            export TOKEN=before OTHER=stays
            omvault run --no-mask --token TOKEN=work --token SECOND=work:a,b --token-fd 3=work -- \
                bash -c 'echo "$TOKEN $SECOND $OTHER $(cat <&3) $0 $*"' zero 'one two' --json -- three
            omvault run --no-mask --token-fd 7=work --token-fd 3=work -- python3 -c '
            import fcntl, os
            for fd in 3, 7:
                print(os.read(fd, 100), fcntl.fcntl(fd, fcntl.F_GET_SEALS))
                for change in lambda: os.write(fd, b"x"), lambda: os.ftruncate(fd, 0):
                    try: change(); print("changed")
                    except OSError: pass
            '
            omvault run --token-fd 3=work -- env | grep -c '^TOKEN=before$'
            omvault run --token-fd 3=work --no-mask -- env | grep -c at-2 || true
            omvault run --token TOKEN=work --token-fd 3=work -- bash -c 'echo "$TOKEN $(cat <&3)"'
            """#)
        #expect(
            lines == [
                "at-2 at-2 stays at-2 zero one two --json -- three", "b'at-2' 15", "b'at-2' 15", "1", "0",
                "<concealed:TOKEN> <concealed:TOKEN>",
            ])
    }

    @Test("the exit code is the program's, 128 and the signal, 126 or 127; a token that does not come starts nothing")
    func exitCodes() async throws {
        let lines = try await script(
            #"""
            unique
            run() { code omvault run --token TOKEN=work "$@"; }
            run -- true; run -- bash -c 'exit 37'; run -- bash -c 'kill -KILL $$'; run -- bash -c 'kill -SEGV $$'
            run -- ./missing; run -- missing-program; run -- /etc/passwd; head -n 1 errors
            code omvault run --token 'TOKEN=work:z' -- touch started; code omvault run --token TOKEN=other -- touch started
            run --token-fd 2=work -- touch started; run --token-fd 256=work -- touch started; run --token 1A=work -- touch started
            run --token TOKEN=work -- touch started; run; run true; code omvault run -- touch started
            run --token A -- touch started; run --token A=work: -- touch started
            run --token-fd 3=work --token-fd 03=work -- touch started
            omvault -q logout alice
            run -- touch started
            [[ -e started ]] || echo none started
            """#)
        #expect(
            lines == [
                "0", "37", "137", "139", "127", "127", "126",
                "omvault: error: \"/etc/passwd\" cannot be started: Permission denied",
                "125", "125", "125", "125", "125", "125", "125", "125", "125", "125", "125", "125", "125", "none started",
            ])
    }

    @Test(
        "a token file is 0600 in memory, holds the next token before its own ends, and is gone after the program, also by SIGTERM"
    )
    func tokenFile() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let lines = try await script(
            #"""
            in_memory
            as=brief unique
            omvault run --token-file FILE=work -- bash -c '
                stat -c %a "$FILE"; [[ $FILE == "$XDG_RUNTIME_DIR"/omvault/* ]] && echo there; first=$(< "$FILE")
                next() { [[ $(< "$FILE") == at-* && $(< "$FILE") != "$first" ]]; }
                eventually next; echo renewed; first=$(< "$FILE"); eventually next; echo again; exit 5' || echo "$?"
            left
            # A signal to omvault goes on to the program, and the file is removed after its end.
            omvault run --token-file FILE=work -- python3 -c '
            import signal, sys
            signal.signal(signal.SIGTERM, lambda *_: (print("stopped"), sys.exit(3)))
            open("began", "w"); signal.pause()
            ' > out 2> errors & child=$!
            eventually test -e began
            left | wc -l
            kill -TERM $child; code=0; wait $child || code=$?; echo "$code"; cat out
            left
            code omvault run --token-file FILE=work -- ./missing
            left
            """#)
        #expect(lines == ["600", "there", "renewed", "again", "5", "1", "3", "stopped", "127"])
    }

    @Test("a renewal that takes long holds up no signal and no end, and two files of one process have two names")
    func heldRenewal() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let lines = try await script(
            #"""
            in_memory
            as=brief unique
            folder=$(dirname "$seen")
            # The request that is held ends with the script, before the agent is told to stop.
            at_end='rm -f "$folder/held"; '$at_end
            start() {
                omvault run --token-file FILE=work -- python3 -c '
            import os, signal, sys
            signal.signal(signal.SIGTERM, lambda *_: (print("stopped"), sys.exit(3)))
            open("began", "w").write(os.path.basename(os.environ["FILE"])); signal.pause()
            ' > out 2> errors & child=$!
                eventually test -s began
            }
            start
            touch "$folder/held"
            eventually test -e "$folder/holding"
            kill -TERM $child; code=0; wait $child || code=$?; echo "$code"; cat out
            grep -c "keeps its token" errors || true
            left
            [[ $(< began) =~ ^run-$child-[0-9a-f]{16}-FILE$ ]] && echo named
            """#)
        #expect(lines == ["3", "stopped", "0", "named"])
    }

    @Test("a program ends also under a parent that ignores the ends of children, and omvault keeps no descriptor with a token")
    func inherited() async throws {
        let lines = try await script(
            #"""
            unique
            ignoring() {
                python3 -c '
            import os, signal, sys
            signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])' "$@"
            }
            code ignoring timeout 60 omvault run --token T=work -- bash -c 'exit 7'
            omvault run --token-fd 3=work -- bash -c '
                exec 3<&-
                closed() { ! ls -l /proc/$PPID/fd 2>&1 | grep -q memfd:secret; }
                eventually closed; echo closed'
            """#)
        #expect(lines == ["7", "closed"])
    }

    @Test("a token file on a disk is refused, and so is a folder that other users can use")
    func unsafeFolder() async throws {
        let lines = try await script(
            #"""
            unique
            runtime=$XDG_RUNTIME_DIR
            mkdir open; chmod 777 open
            disk=$(mktemp -d /var/tmp/omvault-test-XXXXXX); at_end="rm -rf $disk; $at_end"
            OMVAULT_AGENT_SOCK=$runtime/omvault/agent.sock XDG_RUNTIME_DIR=$PWD/open code omvault run --token-file FILE=work -- touch started
            OMVAULT_AGENT_SOCK=$runtime/omvault/agent.sock XDG_RUNTIME_DIR=$disk code omvault run --token-file FILE=work -- touch started
            [[ -e started ]] || echo none started
            """#)
        #expect(lines.last == "none started" && lines.dropLast().allSatisfy { $0 == "125" } && lines.count == 3, "\(lines)")
    }
}
