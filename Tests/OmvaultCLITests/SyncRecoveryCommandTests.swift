// Lost devices, copies of a vault, and new keys: the commands of sync as their users type them.

import Foundation
import TestSupport
import Testing

@Suite("The commands of sync for lost and copied devices") struct SyncRecoveryCommandTests {
    /// `founded` makes a vault with a recovery code in `paper`, and `restored` runs `device join --recovery` on `b`.
    private static let devices =
        SyncCommandTests.devices + """
            founded() {
                on a init --format json "${weak[@]}" 2> /dev/null | sed -E 's/.*"recovery_code":"([^"]*)".*/\\1/' > paper
                on a -q add github --field password=file:old
                on a -q sync init --device laptop --code-from file:paper
                on a -q sync remote add "$place" --create "${login[@]}"
                on a -q sync now > /dev/null
            }
            restored() {
                on b device join "$place" "${login[@]}" --device found --recovery --recovery-from file:paper "${weak[@]}" "$@"
            }

            """

    @Test("all devices lost: the recovery code and the folder give the vault, and the lost devices are removed")
    func allLost() async throws {
        let ran = try await bash(
            SyncPlace.folder.script(Self.devices) + """
                founded
                on a -q add pem --field key=file:new --level always; on a -q sync now > /dev/null
                find stick -type f -exec sha256sum {} + | sort > before
                restored --no-input 2> refused || echo "exit $?"
                grep -c 'news from' refused; ls b/.local/share/omvault/vaults 2> /dev/null | wc -l
                find stick -type f -exec sha256sum {} + | sort | cmp - before
                restored --yes > /dev/null
                on b get github:password; echo; on b get pem:key; echo
                on b device ls | cut -f 2,3,5
                on a sync now > /dev/null || echo "exit $?"
                on b get github:password --recovery-from file:paper --no-agent; echo
                """)
        #expect(
            ran.output == """
                exit 8
                1
                0
                old
                new
                recovery code\trecovery\tno
                found\tdevice\tyes
                exit 13
                old

                """)
    }

    private static let secondImplementation = [
        "BYTES": URL(filePath: #filePath).appending(path: "../../Golden/sync/bytes.py").standardized.path
    ]

    @Test("a remote that the second implementation made gives its items to the holder of the code")
    func otherImplementation() async throws {
        let ran = try await bash(
            SyncPlace.folder.script(Self.devices) + """
                python3 "$BYTES" --remote stick > paper
                restored --yes > /dev/null
                for field in mail:username mail:password Büro:pin free:key; do on b get $field; echo; done
                on b ls --json | grep -o '"name":"[^"]*"\\|"level":"[^"]*"' | paste -s -d,
                on b device ls | cut -f 2,3,5
                """, environment: Self.secondImplementation)
        #expect(
            ran.output == """
                ann
                hunter2
                0000
                of always
                "name":"Büro","level":"after-first-unlock","name":"free","level":"always","name":"mail","level":"when-unlocked"
                recovery code\trecovery\tno
                found\tdevice\tyes

                """, "\(ran)")
    }

    @Test("a recovery ends with 4 where a lost device names an entry of a later omvault: no device is removed unread")
    func laterEntry() async throws {
        let ran = try await bash(
            SyncPlace.folder.script(Self.devices) + """
                python3 "$BYTES" --later-remote stick > paper
                find stick -type f -exec sha256sum {} + | sort > before
                restored --yes > out 2> refused || echo "exit $?"
                cat out; grep -c 'an entry of a later omvault' refused; grep -c 'news from' refused || true
                find stick -type f -exec sha256sum {} + | sort | cmp - before
                ls b/.local/share/omvault/vaults 2> /dev/null | wc -l; on b vault ls
                # A head that no lost device signed says nothing about later entries.
                printf '\\0' | dd of=$(echo stick/*/*/head) bs=1 seek=260 conv=notrunc status=none
                restored --yes > /dev/null; on b get mail:password; echo
                """, environment: Self.secondImplementation)
        #expect(ran.output == "exit 4\n1\n0\n0\nhunter2\n", "\(ran)")
    }

    @Test("a device that is not lost can stay; a code of no remote, and options that do not fit, are refused")
    func kept() async throws {
        let ran = try await bash(
            SyncPlace.folder.script(Self.devices) + """
                founded
                restored --yes --keep laptop > /dev/null; on b device ls | cut -f 2 | sort | paste -s -d,
                on a -q sync now > /dev/null; on a device ls | cut -f 2 | sort | paste -s -d,
                mkdir c; sed -i 's/^/0/; s/^0\\(.\\).../0\\1/' paper
                HOME=$HOME/c omvault device join stick --recovery --recovery-from file:paper "${weak[@]}" 2> /dev/null || echo "exit $?"
                on b device join stick --keep laptop --password-from file:pw 2> /dev/null || echo "exit $?"
                on b device join stick --recovery --no-recovery 2> /dev/null || echo "exit $?"
                """)
        #expect(
            ran.output == """
                found,laptop,recovery code
                found,laptop,recovery code
                exit 20
                exit 2
                exit 2

                """)
    }

    @Test("a new recovery code of a vault that syncs opens the remote, and the one before does not", arguments: SyncPlace.each)
    func newCode(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            founded
            on a key add-slot --type recovery --format json 2> /dev/null | sed -E 's/.*"recovery_code":"([^"]*)".*/\\1/' > second
            on a -q sync now > /dev/null
            restored --yes > /dev/null 2> refused || echo "exit $?"; grep -c 'no remote that this code opens' refused
            mv second paper; restored --yes > /dev/null; on b get github:password; echo
            """)
        #expect(ran.output == "exit 20\n1\nold\n")
    }

    @Test("a vault that was put back from a copy stops, rejoins, and goes on with all edits", arguments: SyncPlace.each)
    func rejoin(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            found; pair
            for home in a b a; do on $home -q sync now > /dev/null; done
            cp -a a snapshot
            on a -q add later --field password=file:from-a; on a -q sync now > /dev/null
            rm -r a; mv snapshot a
            on a -q add other --field password=file:from-b
            on a sync now > /dev/null 2> stopped || echo "exit $?"; grep -c 'device rejoin' stopped
            on a key rekey --yes > /dev/null 2>&1 || echo "exit $?"
            for verb in rm 'accept --create'; do
                on a sync remote $verb 1 --yes 2> kept || echo "exit $?"; grep -c 'device rejoin' kept
            done
            on a device rejoin --no-input 2> /dev/null || echo "exit $?"
            on a device rejoin --yes --format json | tr ',' '\\n' | grep -c '"result":"rejoined"'
            for home in b a b; do on $home -q sync now > /dev/null; done
            on a ls > of-a; on b ls > of-b; cmp of-a of-b; cat of-a
            on b device ls | wc -l
            """)
        #expect(
            ran.output == """
                exit 31
                1
                exit 31
                exit 31
                1
                exit 31
                1
                exit 8
                1
                github
                later
                other
                2

                """)
    }

    @Test(
        "a rekey in a vault that syncs: the other devices go on, with another number and another code",
        arguments: SyncPlace.each)
    func rekey(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            founded
            begin_pairing; while_runs $joining has_shown; head -n 1 shown > digits; ends 0 $joining; ends 0 $adding
            on a device ls | cut -f 1 | sort > before
            on a -q set github:password --value-from file:from-a
            on a key rekey --yes --format json 2> /dev/null | sed -E 's/.*"recovery_code":"([^"]*)".*/\\1/' > second
            on b -q sync now > /dev/null; on b get github:password; echo
            on b -q set github:password --value-from file:from-b; on b -q sync now > /dev/null
            on a -q sync now > /dev/null; on a get github:password; echo
            on a device ls | cut -f 1 | sort | comm -12 - before | wc -l
            on a device ls | cut -f 2 | sort | paste -s -d,
            rm -rf b; mkdir b; restored --yes > /dev/null 2>&1 || echo "exit $?"
            mv second paper; restored --yes > /dev/null; on b get github:password; echo
            """)
        #expect(
            ran.output == """
                from-a
                from-b
                1
                desktop,laptop,recovery code
                exit 20
                from-b

                """)
    }
}
