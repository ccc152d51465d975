// `omvault run` with references: how values get to a program, what its output shows, and what is refused.

import Foundation
import TestSupport
import Testing

@Suite("Programs that get secrets by references") struct RunReferenceTests {
    private static let start = #"""
        set -o pipefail
        umask 077
        printf 'correct horse' > pw
        export OMVAULT_PASSWORD_FROM=file:pw
        omvault -q init --kdf-mem 8 --kdf-time 1 > code
        code() { local code=0; "$@" 2> errors || code=$?; echo "$code"; }

        """#

    private func script(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws -> [String] {
        let ran = try await bash("set -e\n" + Self.start + text)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output.split(separator: "\n").map(String.init)
    }

    @Test(
        "a value comes in a variable, on standard input, as a descriptor and from a file of variables, and is masked by default")
    func waysIn() async throws {
        let lines = try await script(
            #"""
            printf 's3cret-word' | omvault -q add prod/db --field password=stdin --plain user=ada
            printf 'line one\nline two\n' | omvault -q add note --type note --field notes=stdin --keep-newline
            printf '%s\n' '# variables' 'export A=om://personal/prod/db/password' 'B="plain \"text\""  # kept' "C='\$HOME'" 'A2=om' > vars
            run() { omvault run --env P=prod/db:password --env-file vars --stdin note:notes --fd 7=om://personal/prod/db/user "$@"; }
            run --no-mask -- bash -c 'echo "$P $A $B $C $A2 $(cat <&7)"; cat; echo "$0 $*"' zero 'one two' -- three
            run -- bash -c 'echo "$P" >&2; printf %s "${P:0:4}"; printf "%s\n" "${P:4}"; cat; printf "%s" "$P" | base64' 2> err
            cat err
            # Its own environment stays, unless it is asked to be clean; a reference there is left alone, unless it is asked for.
            export OTHER=om://personal/prod/db/user
            run -- bash -c 'echo "$OTHER"'
            run --resolve-env --no-mask -- bash -c 'echo "$OTHER"'
            DB_PASSWORD=om://personal/prod/db/user omvault run --no-mask --resolve-env --prefix prod -- bash -c 'echo "$DB_PASSWORD"'
            run --clean-env --no-mask -- env | sort
            omvault run --prefix prod --env DB_USER=note:notes -- bash -c 'echo "$DB_PASSWORD $DB_USER"'
            omvault run --env P=prod/db:password --exec -- bash -c 'echo "$PPID $P"' | sed "s/^$$ /mine /"
            """#)
        #expect(
            lines == [
                "s3cret-word s3cret-word plain \"text\" $HOME om ada", "line one", "line two", "zero one two -- three",
                "<concealed:A>", "<concealed:stdin>", "<concealed:A>", "<concealed:A>", "om://personal/prod/db/user", "ada",
                "ada",
                "A2=om", "A=s3cret-word", "B=plain \"text\"", "C=$HOME", "P=s3cret-word",
                "<concealed:DB_PASSWORD> <concealed:DB_USER>",
                "mine s3cret-word",
            ])
    }

    @Test("one value that cannot be read starts nothing and is 125; the program's own end is its exit code, or 126 or 127")
    func failures() async throws {
        let lines = try await script(
            #"""
            printf 'a\0b' | omvault -q add bytes --field value=stdin
            printf 'x' | omvault -q add two --type custom --field one=stdin; printf y | omvault -q set two:other --value-from stdin
            run() { code omvault run "$@" -- touch started; }
            run --env A=none; head -n 1 errors
            run --env A=om://personal/two/none; run --env A=two; run --env A=om://other/two/one; run --env A=om://personal; head -n 1 errors
            run --env A=bytes:value; run --env A; run --env 1A=two:one; run --fd 2=two:one; run --env A=two:one --env A=two:one
            run --env A=two:one --fd 3=none; run --exec --file F=two:one; run; code omvault run --env A=two:one; run --bad
            printf 'A=b\nsecret words\n' > vars; run --env-file vars; head -n 1 errors; run --env-file missing
            printf 'A=b\nB=om://personal\n' > vars; run --env-file vars; head -n 1 errors
            B=om://personal run --resolve-env; head -n 1 errors
            printf 'B=om://personal/\377/x\n' > vars; run --env-file vars; head -n 1 errors
            for item in p/db q/db r/ld; do printf x | omvault -q add "$item" --type custom --field preload=stdin; done
            run --prefix p --prefix q; head -n 1 errors; run --prefix r; head -n 1 errors; (ulimit -n 256; run --fd 3=two:one; head -n 1 errors)
            OMVAULT_PASSWORD_FROM= run --env A=two:one --no-input
            code omvault run --json --env A=none -- touch started; cut -c1-46 errors
            [[ -e started ]] || echo none started
            ran() { code omvault run --env A=two:one --env B=om://personal/bytes/value?format=hex "$@"; }
            ran -- bash -c 'exit 37'; ran -- bash -c 'kill -KILL $$'; ran -- ./missing; ran -- /etc/passwd; ran --exec -- ./missing
            ran --exec -- bash -c 'exit 7'
            """#)
        #expect(
            lines == [
                "125", "omvault: error: \"A\": no item \"none\" in vault \"personal\"", "125", "125", "125", "125",
                "omvault: error: \"om://personal\" is no reference: it names no item",
                "125", "125", "125", "125", "125", "125", "125", "125", "125", "125",
                "125", "omvault: error: \"vars\": line 2: it needs NAME=VALUE", "125",
                "125", "omvault: error: \"vars\": line 2: \"B\": \"om://personal\" is no reference: it names no item",
                "125", "omvault: error: \"B\": \"om://personal\" is no reference: it names no item",
                "125", "omvault: error: \"vars\": line 1: \"B\": the reference is not UTF-8",
                "125", "omvault: error: p/db:preload and q/db:preload are both the variable DB_PRELOAD",
                "125", "omvault: error: r/ld:preload would be the variable LD_PRELOAD, which can make a program run other code",
                "125", "omvault: error: omvault may open too few descriptors to hand one to the program: Invalid argument",
                "125",
                "125", "{\"error\":{\"code\":\"not_found\",\"exit\":125,\"messa", "none started",
                "37", "137", "127", "126", "127", "7",
            ])
    }

    @Test("get prints the value of a reference, what is asked about it, and refuses what is none")
    func get() async throws {
        let lines = try await script(
            #"""
            printf '12345678901234567890' | base32 | omvault -q add 'a b/c%d?' --type login --plain username=ada --field otp=stdin
            printf 'pa:ss' | omvault -q set 'a b/c%d?:password' --value-from stdin
            r=om://personal/a%20b/c%25d%3F
            get() { omvault get "$@"; echo; }
            get "$r/password"; get "$r/"; get "om://personal/a b%2Fc%25d%3F"; get "$r/password?format=base64"; get "$r/password?format=hex"
            get "$r/password?attr=len"; get "$r/?attribute=type"; get "$r/password?attr=sha256" | cut -c 1-16
            get "$r/password?attr=created" | grep -c '^20..-..-..T..:..:..Z$'
            [[ $(omvault get "$r/?attr=otp") == "$(omvault otp 'a b/c%d?')" || $(omvault get "$r/otp?attr=totp") == "$(omvault otp 'a b/c%d?')" ]] && echo same
            omvault get "$r/password" --json; omvault get "$r/password?format=hex" --json
            for text in om://personal om://personal/ om:///x/y om://personal/x%2/y 'om://personal/x/y?attr=none' 'om://personal/x/y?' \
                'om://personal/x/y?attr=len&format=hex' om://personal/%FF/x; do code omvault get "$text"; done
            code omvault get "$r/none"; code omvault get om://personal/none/x; code omvault get om://none/x/y
            code omvault get -V personal "$r/password"
            """#)
        #expect(
            lines == [
                "pa:ss", "pa:ss", "pa:ss", "cGE6c3M=", "70613a7373", "5", "login", "1507e7f82a2b0181", "1", "same",
                "{\"schema\":\"omvault/1\",\"item\":\"a b/c%d?\",\"field\":\"password\",\"value\":\"pa:ss\"}",
                "{\"schema\":\"omvault/1\",\"item\":\"a b/c%d?\",\"format\":\"hex\",\"value\":\"70613a7373\"}",
                "2", "2", "2", "2", "2", "2", "2", "2", "10", "10", "6", "2",
            ])
    }

    @Test("no argument, no file on a disk and no file left in memory has a value; a file is 0600 while the program runs")
    func traces() async throws {
        guard FileManager.default.isWritableFile(atPath: "/dev/shm") else { return }
        let lines = try await script(
            #"""
            export XDG_RUNTIME_DIR=$(mktemp -d /dev/shm/omvault-XXXXXX)
            trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT
            printf 'canary-%s' 91f3c77b > value
            omvault -q add item --field password=file:value
            omvault run --file F=item --env E=item --fd 3=item --stdin item -- bash -c '
                stat -c %a "$F"; cmp -s "$F" value && echo same
                [[ $F == "$XDG_RUNTIME_DIR"/omvault/run-* ]] && echo there
                cat /proc/[0-9]*/cmdline 2> /dev/null | grep -q -a -f value || echo in no argument
                cat <&3; echo; cat "$F"; echo; exit 5' || echo "$?"
            find "$XDG_RUNTIME_DIR" -name 'run-*' -o -name '.run-*' | wc -l
            wanted=$(< value); rm value
            grep -rl -e "$wanted" . || echo in no file
            """#)
        #expect(
            lines == [
                "600", "same", "there", "in no argument", "<concealed:E>", "<concealed:E>",
                "5", "0",
                "in no file",
            ])
    }

    @Test("output keeps its order in one place, ends with what the program leaves behind, and a reader who goes ends the program")
    func output() async throws {
        let lines = try await script(
            #"""
            printf 'value-1234' | omvault -q add item --field password=stdin
            run() { omvault run --env A=item -- "$@"; }
            run bash -c 'for i in 1 2 3; do echo "out $i"; echo "err $i" >&2; done' 2>&1
            run bash -c '(read -r < go; echo "$A late") & echo early' > out & child=$!
            mkfifo go; eventually grep -q early out
            echo > go; wait $child; cat out
            # What is left behind is not waited for after a signal, and bytes that are held back are written all the same.
            mkfifo never
            omvault run --env A=item -- bash -c '(read -r < never) & printf value-; echo > ready; read -r < never' > out & child=$!
            eventually test -e ready
            kill -TERM $child; code=0; wait $child || code=$?; echo "$code"; cat out; echo; : <> never
            run bash -c 'echo text >&2; exit 4' 2>&- || echo "$?"
            run yes "value" | head -n 1 || echo "$?"
            head -c 300000 /dev/urandom > bytes; run cat bytes | cmp - bytes && echo exact
            # The program ends by a signal that omvault passes on.
            omvault run --env A=item -- python3 -c '
            import signal, sys
            signal.signal(signal.SIGTERM, lambda *_: (print("stopped"), sys.exit(3)))
            open("began", "w"); signal.pause()
            ' > out & child=$!
            eventually test -e began
            kill -TERM $child; code=0; wait $child || code=$?; echo "$code"; cat out
            omvault run --env A=item -- bash -c 'echo text' > /dev/full 2> errors || echo "$?"; head -n 1 errors
            """#)
        #expect(
            lines == [
                "out 1", "err 1", "out 2", "err 2", "out 3", "err 3", "early", "<concealed:A> late", "143", "value-", "4",
                "value", "141", "exact", "3",
                "stopped",
                "125", "omvault: error: the program's output cannot be written: No space left on device",
            ])
    }
}
