// What sync leaves to the user, as commands show and settle it.

import Foundation
import TestSupport
import Testing

@Suite("The commands that settle what sync leaves to the user") struct SyncSettlingCommandTests {
    private static let devices =
        SyncCommandTests.devices + """
            export XDG_RUNTIME_DIR=$HOME/run; mkdir -m 700 run
            at_end='on a -q agent stop 2> /dev/null || true'
            code() { local code=0; "$@" > out 2> err || code=$?; echo "exit $code"; }
            exchange() { for home in a b a b; do on $home -q sync now > /dev/null; done; }
            diverge() {
                printf "from-a$1" > from-a; on a -q set github:password --value-from file:from-a
                printf "from-b$1" > from-b; on b -q set github:password --value-from file:from-b
                exchange
            }
            number() { on "$1" --format plain sync diff 2> /dev/null | cut -f 1; }

            """

    @Test(
        "a read of a changed field names the conflict copy, also through the agent; each answer settles it on both devices",
        arguments: SyncPlace.each)
    func copies(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair; diverge 1
            on a --format plain sync diff | sed -E 's/[0-9a-f]{16}/NUMBER/; s/[0-9a-f]{8} /HEX /'
            on a sync status | grep settle
            code on a get github:password --no-agent; grep -oE 'has another value in the conflict copy' err; cp out in-process
            code on a get github:password --strict
            on a -q unlock
            code on a get github:password; grep -oE 'has another value in the conflict copy' err; cmp out in-process
            code on a get github:password --strict; on a -q lock
            code on a sync resolve github --keep copy
            code on a sync resolve github
            code on a sync resolve github --accept --yes
            old=$(number a)
            on a -q set github:note --value-from file:new
            code on a sync resolve "$old" --keep copy --yes
            on a -q sync resolve github --keep copy --yes; exchange
            cat in-process; echo; on a get github:password --strict | cmp -s - in-process || echo "the other value"
            for home in a b; do on $home ls; on $home --format plain sync diff; done
            diverge 2
            on b -q sync resolve "$(number b)" --keep both --as second --yes; exchange
            diverge 3
            on b -q sync resolve github --keep item --yes; exchange
            for home in a b; do on $home ls; done
            on a get github:password > of-a; on b get github:password --strict | cmp - of-a
            code on a sync resolve github --keep item --yes
            """)
        #expect(
            ran.output.replacing(/from-[ab]1/, with: "from-x")
                == """
                NUMBER\tcopy\tgithub\tcopy "conflict-HEX github": field password differs\tX
                1 question to settle: omvault sync diff
                exit 0
                has another value in the conflict copy
                exit 12
                exit 0
                has another value in the conflict copy
                exit 12
                exit 8
                exit 2
                exit 12
                exit 12
                from-x
                the other value
                github
                github
                github
                second
                github
                second
                exit 12

                """.replacing("\tX\n", with: ran.output.contains("differs\tlaptop") ? "\tlaptop\n" : "\tdesktop\n"), "\(ran)")
    }

    @Test(
        "a name that means another item is not read, in process and through the agent, until it is settled",
        arguments: SyncPlace.each)
    func names(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            on b -q mv github old-github; on b -q add github --field password=file:new
            on b -q sync now > /dev/null; on a sync now 2>&1 > /dev/null | grep -o 'means another item than before'
            code on a get github:password; grep '^omvault: hint' err
            code on a show github
            on a -q unlock
            code on a get github:password; code on a get github
            code on a get old-github:password; cat out; echo
            on a --format plain sync diff github | cut -f 2-4
            code on a sync resolve github; code on a sync resolve github --keep item --yes
            on a sync resolve github --yes
            on a get github:password; echo
            on a --format plain sync diff
            on a -q lock
            """)
        #expect(
            ran.output == """
                means another item than before
                exit 11
                omvault: hint: omvault sync diff github shows both
                omvault: hint: if the new one is right: omvault sync resolve github
                exit 11
                exit 11
                exit 11
                exit 0
                old
                name\tgithub\tanother item; the one before is "old-github" now
                exit 8
                exit 2
                new

                """, "\(ran)")
    }

    @Test("a device that made none of two entries which exclude each other goes on with its user's choice")
    func entries() async throws {
        let ran = try await SyncPlace.folder.run(
            Self.devices,
            """
            found; pair
            mkdir c; rm -f shown; begin_add
            on c device join "$place" "${login[@]}" --device tablet --pairing-code-from 'cmd:head -n 1 code' --no-recovery "${weak[@]}" \\
                > shown 2> join.log & joining=$!
            while_runs $joining has_shown; head -n 1 shown > digits; ends 0 $joining; ends 0 $adding
            on b -q sync now > /dev/null
            mv stick away; on b -q device remove laptop --yes > /dev/null; mv away stick
            on a -q device remove desktop --yes > /dev/null
            for home in a b; do on $home -q sync now > /dev/null; done
            code on c sync now; grep '^omvault: hint: omvault sync diff' err
            on c --format plain sync diff | cut -f 2-5 | sort
            on c --json sync diff | grep -oE '"removes":."[a-z]+"' | sort
            chosen=$(on c --format plain sync diff | grep laptop$ | cut -f 1)
            code on c sync resolve "$chosen" --yes
            code on c sync now; on c device ls | cut -f 2 | sort
            """)
        #expect(
            ran.output == """
                exit 31
                omvault: hint: omvault sync diff shows them, and omvault sync resolve NUMBER chooses one
                entry\t\tentry 3 of the list of devices: removes desktop\tlaptop
                entry\t\tentry 3 of the list of devices: removes laptop\tdesktop
                "removes":["desktop"
                "removes":["laptop"
                exit 0
                exit 0
                laptop
                tablet

                """, "\(ran)")
    }

    @Test(
        "many removals are listed, and accepted or refused by their numbers alone, as documents too",
        arguments: SyncPlace.each)
    func changes(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            for number in $(seq 30); do printf '{"name": "item %s", "fields": {"x": "1"}}\\n' $number; done > many
            on b -q add --from-jsonl many; exchange
            for number in $(seq 21); do on b -q rm --yes "item $number"; done
            on b -q sync now > /dev/null; on a -q sync now > /dev/null
            on a --format plain sync diff 2> err | cut -f 2-5 | head -n 1; grep -c 'number of all changes' err
            on a --json sync diff > document
            one=$(on a --format plain sync diff 'item 1' 2> /dev/null | cut -f 1)
            on a sync resolve "$one" --accept --yes
            code on a sync resolve "$one" --accept --yes
            on a ls | grep -c item
            all=$(sed -nE 's/.*"all_changes":"([0-9a-f]{16})".*/\\1/p' document)
            code on a sync resolve "$all" --refuse --yes
            all=$(on a --json sync diff | sed -nE 's/.*"all_changes":"([0-9a-f]{16})".*/\\1/p')
            on a --json sync resolve "$all" --refuse --yes | grep -oE '"answer":"refuse"'; exchange
            for home in a b; do on $home ls | grep -c item; on $home --format plain sync diff; done
            cat document
            """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 9, "\(ran)")
        #expect(
            Array(lines.dropLast()) == [
                lines[0], "1", "exit 12", "29", "exit 12", "\"answer\":\"refuse\"", "29", "29",
            ], "\(ran)")
        #expect(lines[0].hasPrefix("change\titem ") && lines[0].hasSuffix("\tremoves it\tdesktop"))
        let document = try Ran.json(lines[lines.count - 1])
        let questions = try #require(document["questions"] as? [[String: Any]])
        #expect(questions.count == 21 && questions.allSatisfy { $0["effect"] as? String == "removes" })
        #expect(questions.allSatisfy { $0["devices"] as? [String] == ["desktop"] && $0["removed"] as? Bool == false })
    }
}
