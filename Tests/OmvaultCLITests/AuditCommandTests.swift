// What `omvault audit` finds, against keepassxc-cli, and what it never says.

import Foundation
import TestSupport
import Testing

@testable import omvault_full

@Suite("The verb audit") struct AuditCommandTests {
    /// Items with a finding of each kind, a clean one, and values that are no passwords. `$canaries` has the passwords and their
    /// hashes.
    private static let items = """
        unlock; omvault -q rm item
        new() { printf %s "$2" > .v; omvault -q add "$1" --type login --field password=file:.v "${@:3}"; }
        good=vH9.fTz_2LqwXe7Rb1Kd better=Wq8_rPm.4ZsnYc6Tj3Gh
        new clean "$good" --plain username=ada
        new named AdaLovelace99 --plain username=adalovelace --plain url=https://a.example
        new shared "$better"; new work/shared "$better" --level after-first-unlock
        new common tulip --level always
        new due "x$good" --expires 2020-01-01; new later "y$good" --expires 2999-01-01
        head -c 300 /dev/zero | tr '\\0' x > long; omvault -q add key --field password=file:long
        printf '\\377\\376\\375' > bytes; omvault -q add binary --field password=file:bytes
        printf tulip > v; omvault -q add note --type note --field notes=file:v; omvault -q add trashed --field password=file:v
        omvault -q rm trashed
        sha1() { printf %s "$1" | sha1sum | cut -d ' ' -f 1; }
        upper() { tr a-f A-F; }
        printf '%s\\n' "$good" "$better" tulip AdaLovelace99 $(sha1 tulip) $(sha1 tulip | upper) $(sha1 "$good") > canaries
        silent() { cat "$@" > shown; refused 1 grep -iFf canaries shown; }

        """

    @Test("each kind is found where it is, over levels, and nothing else; no row has a password or a hash")
    func kinds() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                (sha1 tulip | upper | sed 's/$/:123/'; sha1 nothing | upper) > list
                omvault audit --breached list > rows 2> told; silent rows told
                cut -f 1-3 rows > found
                printf '%s\\t%s\\t%s\\n' common password weak common password breached due - expiring named password weak \\
                    shared password reused work/shared password reused | diff - found
                grep -qP '^common\\tpassword\\tbreached\\tin the list, seen 123 times$' rows
                grep -qP '^shared\\tpassword\\treused\\talso in work/shared$' rows
                grep -qP '^due\\t-\\texpiring\\texpired 2020-01-01T00:00:00Z$' rows
                grep -qx 'omvault: 7 passwords checked: 2 weak, 2 reused, 1 expiring, 1 breached' told
                grep -qx 'omvault: 2 values skipped: not text, or longer than 256 bytes' told
                omvault audit --weak --bits 200 > rows 2> told; test "$(cut -f 1 rows | sort | tr '\\n' ' ')" = 'clean common due later named shared work/shared '
                omvault audit --old 0 > rows 2> told; test "$(cut -f 3 rows | sort | uniq -c | tr -s ' ')" = ' 7 old'
                omvault audit --reused > rows 2> told; test "$(wc -l < rows)" = 2
                refused 2 omvault audit --expiring 50000w
                omvault audit --expiring 36500 > rows 2> told; test "$(wc -l < rows)" = 1
                omvault audit work/ > rows 2> told; test ! -s rows; grep -q '1 password checked: nothing to change' told
                omvault audit named common --json > rows 2> told; silent rows told
                python3 - << 'END'
                import json
                document = json.load(open('rows'))
                assert document['passwords'] == 2 and document['skipped'] == 0 and document['unread'] == 0, document
                assert [f['item'] for f in document['findings']] == ['common', 'named'], document
                assert all(f['finding'] == 'weak' and f['bits'] < 15 for f in document['findings']), document
                END
                omvault lock
                omvault audit --password-from file:password > again 2> told; omvault audit --no-agent --password-from file:password > here
                cmp again here; silent again
                refused 8 omvault audit --no-input
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("--fail-on is 41 for what it names, 0 for the rest, and 2 for what is not looked for")
    func failOn() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                sha1 tulip > list
                for kind in weak reused expiring any breached,weak weak,old; do
                    refused 41 omvault audit --breached list --fail-on $kind; grep -q common .refused
                done
                omvault -q audit --fail-on old > rows; test -s rows
                omvault -q audit clean --fail-on any --breached list > rows; test ! -s rows
                refused 41 omvault audit --old 0 --fail-on old
                refused 2 omvault audit --fail-on breached; grep -q 'needs --breached' .refused
                refused 2 omvault audit --weak --fail-on reused; refused 2 omvault audit --fail-on weak,; refused 2 omvault audit --fail-on x
                refused 2 omvault audit --old x; refused 2 omvault audit --old -1; refused 2 omvault audit --bits 0
                refused 2 omvault audit --reused --bits 50
                refused 10 omvault audit nothing
                refused 60 omvault audit --breached none; refused 2 omvault audit --breached .
                printf 'zz\\n' > list; refused 30 omvault audit --breached list
                (sha1 tulip; echo; printf '\\r\\n') > list; omvault -q audit common --reused --breached list | grep -q breached
                (sha1 tulip; echo tulip) > list; refused 30 omvault audit --breached list
                grep -q 'the line at byte 41' .refused; silent .refused
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("a large list that may be cut off is a warning, and 30 for a script that asks about it")
    func cutList() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                python3 - << 'END'
                # 70 MB, in order, up to B333.
                step = 2**160 // 1700000
                with open('list', 'w') as file:
                    for start in range(0, 1700000, 10000):
                        file.write(''.join('%040X\\n' % (n * step * 7 // 10) for n in range(start, start + 10000)))
                END
                omvault audit clean --reused --breached list > rows 2> told; test ! -s rows
                grep -qx 'omvault: warning: the list may be cut off: it begins with 0000 and ends with B333, not with 0000 and FFFF' told
                for kind in breached any; do refused 30 omvault audit clean --reused --breached list --fail-on $kind; done
                grep -q 'ends with B333' .refused
                omvault -q audit clean --reused --breached list --fail-on reused
                omvault audit clean --reused --breached list --json | grep -q '"list_doubted":true'
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("items that no unlock opens on this device are counted, and an audit without them fails no script silently")
    func unread() async throws {
        let ran = try await bash(
            """
            set -e
            umask 077; printf 'password\\n' > password
            omvault init --password-from file:password --kdf-mem 8 --kdf-time 1 --json 2> told \\
                | sed -E 's/.*"recovery_code":"([^"]*)".*/\\1/' > code
            printf vH9.fTz_2LqwXe7Rb1Kd > good; printf Wq8_rPm.4ZsnYc6Tj3Gh > better
            omvault -q add one --field password=file:good --password-from file:password
            omvault -q add work/y --field password=file:better --password-from file:password
            for name in work/x other gone; do omvault -q add $name --field password=file:good --device-only --password-from file:password; done
            omvault -q rm gone --purge --yes --password-from file:password
            omvault -q audit --weak --fail-on weak --password-from file:password
            cp .local/share/omvault/personal.omv moved.omv; mkdir -m 700 elsewhere; export HOME=$HOME/elsewhere; cd
            omvault audit --vault ../moved.omv --recovery-from file:../code > rows 2> told; test ! -s rows
            grep -q '2 passwords checked: nothing to change' told
            grep -q 'warning: 2 items of this vault could not be read and were not checked' told
            refused 7 omvault -q audit --vault ../moved.omv --recovery-from file:../code --fail-on any
            grep -q '2 items could not be read' .refused
            audit() { omvault -q audit "$@" --vault ../moved.omv --recovery-from file:../code --fail-on any; }
            audit one; audit one work/y
            # An item that cannot be read may be below a path.
            for path in work/ work; do refused 7 audit $path; grep -q '2 items could not be read' .refused; done
            """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("keepassxc-cli finds the same breached passwords in the same list")
    func keepass() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                (sha1 tulip | upper | sed 's/$/:123/'; sha1 "$better" | upper | sed 's/$/:4/'; sha1 none | upper | sed 's/$/:9/') \\
                    | LC_ALL=C sort > list
                printf 'rose\\n' > new; omvault -q export --to kdbx -o a.kdbx --new-password-from file:new
                keepassxc-cli analyze -q --hibp list a.kdbx < new > theirs 2>&1
                omvault -q audit --breached list --json \\
                    | python3 -c 'import json,sys; [print(f["item"], f["seen"]) for f in json.load(sys.stdin)["findings"] if f["finding"] == "breached"]' \\
                    | sort > ours
                sed -nE "s/.*'([^']*)'.* ([0-9]+) time.*/\\\\1 \\\\2/p" theirs | sed 's:^/*::' | sort > known
                test "$(wc -l < ours)" = 3; diff known ours || { cat theirs; false; }
                """)
        #expect(ran.status == 0, "\(ran)")
    }
}
