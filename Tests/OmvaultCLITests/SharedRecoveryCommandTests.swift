// One paper for all devices: the commands of a vault that syncs, as their users type them.

import Foundation
import TestSupport
import Testing

@Suite("One recovery code opens each device") struct SharedRecoveryCommandTests {
    /// `founded` makes a vault on `a` with a recovery code in `paper`. `joined` makes `b` a device of it. `opens HOME FILE` says
    /// whether the code in the file opens the vault of that home, without the home's agent and password.
    private static let devices =
        SyncCommandTests.devices + """
            codes() { sed -E 's/.*"recovery_code":"([^"]*)".*/\\1/'; }
            founded() {
                on a init --format json "${weak[@]}" 2> /dev/null | codes > paper
                for level in always after-first-unlock when-unlocked; do
                    on a -q add "$level" --field password=file:old --level "$level"
                done
                on a -q add bound --field password=file:old --device-only
                on a -q sync init --device laptop --code-from file:paper
                on a -q sync remote add "$place" --create "${login[@]}"
            }
            begin_other() {
                on b device join "$place" "${login[@]}" --device desktop --pairing-code-from 'cmd:head -n 1 code' "${weak[@]}" "$@" \\
                    > shown 2> join.log & joining=$!
            }
            joined() {
                begin_add; begin_other "$@"; while_runs $joining has_shown; head -n 1 shown > digits
                ends 0 $joining; ends 0 $adding
            }
            opens() {
                on "$1" get when-unlocked:password --recovery-from "file:$2" --no-agent 2> /dev/null && echo || echo "exit $?"
            }
            exchange() { for home in "$@"; do on "$home" -q sync now > /dev/null; done; }

            """

    @Test(
        "the paper of the first device opens the second one at every level, and the second one prints no code",
        arguments: SyncPlace.each)
    func onePaper(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            founded; joined
            wc -l < shown; grep -c 'opens it too' join.log; grep -c 'only once' join.log || true
            on b key slots | cut -f 1,2,4,5
            for level in always after-first-unlock when-unlocked; do
                on b get "$level:password" --recovery-from file:paper --no-agent; echo
            done
            on b -q add own --field password=file:new --device-only --recovery-from file:paper
            on b get own:password --recovery-from file:paper --no-agent; echo
            on b verify --recovery-from file:paper > /dev/null
            rm -r b/.local/state/omvault-device
            for level in always after-first-unlock when-unlocked; do
                on b get "$level:password" --recovery-from file:paper --no-agent; echo
            done
            sed -i 's/^/0/; s/^0\\(.\\).../0\\1/' paper; opens b paper
            """)
        #expect(
            ran.output == """
                1
                1
                0
                1\tpassword\t8 MiB, 1 passes\tok
                2\tshared-recovery\t-\tok
                old
                old
                old
                new
                old
                old
                old
                exit 20

                """, "\(ran)")
    }

    @Test("a device takes no code if it should not, makes its own if there is none, and refuses to have one typed back")
    func otherSlots() async throws {
        let ran = try await bash(
            SyncPlace.folder.script(Self.devices) + """
                founded
                begin_add; begin_other --code-from file:paper; ends 2 $joining; kill -TERM $(pgrep -P $adding || echo $adding); wait $adding || true
                find b -name '*.omv*' -o -name '*.mark' | wc -l
                joined --no-recovery; on b key slots | cut -f 1,2; opens b paper
                rm -rf a b stick shown; mkdir a b stick; found; joined; wc -l < shown; sed -n 2p shown > own
                on b key slots | cut -f 2; on b get github:password --recovery-from file:own --no-agent; echo
                on b key add-slot --type shared-recovery --code-from file:own 2> /dev/null || echo "exit $?"
                """)
        #expect(
            ran.output == """
                0
                1\tpassword
                exit 20
                2
                password
                recovery
                old
                exit 10

                """, "\(ran)")
    }

    @Test(
        "a code that another device changed opens this one only after it is typed here, and the status says who and when",
        arguments: SyncPlace.each)
    func changed(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            founded; joined
            on b sync status | grep -c 'was changed' || true
            on a key add-slot --type recovery --format json 2> /dev/null | codes > second
            exchange a b a
            opens b paper; opens b second
            on b sync status | grep 'was changed' | sed -E 's/at [^;]*/at TIME/'
            on b sync status --json | grep -oE '"recovery_changed(_by)?":"(laptop|[0-9T:Z-]*)"' | sed -E 's/"[0-9][^"]*"/TIME/'
            on a sync status | grep -c 'was changed' || true
            # A new device would seal its key to a code that this one does not know.
            refused 13 on b device add
            on b key add-slot --type shared-recovery --code-from file:paper 2> /dev/null || echo "exit $?"
            on b key add-slot --type shared-recovery --code-from file:second
            opens b paper; opens b second
            on b key slots | cut -f 1,2
            on b sync status | grep -c 'was changed' || true
            on b log ls --json | grep -o '"slot_changed"' | wc -l
            """)
        #expect(
            ran.output == """
                0
                old
                exit 20
                the recovery code was changed by "laptop" at TIME; it does not open this device
                "recovery_changed":TIME
                "recovery_changed_by":"laptop"
                0
                exit 20
                exit 20
                old
                1\tpassword
                2\tshared-recovery
                0
                1

                """, "\(ran)")
    }

    @Test(
        "a rekey keeps the paper, whatever slot unlocks, and so does a rejoin; rm-slot ends it, and the code gives it back",
        arguments: SyncPlace.each)
    func rekey(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            founded; joined
            on b key rekey --yes --format json 2> /dev/null | grep -oE '"(slots|recovery_code)":[^ ]*' | head -n 1
            opens b paper
            on b key rekey --yes --also-from 2=file:paper > /dev/null 2>&1; opens b paper
            on b key rekey --yes --recovery-from file:paper > rekeyed 2>&1; grep -c 'shown only once' rekeyed || true
            on b key slots --recovery-from file:paper | cut -f 1,2; opens b paper
            on b -q key add-slot --type password --new-password-from file:pw --recovery-from file:paper
            on b device rejoin --yes > /dev/null 2>&1; opens b paper
            exchange a
            on a device ls | cut -f 2 | sort | paste -s -d,
            on b -q key rm-slot 2 --yes; opens b paper
            on b -q key add-slot --type shared-recovery --code-from file:paper; opens b paper
            on a -q key add-slot --type shared-recovery --code-from file:paper; on a key slots | cut -f 1,2
            on a key rekey --yes --json 2> rekeyed | grep -o '"recovery_code":null'
            on a key slots | cut -f 1,2; opens a paper; opens b paper
            """)
        #expect(
            ran.output == """
                "slots":[1,2],"purged":true,"recovery_code":null}
                old
                old
                0
                2\tshared-recovery
                old
                old
                desktop,laptop,recovery code
                exit 20
                old
                1\tpassword
                2\trecovery
                3\tshared-recovery
                "recovery_code":null
                1\tpassword
                3\tshared-recovery
                old
                old

                """, "\(ran)")
    }

    @Test(
        "a new code that is made on a device with a shared slot takes its place there and in the list of devices",
        arguments: SyncPlace.each)
    func newCode(place: SyncPlace) async throws {
        let ran = try await place.run(
            Self.devices,
            """
            founded; joined
            # The new code cannot be shown: the old one still opens.
            on b key add-slot --type recovery --format json > /dev/full 2> /dev/null && echo 'shown?'
            opens b paper
            on b key add-slot --type recovery --format json 2> /dev/null > made
            grep -oE '"type":"[a-z-]*"' made; codes < made > second
            on b key slots | cut -f 1,2; opens b paper; opens b second
            exchange b a; opens a paper; opens a second
            on a sync status | grep -c 'was changed'
            on b sync status | grep -c 'was changed' || true
            rm -rf a; mkdir a
            on a device join "$place" "${login[@]}" --device found --recovery --recovery-from file:second --yes "${weak[@]}" > /dev/null 2>&1
            opens a second
            """)
        #expect(
            ran.output == """
                old
                "type":"shared-recovery"
                1\tpassword
                2\tshared-recovery
                exit 20
                old
                old
                exit 20
                1
                0
                old

                """, "\(ran)")
    }

    @Test("a backup of the second device opens with the paper on a machine that has nothing else")
    func backup() async throws {
        let ran = try await bash(
            SyncPlace.folder.script(Self.devices) + """
                founded; joined
                on b -q add later --field password=file:new
                on b -q backup create vault.omvb --portable
                mkdir c
                HOME=$HOME/c omvault -q backup restore vault.omvb --recovery-from file:paper --new-password-from file:pw2 2> /dev/null
                HOME=$HOME/c omvault get later:password --recovery-from file:paper; echo
                HOME=$HOME/c omvault get later:password --password-from file:pw2; echo
                HOME=$HOME/c omvault key slots --password-from file:pw2 | cut -f 2 | sort | paste -s -d,
                """)
        #expect(ran.output == "new\nnew\npassword,shared-recovery\n", "\(ran)")
    }
}
