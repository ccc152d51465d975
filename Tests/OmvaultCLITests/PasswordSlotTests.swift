// Several passwords of one vault, as a user types them.

import Foundation
import TestSupport
import Testing

@Suite("Several passwords of one vault") struct PasswordSlotTests {
    private static let vault = """
        set -e
        printf one > one; printf two > two; printf wrong > wrong; printf value > value
        omvault -q init --password-from file:one --kdf-mem 8 --kdf-time 1 > code
        omvault -q add item --field x=file:value --password-from file:one
        add() { omvault -q key add-slot --type password --password-from file:one --new-password-from "$@"; }
        get() { omvault get item:x --no-input --password-from "$@"; echo; }

        """

    @Test("a password that add-slot added opens the vault for every verb, without --keyslot")
    func second() async throws {
        let ran = try await bash(
            Self.vault + """
                add file:two
                get file:two; get file:one; get file:two --keyslot 3
                omvault key slots --password-from file:two --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["opened_by"])'
                printf three > three
                omvault key passwd --password-from file:two --new-password-from file:three
                get file:three
                refused 20 omvault get item:x --no-input --password-from file:two
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output == "value\nvalue\nvalue\n3\nvalue\n", "\(ran.errors)")
    }

    @Test("a backup is restored with the password of any slot")
    func restored() async throws {
        let ran = try await bash(
            Self.vault + """
                add file:two
                omvault -q backup create a.omvb --password-from file:one
                rm .local/share/omvault/personal.omv*
                omvault -q --yes backup restore a.omvb --replace-living --password-from file:two
                get file:one; get file:two
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output == "value\nvalue\n", "\(ran.errors)")
    }

    @Test("a restore refuses an option that does not fit the slot of --keyslot, and an id that no slot has, with unlock's words")
    func wrongOption() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q backup create a.omvb --password-from file:one
                refused 2 omvault get item:x --keyslot 1 --recovery-from file:two
                cp .refused unlock
                rm .local/share/omvault/personal.omv*
                refused 2 omvault --yes backup restore a.omvb --replace-living --keyslot 1 --recovery-from file:two
                cmp .refused unlock; cat .refused
                refused 10 omvault --yes backup restore a.omvb --replace-living --keyslot 7 --password-from file:one
                omvault -q --yes backup restore a.omvb --replace-living --keyslot 1 --password-from file:one
                get file:one
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(
            ran.output == """
                omvault: error: slot 1 takes a password
                omvault: hint: give --password-from
                value

                """, "\(ran.errors)")
    }

    @Test("add-slot refuses a ninth password before it asks for one, and help says that eight is the most")
    func ninth() async throws {
        let ran = try await bash(
            Self.vault + """
                for number in 3 4 5 6 7 8 9; do printf $number > next; add file:next; done
                printf 9 > nine; get file:nine
                refused 13 omvault key add-slot --type password --password-from file:one --no-input
                cat .refused
                omvault -q key add-slot --type file --out stick --password-from file:one
                omvault key add-slot --help | grep -c 'at most 8'
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output.hasPrefix("value\nomvault: error: vault \"personal\" already has 8 password slots"), "\(ran.output)")
        #expect(ran.output.hasSuffix("\n1\n"), "\(ran.output)")
    }

    /// Plants copies of the first slot, with a new id each, and raises the header's generation. `--accept-rollback` reads such a
    /// vault up to the unlock, as another device does.
    private static let plant = """
        plant() {
            local id slots=$1
            for ((id = 3; id < 3 + slots; id++)); do
                printf "INSERT INTO slots SELECT %d, CAST(substr(body, 1, 2) || x'%08x' || substr(body, 7) AS BLOB) FROM slots WHERE id = %d;" $id $id $2
            done > plant.sql
            echo "UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000009' || substr(body, 34) AS BLOB);" >> plant.sql
            sqlite3 .local/share/omvault/personal.omv < plant.sql
        }

        """

    @Test("a password that opens none of the eight slots is told which slots were not tried, and how to try them")
    func untried() async throws {
        let ran = try await bash(
            Self.vault + Self.plant + """
                plant 9 1
                refused 20 omvault get item:x --accept-rollback --no-input --password-from file:wrong
                cat .refused
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(
            ran.output.contains("hint: not tried: slot 10, 11; --keyslot ID tries one of them\n"), "\(ran.output)")
    }

    @Test("a planted row of the costliest recovery slots behind a cheap one is not stretched with")
    func costly() async throws {
        let ran = try await bash(
            Self.vault + Self.plant + """
                # 1 GiB and 16 passes, which takes half a minute each.
                plant 62 2
                sqlite3 .local/share/omvault/personal.omv "UPDATE slots SET body = CAST(substr(body, 1, 6) || x'00100000' || x'00000010' || substr(body, 15) AS BLOB) WHERE id > 2"
                omvault -q -V other init --password-from file:one --kdf-mem 8 --kdf-time 1 > other
                refused 20 omvault get item:x --accept-rollback --no-input --recovery-from file:other
                grep -c 'not tried: slot 3, 4, 5' .refused
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output == "1\n", "\(ran.output)")
    }

    @Test("the key file that add-slot makes is on the disk, name and bytes, before its slot is")
    func keyFileFirst() async throws {
        let ran = try await bash(
            Self.vault + """
                strace -f -qq -y -o trace -e trace=fsync,fdatasync,link,linkat,rename \\
                    omvault -q key add-slot --type file --out "$PWD/stick" --password-from file:one
                python3 - <<'END'
                import os, re
                home, seen = os.path.realpath("."), []
                for line in open("trace"):
                    call, rest = re.match(r"\\d+ +(\\w+)\\((.*)", line).groups()
                    if call == "fdatasync" and f"<{home}/.omvault-" in rest: seen.append("bytes")
                    elif call == "link" and "stick" in rest: seen.append("name")
                    elif call == "fsync" and f"<{home}>" in rest: seen.append("folder")
                    elif "personal.omv-wal" in rest and "folder" in seen: seen.append("slot")
                print(*seen)
                END
                omvault get item:x --no-input --key-file-from file:stick
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
        #expect(ran.output.hasPrefix("bytes name folder slot"), "\(ran.output)")
        #expect(ran.output.hasSuffix("\nvalue"), "\(ran.output)")
    }
}
