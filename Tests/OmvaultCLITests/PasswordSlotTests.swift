// Planted slots, and the order of writes for a key file. The dialogues are in Tests/Transcripts/key-slots.md.

import Foundation
import TestSupport
import Testing

@Suite("Several passwords of one vault") struct PasswordSlotTests {
    private static let vault = """
        set -e
        printf one > one; printf wrong > wrong; printf value > value
        omvault -q init --password-from file:one --kdf-mem 8 --kdf-time 1 > code
        omvault -q add item --field x=file:value --password-from file:one

        """

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

    @Test("after eight password slots the error of a wrong password names the slots that were not tried, and how to try them")
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

    @Test("planted recovery slots with the costliest stretch, behind a cheap one, are not tried")
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

    @Test("add-slot writes the key file, name and bytes, to the disk before its slot")
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
