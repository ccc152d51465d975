// Two homes and a server: the commands of sync over HTTP, as their users type them. docs/formats/sync.md, "Over HTTP".

import Foundation
import TestSupport
import Testing

@Suite("The commands of sync over a server") struct SyncServerTests {
    /// The functions of ``SyncCommandTests/devices`` and others.
    static let devices =
        SyncCommandTests.devices + """
            mkdir -p c; printf wrong > wrong.pw
            # The exit code, and the words that the error has to have.
            fails() {
                local code=0
                "${@:3}" > out 2> err || code=$?
                [[ $code == "$1" ]] || { echo "exit $code, not $1: ${*:3}"; cat err; exit 99; }
                grep -qE "$2" err || { echo "no '$2':"; cat err; exit 99; }
            }

            """

    private static func run(
        _ script: String, on server: SyncPlace = .python, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let ran = try await server.run(devices, script)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output
    }

    @Test("a device is added, edits go both ways, and edits on both at once end in a conflict copy", arguments: SyncPlace.servers)
    func exchange(server: SyncPlace) async throws {
        let output = try await Self.run(
            """
            found; pair
            on b get github:password; echo
            on b -q set github:password --value-from file:new
            on b sync now | cut -f 2-4; on a sync now | cut -f 2-4
            on a get github:password; echo
            on a -q set github:password --value-from file:from-a
            on b -q set github:password --value-from file:from-b
            for home in a b a b a; do on $home -q sync now > /dev/null; done
            on a ls > of-a; on b ls > of-b; cmp of-a of-b
            sed -E 's/[0-9a-f]{8}/NUMBER/' of-a
            while read -r name; do on a get "$name:password"; echo; done < of-a | sort
            on a sync status --compare | grep compare > of-a; on b sync status --compare | grep compare > of-b; cmp of-a of-b
            on a sync remote ls --json | grep -qF "\\"folder\\":\\"$url\\""
            # Nothing of the account is in a file of the device.
            ! grep -rqF 'correct horse 42' a b
            """, on: server)
        #expect(
            output == """
                old
                idle\t0\t1
                idle\t1\t0
                new
                conflict-NUMBER github
                github
                from-a
                from-b

                """)
    }

    @Test("a copy of a vault in use is found at once (31), and rejoin mends it", arguments: SyncPlace.servers)
    func clone(server: SyncPlace) async throws {
        let output = try await Self.run(
            """
            found; pair
            cp -a a/. c
            on a -q set github:password --value-from file:from-a; on a -q sync now > /dev/null
            on c -q add gitlab --field password=file:from-b
            fails 31 'another copy of the vault|omvault device rejoin' on c sync now
            on c -q device rejoin --yes
            on c -q sync now > /dev/null; on b -q sync now > /dev/null
            on b get github:password; echo; on b get gitlab:password; echo
            """, on: server)
        #expect(output == "from-a\nfrom-b\n")
    }

    @Test("all devices are lost: the recovery code and the account get the vault back", arguments: SyncPlace.servers)
    func recovery(server: SyncPlace) async throws {
        let output = try await Self.run(
            """
            on a -q init "${weak[@]}" > code
            on a -q add github --field password=file:old
            grep -oE '[A-Z0-9]{4}(-[A-Z0-9]{4})+' code > letters || cp code letters
            on a -q sync init --device laptop --code-from file:letters
            on a -q sync remote add "$url" --create "${login[@]}"
            on a -q sync now > /dev/null
            rm -rf a
            on b -q device join "$url" "${login[@]}" --recovery --recovery-from file:letters --device desktop --yes "${weak[@]}"
            on b get github:password; echo
            on b device ls | cut -f 2
            """, on: server)
        #expect(output == "old\nrecovery code\ndesktop\n")
    }

    @Test("a new remote on the server takes the place of the old one, on both devices", arguments: SyncPlace.servers)
    func accept(server: SyncPlace) async throws {
        let output = try await Self.run(
            """
            found; pair
            on a -q set github:password --value-from file:new
            on a -q sync remote accept 1 --create --yes
            n=0  # The heads there count as newer from the next second on.
            until on b sync now 2> err > /dev/null; grep -o 'other devices use another remote' err; do
                on a -q set "github:note-$((n += 1))" --value-from file:new; on a -q sync now > /dev/null
            done
            on b -q sync remote accept 1 --yes
            on b -q sync now > /dev/null
            on b get github:password; echo
            fails 5 'is on that server already' on a sync remote add "$url" --create "${login[@]}"
            on a -q sync remote rm 1 --yes
            fails 10 'has no remote' on a sync now
            fails 13 'wrote to that remote before' on a sync remote add "$url/$(on b sync remote ls | cut -f 3)" "${login[@]}"
            """, on: server)
        #expect(output == "other devices use another remote\nnew\n")
    }

    @Test("a wrong password, another certificate, an unsafe address and a server that is away each have their code")
    func refusals() async throws {
        let output = try await Self.run(
            """
            on a -q init --no-recovery "${weak[@]}" > /dev/null; on a -q sync init --device laptop
            add() { on a --no-input sync remote add "$@"; }
            fails 20 'refused the user name or the password' \\
                add "$url" --create --user "$account" --account-password-from file:wrong.pw --ca "$ca"
            fails 52 'could not prove its identity' add "$url" --create --user "$account" --account-password-from file:account.pw
            fails 2 'https' add http://vault.example.org/x --create --user ann --account-password-from file:account.pw
            fails 2 'no user given' add "$url" --create
            fails 2 'are for a server' add /tmp --create --user ann
            fails 2 'is no address' add 'https://a b' --create --user ann
            fails 8 'account-password-from' add "$url" --create --user ann --ca "$ca"
            printf 'no certificate' > no.pem
            fails 9 'holds no certificate' add "$url" --create --user ann --account-password-from file:account.pw --ca no.pem
            fails 10 'has no remote of this vault' add "$url" "${login[@]}"
            on a -q sync remote add "$url" --create "${login[@]}"
            on a -q sync now > /dev/null
            tell stop
            """ + """

                fails 50 'was not reached' on a sync now
                """)
        #expect(output == "")
    }

    /// What a server does wrong, the exit code of the next exchange, and a part of the message.
    private static let wrongs: [(fault: String, code: Int, words: String)] = [
        ("redirect GET files", 52, "no usable answer"), ("html GET files", 52, "no usable answer"),
        ("large GET files", 52, "no usable answer"), ("torn GET files", 52, "no usable answer"),
        ("500 GET files", 52, "status 500"), ("429 GET files", 52, "status 429"), ("404 GET files", 50, "no such remote"),
        ("403 GET files", 51, "does not let this user in"), ("401 GET files", 51, "log in again"),
        ("410 GET files", 52, "status 410"), ("507 PUT pack", 60, "no space left"), ("413 PUT pack", 52, "status 413"),
        ("422 PUT head", 52, "status 422"), ("409 PUT head", 31, "another copy"), ("torn GET head", 52, "no usable answer"),
        ("large GET head", 52, "no usable answer"), ("redirect PUT pack", 52, "no usable answer"),
    ]

    @Test("whatever a server does wrong has its code and words, and when it does right again nothing is lost", arguments: wrongs)
    func faults(fault: String, code: Int, words: String) async throws {
        let output = try await Self.run(
            """
            found; pair
            on b -q set github:password --value-from file:from-b; on b -q sync now > /dev/null
            on a -q add gitlab --field password=file:from-a
            echo '\(fault)' > "$fault"
            fails \(code) '\(words)' on a sync now
            rm "$fault"
            on a -q sync now > /dev/null; on b -q sync now > /dev/null
            on a get github:password; echo; on b get gitlab:password; echo
            """)
        #expect(output == "from-b\nfrom-a\n")
    }

    @Test("a server that stores and refuses is taken for a clone; if it agrees and forgets, the device loses nothing")
    func halves() async throws {
        let output = try await Self.run(
            """
            found; pair
            on a -q set github:password --value-from file:from-a
            echo 'refuse-stored PUT head' > "$fault"
            fails 31 'another copy' on a sync now
            rm "$fault"
            on a -q sync now > /dev/null; on b -q sync now > /dev/null
            on b get github:password; echo
            # The connection ends after the answer, or the bytes of a head are others: it waits.
            echo 'close GET files' > "$fault"; on a -q sync now > /dev/null
            on a -q set github:password --value-from file:new; rm "$fault"; on a -q sync now > /dev/null
            echo 'flip GET head' > "$fault"; on b -q sync now > /dev/null || true
            on b get github:password; echo; rm "$fault"
            on b -q sync now > /dev/null; on b get github:password; echo
            # The server agreed to store a head, and did not. So it shows an older state than the device wrote.
            on a -q set github:password --value-from file:from-b
            echo 'forget PUT head' > "$fault"; on a -q sync now > /dev/null 2>&1 || true; rm "$fault"
            on a -q set github:password --value-from file:old
            fails 31 'shows an older state' on a sync now
            on a -q sync remote accept 1 --create --yes; on b -q sync remote accept 1 --yes
            on b -q sync now > /dev/null; on b get github:password; echo
            """)
        #expect(output == "from-a\nfrom-a\nnew\nold\n")
    }

    @Test("an access token that has ended is replaced, and a login that the server ended is made again")
    func tokens() async throws {
        let output = try await Self.run(
            """
            # The device refreshes a token that ends within 30 seconds.
            echo 20 > "$lifetime"
            found; pair
            for value in new old new; do
                on a -q set github:password --value-from file:$value; on a -q sync now > /dev/null; on b -q sync now > /dev/null
                on b get github:password; echo
            done
            (($(grep -c oauth2 "$seen") > 8)) || echo 'no refresh'
            # Attack: a copy of the file uses the refresh token that the device has used. The server ends the grant for both.
            cp -a a/. c; on a -q sync now > /dev/null
            fails 51 'log in again' on c sync now
            fails 51 'log in again' on a sync now
            rm "$lifetime"
            on a -q sync remote add "$url" --account-password-from file:account.pw
            on a sync now | cut -f 2
            """)
        #expect(output == "new\nold\nnew\nidle\n")
    }

    @Test("one edit costs at most 2 KiB of content in each direction, and an exchange has one connection")
    func costs() async throws {
        let output = try await Self.run(
            """
            found; pair
            for home in a b a b; do on $home -q sync now > /dev/null; done
            on b -q set github:password --value-from file:new
            : > "$seen"; on b -q sync now > /dev/null; cp "$seen" writer
            : > "$seen"; on a -q sync now > /dev/null; cp "$seen" reader
            python3 - <<'SUM'
            import json
            for name in ("writer", "reader"):
                rows = [json.loads(line) for line in open(name)]
                sums = [sum(row[key] for row in rows) for key in ("body_in", "body_out")]
                files = {row["connection"] for row in rows if row["path"].count("/") > 4}
                print(name, max(sums) <= 2048 or sums, len(files))
            SUM
            """)
        #expect(output == "writer True 1\nreader True 1\n")
    }
}

@Suite("The agent syncs over a server") struct AgentServerTests {
    private static let agents =
        SyncServerTests.devices + """
            umask 077
            on() { local home=$HOME/$1; shift; XDG_RUNTIME_DIR=$home/run HOME=$home omvault "$@"; }
            mkdir a/run b/run
            at_end='for home in a b; do on $home -q agent stop 2> /dev/null || true; done'
            agent_of() { on "$1" -q agent start "${@:2}"; on "$1" -q unlock; }
            shows() { [[ $(OMVAULT_PASSWORD_FROM= on "$1" --no-input get "$2" 2> /dev/null) == "$3" ]]; }
            quietly() { OMVAULT_PASSWORD_FROM= on "$1" -q --no-input "${@:2}"; }
            state_of() { OMVAULT_PASSWORD_FROM= on "$1" --no-input sync status | grep -oE 'agent: [a-z]*'; }
            is_now() { [[ $(state_of "$1") == "agent: $2" ]]; }

            """

    private static func run(
        _ script: String, on server: SyncPlace = .python, _ location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let ran = try await server.run(agents, script)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)", sourceLocation: location)
        return ran.output
    }

    @Test("an edit on one device arrives on the other one, and no one types 'sync now'", arguments: SyncPlace.servers)
    func arrives(server: SyncPlace) async throws {
        let output = try await Self.run(
            """
            found; pair
            for home in a b; do agent_of $home --sync-every 1; done
            quietly a set github:password --value-from file:from-a
            eventually shows b github:password from-a
            quietly b set github:password --value-from file:from-b
            eventually shows a github:password from-b
            echo arrived
            """, on: server)
        #expect(output == "arrived\n")
    }

    @Test("a login that no device needs any more ends at the server", .enabled(if: Programs.server != nil))
    func logsOut() async throws {
        let output = try await Self.run(
            """
            logins() { "$OMVAULT_SERVER" device ls --data server | wc -l; }
            found; pair; logins
            on a -q sync remote add "$url" "${login[@]}"; logins
            fails 5 'already' on a sync remote add "$url" --create "${login[@]}"; logins
            printf wrong-wrong > code.txt
            fails 2 'that is no code' on c device join "$url" "${login[@]}" --device tablet --no-recovery "${weak[@]}" \\
                --pairing-code-from file:code.txt; logins
            # Another account at the same server: the login of the first one stays.
            "$OMVAULT_SERVER" user add --data server bob < account.pw > /dev/null
            on a -q sync remote add "$url" --create --user bob --account-password-from file:account.pw; logins
            on a sync now --remote 1 | cut -f 2; on a -q sync remote rm 2 --yes; logins
            on a -q sync remote rm 1 --yes; logins
            on b -q sync now > /dev/null && on b -q sync remote rm 1 --yes; logins
            """, on: .real)
        #expect(output == "2\n2\n2\n2\n3\nidle\n2\n1\n0\n")
    }

    @Test("an edit arrives without a look: the agent waits at the server", .enabled(if: Programs.server != nil))
    func waits() async throws {
        let output = try await Self.run(
            """
            found; pair
            for home in a b; do agent_of $home --sync-every 300; done
            # Less than the time between two looks.
            shows_or_late() { shows "$@" || ((SECONDS > 240)); }
            arrives() { SECONDS=0; eventually shows_or_late "$@"; shows "$@" || { echo "$3 did not come to $1"; exit 99; }; }
            quietly a set github:password --value-from file:from-a
            arrives b github:password from-a
            quietly b set github:password --value-from file:from-b
            arrives a github:password from-b
            # Neither exchange after the unlock can bring this one.
            quietly a set github:password --value-from file:new
            arrives b github:password new
            echo arrived
            """, on: .real)
        #expect(output == "arrived\n")
    }

    @Test("an idle look is one conditional request; a server that is away is offline, and comes back")
    func looks() async throws {
        let output = try await Self.run(
            """
            found; pair
            agent_of a --sync-every 1
            is_quiet() { [[ $(tail -n 5 "$seen" | grep -c '"status": 304') == 5 ]]; }
            eventually is_quiet
            tail -n 5 "$seen" | grep -o '"path": "[^"]*"' | sed -E 's/[0-9a-f]{32}/ID/g' | sort -u
            echo '503 GET files' > "$fault"
            eventually is_now a offline
            rm "$fault"
            quietly a set github:password --value-from file:new; quietly a sync now > /dev/null
            eventually is_now a idle
            on b -q sync now > /dev/null; on b get github:password; echo
            echo '507 PUT pack' > "$fault"
            quietly a set github:password --value-from file:old
            eventually is_now a stopped
            rm "$fault"
            quietly a sync now > /dev/null; is_now a idle && echo 'goes on'
            """)
        #expect(output == "\"path\": \"/vault/v1/sync/ID-ID/files\"\nnew\ngoes on\n")
    }

    @Test("a server that does not answer holds neither a read nor a lock, and the lock ends the helper")
    func hung() async throws {
        let output = try await Self.run(
            """
            found; pair
            agent_of a --sync-every 1
            agent=$(on a agent status --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["process"])')
            echo 'hang GET files' > "$fault"
            # The server notes a request that it will not answer.
            eventually grep -q '"status": 0' "$seen"
            held=$(pgrep -P "$agent" -f -- --server)
            quietly a get github:password; echo
            quietly a lock
            ended() { ! grep -qs '^State:.[TRSD]' /proc/$held/status; }
            eventually ended
            echo 'helper ended'
            """)
        #expect(output == "old\nhelper ended\n")
    }
}
