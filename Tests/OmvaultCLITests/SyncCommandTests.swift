// Two homes and a folder: the commands of sync, as their users type them.

import Foundation
import TestSupport
import Testing

@Suite("The commands of sync") struct SyncCommandTests {
    /// `on HOME COMMAND…` runs omvault on one of the devices `a` and `b`. `begin_pairing` starts both halves of a pairing: the
    /// code goes through a pipe, and `shown` gets the digits. `confirm_digits` types them on the old device.
    static let devices = """
        set -e
        mkdir a b
        printf 'correct horse' > pw; printf 'battery staple' > pw2
        for value in old new from-a from-b; do printf "$value" > "$value"; done
        export OMVAULT_PASSWORD_FROM=file:pw
        on() { local home=$HOME/$1; shift; HOME=$home omvault "$@"; }
        weak=(--kdf-mem 8 --kdf-time 1)
        found() {
            on a -q init --no-recovery "${weak[@]}" > /dev/null
            on a -q add github --field password=file:old
            on a -q sync init --device laptop
            on a -q sync remote add "$place" --create "${login[@]}"
        }
        begin_add() {
            rm -f code digits; mkfifo code digits; exec 7<> code 8<> digits
            on a device add --yes --digits-from 'cmd:head -n 1 digits' "$@" > code 2> add.log & adding=$!
        }
        begin_join() {
            on b device join "$place" "${login[@]}" --device desktop --pairing-code-from 'cmd:head -n 1 code' --no-recovery \\
                "${weak[@]}" "$@" > shown 2> join.log & joining=$!
        }
        begin_pairing() { begin_add; begin_join; }
        has_shown() { [[ -s shown ]]; }
        ends() { local code=0; wait "$2" || code=$?; [[ $code == "$1" ]] || { echo "exit $code, not $1"; cat ./*.log; exit 99; }; }
        pair() { begin_pairing; while_runs $joining has_shown; head -n 1 shown > digits; ends 0 $joining; ends 0 $adding; }

        """

    /// The beginning of a script about a folder.
    static let folder = SyncPlace.folder.script(devices)

    @Test("a device is added, edits go both ways, and edits on both at once end in a conflict copy")
    func exchange() async throws {
        let ran = try await bash(
            Self.folder + """
                found; pair
                on b get github:password; echo
                on b -q set github:password --value-from file:new
                on b sync now | cut -f 2-4; on a sync now | cut -f 2-4
                on a get github:password; echo
                on a device ls | cut -f 2,5; on b device ls | cut -f 2,5
                on a -q set github:password --value-from file:from-a
                on b -q set github:password --value-from file:from-b
                for home in a b a b a; do on $home -q sync now > /dev/null; done
                on a ls > of-a; on b ls > of-b; cmp of-a of-b
                sed -E 's/[0-9a-f]{8}/NUMBER/' of-a
                while read -r name; do on a get "$name:password"; echo; done < of-a | sort
                on a sync status --compare | grep compare > of-a; on b sync status --compare | grep compare > of-b; cmp of-a of-b
                ls stick/*/mail
                """)
        #expect(
            ran.output == """
                old
                idle\t0\t1
                idle\t1\t0
                new
                laptop\tyes
                desktop\tno
                laptop\tno
                desktop\tyes
                conflict-NUMBER github
                github
                from-a
                from-b

                """, "\(ran)")
    }

    @Test(
        "other digits end the pairing: no device is added, no vault is left, and the next try works",
        arguments: SyncPlace.each)
    func wrongDigits(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; begin_pairing
            while_runs $joining has_shown
            echo 'not digits' > digits
            ends 20 $adding; ends 3 $joining
            on a device ls | cut -f 2
            find b -name '*.omv*'; find b -name '*join*'; find b -name '*.mark'; messages
            grep -o 'another person may have the code' add.log
            rm shown; pair
            on b ls
            """)
        #expect(ran.output == "laptop\nanother person may have the code\ngithub\n", "\(ran)")
    }

    @Test("the user can refuse the device, and the code ends", arguments: SyncPlace.each)
    func refused(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found
            mkfifo code digits; exec 7<> code 8<> digits
            on a --no-input device add --digits-from 'cmd:head -n 1 digits' > code 2> add.log & adding=$!
            begin_join
            while_runs $joining has_shown; head -n 1 shown > digits
            ends 8 $adding; ends 3 $joining
            on a device ls | cut -f 2
            messages
            """)
        #expect(ran.output == "laptop\n", "\(ran)")
    }

    @Test(
        "Ctrl-C at the question for the digits, or at the one behind it, ends the pairing and leaves no message",
        arguments: [("The six digits", ""), ("Add \"desktop\"", "--digits-from 'cmd:head -n 1 digits'")])
    func interrupted(question: String, option: String) async throws {
        let ran = try await atTerminal(
            Self.folder + """
                found > /dev/null 2>&1
                mkfifo code digits; exec 7<> code 8<> digits
                # The other device is at another terminal.
                trap '' INT
                begin_join
                { while_runs $joining has_shown; head -n 1 shown > digits; } > /dev/null 2>&1 & typing=$!
                trap true INT
                on a device add \(option) > code || echo "ended $?"
                # The two messages of this device. The other device sees that they are gone, and deletes its own.
                left=$(find stick/*/mail -name '*-[13]'); echo "left: $left"
                [[ -z $left ]] || kill -TERM $(pgrep -P $joining) $joining
                wait $typing || true; wait $joining || echo "joined $?"
                find stick/*/mail -type f; on a device ls | cut -f 2
                """, [(question, "\u{3}"), ("ended 130", "")])
        #expect(ran.output.hasSuffix("ended 130\r\nleft: \r\njoined 3\r\nlaptop\r\n"), "\(ran)")
    }

    @Test(
        "a new device that is ended or killed leaves nothing that keeps it from joining", arguments: ["TERM", "KILL"],
        SyncPlace.each)
    func ended(signal: String, place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; begin_pairing
            while_runs $joining has_shown
            kill -\(signal) $(pgrep -P $joining || echo $joining); wait $joining || true
            on b vault ls
            kill -TERM $(pgrep -P $adding || echo $adding); wait $adding || true
            rm shown; pair
            on b ls
            find b -name '*join*'
            """)
        #expect(ran.output == "github\n", "\(ran)")
    }

    @Test("a device that has the vault does not join it again", arguments: SyncPlace.each)
    func joinedTwice(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            begin_add
            refused 13 on b device join "$place" "${login[@]}" again --pairing-code-from 'cmd:head -n 1 code' --no-recovery "${weak[@]}"
            kill -TERM $(pgrep -P $adding || echo $adding); wait $adding || true
            on b vault ls | cut -f 1
            on b ls
            """)
        #expect(ran.output == "personal\ngithub\n", "\(ran)")
    }

    @Test("a folder that is not there is 50, and the other remotes sync")
    func notMounted() async throws {
        let ran = try await bash(
            Self.folder + """
                found; mkdir share
                on a -q sync remote add share --create
                mv stick elsewhere
                on a sync now 2> errors | cut -f 1-4; echo "${PIPESTATUS[0]}"
                mkdir stick
                refused 50 on a sync now --remote 1
                on a sync now --remote 2 | cut -f 1-4
                rmdir stick; mv elsewhere stick
                on a sync now | cut -f 1-4
                """)
        #expect(
            ran.output == "1\toffline\t0\t0\n2\tidle\t0\t1\n50\n2\tidle\t0\t0\n1\tidle\t0\t1\n2\tidle\t0\t0\n", "\(ran)")
    }

    @Test("a folder that was put back stops its remote with 31, and the other remotes sync")
    func putBack() async throws {
        let ran = try await bash(
            Self.folder + """
                found; pair; mkdir share
                on a -q sync remote add share --create
                on b -q sync now > /dev/null
                for value in new from-a old from-b; do
                    [[ $value != old ]] || cp -r stick older
                    on a -q set github:password --value-from file:$value
                    on a -q sync now > /dev/null; on b -q sync now > /dev/null
                done
                rm -r stick; mv older stick
                on a sync now 2> errors | cut -f 1,2; echo "${PIPESTATUS[0]}"
                refused 31 on b sync now
                on b get github:password; echo
                """)
        #expect(ran.output == "1\tstopped\n2\tidle\n31\nfrom-b\n", "\(ran)")
    }

    @Test("a folder that was put back gets a new remote, which the other device accepts, and no edit is lost")
    func accept() async throws {
        let ran = try await bash(
            Self.folder + """
                found; pair
                on b -q sync now > /dev/null; on a -q sync now > /dev/null
                refused 10 on a sync remote accept 1 --yes
                cp -r stick older
                on a -q add second --field password=file:new
                on a -q sync now > /dev/null; on b -q sync now > /dev/null
                on b -q set github:password --value-from file:from-b; on b -q sync now > /dev/null
                rm -r stick; mv older stick
                refused 31 on a sync now; refused 31 on b sync now
                on a -q set second:password --value-from file:from-a
                refused 8 on a sync remote accept 1 --create < /dev/null
                refused 10 on a sync remote accept 2 --create --yes
                on a -q sync remote accept 1 --create --yes
                ls stick | wc -l
                on a sync now | cut -f 1-4
                # Its stop is not over, and it says what to do.
                told() {
                    # In the second of the last head, no one can tell which remote is the newer one.
                    on a -q add "item $((items += 1))" --field password=file:new; on a -q sync now > /dev/null
                    code=0; on b sync now > /dev/null 2> errors || code=$?
                    grep -q 'sync remote accept 1$' errors
                }
                items=0; eventually told; echo "$code"
                refused 10 on b sync remote accept 1 --name omvault-sync-none --yes
                on b sync remote accept 1 --yes 2>&1 | grep -o 'written to .*"laptop"' | sed -E 's/[0-9a-f]{32}/ID/g'
                on a -q sync now > /dev/null
                for item in github second; do on a get $item:password; echo; on b get $item:password; echo; done
                on a sync now 2>&1 | grep -c accept || on b sync now 2>&1 | grep -c accept || echo 'nothing to accept'
                refused 10 on b sync remote accept 1 --yes
                """)
        #expect(
            ran.output == """
                2
                1\tidle\t0\t0
                31
                written to omvault-sync-ID-ID: "laptop"
                from-b
                from-b
                from-a
                from-a
                0
                0
                nothing to accept

                """, "\(ran)")
    }

    @Test(
        "two devices that each make a new remote come together again, if each does what it is told",
        arguments: SyncPlace.each)
    func acceptTwice(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            for home in a b; do on $home -q sync remote accept 1 --create --yes; done
            on a -q set github:password --value-from file:from-a
            told() { on "$1" sync now 2>&1 > /dev/null | grep -q 'sync remote accept 1$'; }
            # Both are asked before one of them accepts.
            movers=$(for home in a b; do told $home && echo $home; done; true)
            for home in $movers; do on $home -q sync remote accept 1 --yes; echo accepted; done
            for home in a b a b; do on $home -q sync now > /dev/null; done
            on b get github:password; echo
            for home in a b; do told $home && echo "$home is told again"; done; true
            """)
        #expect(ran.output == "accepted\nfrom-a\n", "\(ran)")
    }

    @Test("input that cannot be used is refused")
    func badInput() async throws {
        let ran = try await bash(
            Self.folder + """
                on a -q init --no-recovery "${weak[@]}" > /dev/null
                for command in 'sync now' 'sync status' 'sync remote ls' 'sync remote rm 1' 'device ls' 'device add'; do
                    refused 10 on a $command
                done
                refused 2 on a sync init --device ''
                refused 2 on a sync init --device "$(printf 'a\\033b')"
                refused 2 on a sync init --device "$(printf '%064d' 0)"
                on a -q sync init --device laptop
                refused 15 on a sync init
                refused 10 on a sync now
                refused 10 on a device add
                refused 50 on a sync remote add nowhere --create
                refused 50 on a sync remote add nowhere
                refused 50 on a sync remote add pw
                refused 10 on a sync remote add stick
                on a -q sync remote add stick --create
                refused 5 on a sync remote add stick --create
                refused 15 on a sync remote add stick
                refused 10 on a sync now --remote 2
                refused 2 on a sync now --remote x
                refused 2 on a device add --expires 59
                refused 2 on a device add --expires 86401
                refused 2 on a device add --digits-from 123456
                refused 50 on b device join nowhere --pairing-code-from file:pw
                refused 2 on b device join stick --pairing-code-from file:pw
                printf 'AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAA' > code
                refused 2 on b device join stick --pairing-code-from file:code
                refused 2 on b device join stick ./elsewhere.omv --pairing-code-from file:code
                refused 2 on b device join stick .hidden --pairing-code-from file:code
                refused 5 on a device join stick --pairing-code-from file:code
                refused 8 on b --no-input device join stick < /dev/null
                refused 8 on a sync remote rm 1 < /dev/null
                on a -q sync now > /dev/null
                on a -q --yes sync remote rm 1
                refused 13 on a sync remote add stick
                on a -q sync remote add stick --create
                find b -name '*.omv'; ls stick | wc -l
                """)
        #expect(ran.output == "2\n", "\(ran)")
    }

    @Test("a code of another pairing is not found; two remotes in a folder are ambiguous, and can be named")
    func otherCode() async throws {
        let ran = try await bash(
            Self.folder + """
                found; pair
                begin_add
                # The code of a pairing whose messages are in another folder.
                mkdir empty
                refused 10 on b device join empty again --pairing-code-from 'cmd:head -n 1 code'
                kill -TERM $(pgrep -P $adding || echo $adding); wait $adding || true
                mkdir share
                on a -q sync remote add share --create
                on a -q --yes sync remote rm 2
                on a -q sync remote add share --create
                refused 11 on b sync remote add share
                on b -q sync remote add "$(on a --json sync remote ls | grep -o 'omvault-sync-[^"]*' | tail -n 1 | sed s,^,share/,)"
                on a -q sync now > /dev/null; on b sync now | cut -f 2
                """)
        #expect(ran.output == "idle\nidle\n", "\(ran)")
    }

    @Test("with --json each step is a document", arguments: SyncPlace.each)
    func documents(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found
            mkfifo code digits; exec 7<> code 8<> digits
            code() { sed -nE 's/.*"code":"([^"]*)".*/\\1/p;q' code; }
            export -f code
            on a --json device add --yes --digits-from 'cmd:head -n 1 digits' > added 2> add.log & adding=$!
            has_code() { [[ -s added ]]; }
            while_runs $adding has_code
            head -n 1 added | grep -o '"code":"[^"]*"' | cut -d '"' -f 4 > typed
            on b --json device join "$place" "${login[@]}" --device desktop --pairing-code-from file:typed "${weak[@]}" > shown 2> join.log & joining=$!
            while_runs $joining has_shown
            head -n 1 shown | grep -o '"digits":"[^"]*"' | cut -d '"' -f 4 > digits
            ends 0 $joining; ends 0 $adding
            sed -n 2p added; sed -n 2p shown
            on a --json sync now; on a --json sync status --compare; on a --json device ls; on a --json sync remote ls
            """)
        let documents = try ran.output.split(separator: "\n").map { try Ran.json(String($0)) }
        try #require(documents.count == 6, "\(ran)")
        #expect(documents[0]["result"] as? String == "added" && documents[0]["device"] as? String == "desktop")
        #expect(documents[1]["result"] as? String == "joined" && documents[1]["recovery_code"] is String)
        let remotes = try #require(documents[2]["remotes"] as? [[String: Any]])
        #expect(remotes.count == 1 && remotes[0]["state"] as? String == "idle" && remotes[0]["problem"] is NSNull)
        let status = try #require(documents[3]["remotes"] as? [[String: Any]])
        #expect((status[0]["compare"] as? String)?.count == 71 && (status[0]["news"] as? [Any])?.count == 1)
        #expect((documents[4]["devices"] as? [Any])?.count == 2 && (documents[5]["remotes"] as? [Any])?.count == 1)
    }

    @Test("at a terminal the new device asks for the code and a password")
    func atATerminal() async throws {
        let ran = try await atTerminal(
            Self.folder + """
                found
                mkfifo digits; exec 8<> digits
                on a device add --yes --digits-from 'cmd:head -n 1 digits' > typed 2> add.log & adding=$!
                has_code() { [[ -s typed ]]; }
                while_runs $adding has_code; cat typed
                unset OMVAULT_PASSWORD_FROM
                on b device join stick --device desktop "${weak[@]}" > shown & joining=$!
                while_runs $joining has_shown; head -n 1 shown > digits
                ends 0 $joining; ends 0 $adding
                on b --no-input ls --password-from file:pw2
                """,
            [
                ("Code that the other device shows: ", nil),
                ("New password for vault \"personal\": ", "battery staple\n"), ("again: ", "battery staple\n"),
            ])
        #expect(ran.output.hasSuffix("github\r\n"), "\(ran)")
    }

    @Test("what a removed device wrote last is taken before its removal", arguments: SyncPlace.each)
    func lastWords(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            on b -q add last --field password=file:from-b
            on b -q set github:password --value-from file:new
            on b -q sync now > /dev/null
            # This device has not read it yet.
            on a -q --yes device remove desktop > /dev/null
            on a ls; on a get last:password; echo; on a get github:password; echo
            """)
        #expect(ran.output == "github\nlast\nfrom-b\nnew\n", "\(ran)")
    }

    @Test(
        "a removed device gets nothing more; many changes wait for the user; a large value goes over; nothing is in clear",
        arguments: SyncPlace.each)
    func removal(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            code() { local code=0; "$@" > out 2> err || code=$?; echo "exit $code"; }
            head -c 3000000 /dev/zero | tr '\\0' x > big; printf canary-value >> big
            on b -q add canary-name --field canary-field=file:big
            on b sync now | cut -f 2-4; on a sync now | cut -f 2-4
            on a get canary-name:canary-field | cmp - big && echo "the same"
            for number in $(seq 30); do printf '{"name": "item %s", "fields": {"x": "canary-value"}}\\n' $number; done > many
            on b -q add --from-jsonl many
            on b -q sync now > /dev/null; on a -q sync now > /dev/null
            for number in $(seq 25); do on b -q rm --yes "item $number"; done
            on b -q sync now > /dev/null
            on a sync now 2> err | cut -f 2-4; grep -c 'sync diff shows what' err
            on a ls | wc -l
            code on a sync resolve 'item 3' --accept --yes
            all=$(on a sync diff --json | grep -oE '"all_changes": *"[0-9a-f]{16}"' | grep -oE '[0-9a-f]{16}')
            on a sync resolve "$all" --accept --yes
            on a sync now | cut -f 2-4
            on a ls | wc -l
            code on a device remove tablet --yes
            code on a device remove laptop --yes
            on a device remove desktop --yes > items 2> err; grep '^omvault: removed' err; sort items | head -n 2; wc -l < items
            on a -q set github:password --value-from file:new
            on a -q sync now > /dev/null
            code on b sync now; grep -o 'was removed' err
            on b get github:password; echo
            ! grep -rlE 'canary|github|item 1|correct horse' $([[ -d stick ]] && echo stick || echo server) && echo "nothing in clear"
            """)
        #expect(
            ran.output == """
                idle\t0\t13
                idle\t1\t0
                the same
                waiting\t0\t25
                1
                32
                exit 12
                idle\t0\t0
                7
                exit 10
                exit 13
                omvault: removed desktop from the devices of vault "personal"
                canary-name
                github
                7
                exit 13
                was removed
                old
                nothing in clear

                """, "\(ran)")
    }
}
