// History, trash, levels and verify as a user types them.

import Foundation
import TestSupport
import Testing

@Suite("The verbs of versions") struct VersionCommandTests {
    private static let vault = """
        set -e
        printf 'password\\n' > password
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 > code
        omv() { omvault "$@" --password-from file:password; }
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }
        for i in 1 2 3 4; do printf "$i" > "v$i"; done
        omv -q add item --field x=file:v1
        omv -q set item:x --value-from file:v2
        omv -q set item:x --value-from file:v3
        db=.local/share/omvault/personal.omv

        """

    @Test("an earlier version is listed, printed and restored")
    func history() async throws {
        let ran = try await bash(
            Self.vault + """
                omv history item | cut -f 1,3,4
                omv get item:x --rev 1; omv get item:x --rev 2; omv get item:x; echo
                omv -q restore item --rev 1; omv get item:x; echo
                omv history item --show 2 | grep -c concealed
                code omv get item:x --rev 9; code omv history item --show 9; code omv restore item --rev 4
                code omv restore item; code omv history none
                omv history item --json; omv get item --rev 2 --reveal --json
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(
            lines.dropLast(2) == [
                "3\tlive\tx", "2\tlive\tx", "1\tlive\tx", "123", "1", "1", "10", "10", "15", "5", "10",
            ], "\(ran)")
        let versions = try Ran.json(lines[lines.count - 2])["versions"] as? [[String: Any]]
        #expect(versions?.map { $0["revision"] as? Int } == [4, 3, 2, 1])
        #expect((try Ran.json(lines[lines.count - 1])["fields"] as? [String: String])?["x"] == "2")
    }

    @Test("rm moves to the trash without a question, and only a purge asks")
    func trash() async throws {
        let ran = try await bash(
            Self.vault + """
                omv -q rm item; omv ls; omv ls --trash; code omv get item:x
                omv history item | head -n 1 | cut -f 1,3
                omv -q restore item; omv get item:x; echo
                omv -q add item2 --field x=file:v1; code omv rm item item2 none; omv ls | tr '\\n' ' '; echo
                omv -q rm item item2; omv ls --trash | tr '\\n' ' '; echo
                code omv rm --trash; code omv rm; code omv rm --trash --purge; code omv rm item --purge --yes
                omv --yes rm item2 --trash --purge --json
                id=$(omv ls --trash --fields id); omv -q restore item --id "$id"; omv get item:x; echo
                omv --yes -q rm item --purge; omv ls; omv ls --trash; code omv restore item
                sqlite3 "$db" 'SELECT count(*) FROM records'
                """)
        #expect(
            ran.output == """
                item
                10
                4\ttrash
                3
                10
                item item2 
                item item2 
                2
                2
                8
                10
                {"schema":"omvault/1","result":"removed","items":["item2"],"purged":true}
                3
                10
                2

                """, "\(ran)")
    }

    @Test("a level is changed for all versions, a field is deleted, and nothing is changed twice")
    func setting() async throws {
        let ran = try await bash(
            Self.vault + """
                omv -q set item --level always
                omvault get item:x --no-input; omvault get item:x --rev 1 --no-input; echo
                omv -q set item --level when-unlocked --device-only; omv ls --fields name,level
                code omvault get item:x --no-input; code omv set item --level when-unlocked --device-only
                omv -q set item --level after-first-unlock; omv ls --fields level
                code omv set item:x --level always; code omv set item --level sometimes; code omv set item
                omv -q set item:y --value-from file:v4; omv -q set item:x --delete; omv get item | cut -f 1 | tail -n 1
                code omv set item:x --delete; code omv set item:y --delete --value-from file:v1
                omv get item:x --rev 3; echo
                sqlite3 "$db" 'SELECT count(*) FROM pending'; omv -q verify --deep && echo whole
                """)
        #expect(
            ran.output.split(separator: "\n").joined(separator: " ")
                == "31 item\twhen-unlocked device-only 8 15 after-first-unlock 2 2 2 y 10 2 3 0 whole", "\(ran)")
    }

    @Test(
        "the question of a removal by id says what stands there: an item, though another one is damaged, or what cannot be read")
    func questions() async throws {
        let ran = try await atTerminal(
            Self.vault + """
                omv -q add other --field x=file:v1 --level always
                omv ls --fields id,name > ids
                sqlite3 "$db" "UPDATE records SET body = zeroblob(336) WHERE id = (SELECT record FROM entries WHERE level = 3)"
                entry=$(omv verify --deep 2> /dev/null | cut -f 2 | sed -n 's/^item (entry \\([0-9a-f]*\\))$/\\1/p')
                omv rm --purge --id "$(grep other ids | cut -f 1)" || echo "exit $?"
                omv rm --purge --id "$entry" --level when-unlocked || echo "exit $?"
                """, [("for good?", "n\n"), ("for good?", "n\n")])
        let questions = ran.output.replacing(try Regex("[0-9a-f]{32}"), with: "ENTRY")
        #expect(questions.contains("Remove \"other\" (entry ENTRY of always) for good?"), "\(ran)")
        #expect(questions.contains("Remove entry ENTRY of when-unlocked, which cannot be read, for good?"), "\(ran)")
        #expect(ran.output.contains("exit 3"), "\(ran)")
    }

    @Test("of two that claim one id none is removed until its entry and level are given")
    func twins() async throws {
        let ran = try await bash(
            Self.vault + """
                omv -q add other --field x=file:v1 --level always --device-only
                id=00112233445566778899aabbccddeeff
                for level in 3 17; do
                    sqlite3 "$db" "UPDATE records SET body = CAST(substr(body, 1, 4) || x'$id' || zeroblob(316) AS BLOB) \
                        WHERE id = (SELECT record FROM entries WHERE level = $level)"
                done
                code omv rm --purge --id $id --yes
                sed 's/[0-9a-f]\\{32\\}/ENTRY/g' told
                entry=$(grep -o 'entry [0-9a-f]* of always' told | cut -d ' ' -f 2)
                code omv rm --purge --id $id --yes --json
                grep -c '"places":\\["when-unlocked [0-9a-f]*","always device-only [0-9a-f]*"\\]' said told | cut -d : -f 2
                code omv rm --purge --id $entry --level always --yes
                code omv rm --purge --id $entry --device-only --yes; code omv rm item --level always
                code omv rm --purge --id $entry --level always --device-only --yes
                code omv rm --purge --id $id --yes
                omv -q verify --deep && echo whole
                """)
        #expect(
            ran.output == """
                11
                omvault: error: vault "personal" has 2 items with this id: entry ENTRY of when-unlocked, which cannot be read; \
                entry ENTRY of always device-only, which cannot be read
                omvault: hint: an attacker with this device's key added one under the other's id: look at both
                omvault: hint: omvault rm --purge --id ENTRY --level LEVEL [--device-only] removes one of them
                11
                0
                1
                10
                2
                2
                0
                0
                whole

                """, "\(ran)")
    }

    @Test("what no name removes goes by its id: one of two of the same name, and what verify names as damaged")
    func removeByID() async throws {
        let ran = try await bash(
            Self.vault + """
                printf planted > planted
                omv -q add other --field x=file:planted --level always
                id() { omv ls --fields id,name,level | grep "$1" | cut -f 1; }
                code omv rm --purge --id nonsense --yes
                code omv rm --id "$(id other)" --yes
                code omv rm --purge --id 00000000000000000000000000000000 --yes
                code omv rm --purge --id "$(id other)"
                omv rm --purge --id "$(id other)" --yes 2>&1 | sed 's/([0-9a-f-]*)/(ID)/'
                omv ls
                sqlite3 "$db" "UPDATE records SET body = zeroblob(336) WHERE id = (SELECT record FROM entries WHERE level = 3)"
                code omv get item:x; grep -c -- "rm --purge --id" told
                entry=$(omv verify --deep 2> /dev/null | cut -f 2 | sed -n 's/^item (entry \\([0-9a-f]*\\))$/\\1/p')
                omv rm --purge --id "$entry" --yes --json | sed "s/$entry/ENTRY/"
                omv -q verify --deep && echo whole
                """)
        #expect(
            ran.output == """
                2
                2
                10
                8
                omvault: removed "other" (ID)
                item
                30
                1
                {"schema":"omvault/1","result":"removed","id":"ENTRY","items":[],"purged":true}
                whole

                """, "\(ran)")
    }

    @Test("an item in the trash is raised where it lies, and a history that is shortened is shorter at once")
    func trashAndHistory() async throws {
        let ran = try await bash(
            Self.vault + """
                omv -q add open --field x=file:v1 --level always
                omv -q rm open
                omv set open --level when-unlocked 2>&1
                omv ls --trash --fields name,level
                code omv set open --level when-unlocked; code omv set nothing --level always
                omv policy set history 1 --json
                omv history item | wc -l
                sqlite3 "$db" 'SELECT count(*) FROM records'
                omv -q verify --deep && echo whole
                """)
        #expect(
            ran.output == """
                omvault: "open", in the trash, is now when-unlocked
                open\twhen-unlocked
                15
                10
                {"schema":"omvault/1","result":"changed","rule":"history","purged":true}
                2
                4
                whole

                """, "\(ran)")
    }

    @Test("status and verify show a purge that waits for a reader, and JSON errors have the SDK's number")
    func pendingPurge() async throws {
        let ran = try await bash(
            Self.vault + """
                mkfifo hold
                { echo 'BEGIN; SELECT count(*) FROM records;'; cat hold; } | sqlite3 "$db" > seen & reader=$!
                exec 9> hold
                eventually test -s seen
                omv rm item --purge --yes --json
                omvault status 2>&1; omvault status --json | sed 's|"path":"[^"]*/|"path":"|g'
                omv verify 2>&1; omv verify --json
                exec 9>&-; wait $reader
                omv verify --json
                omvault status 2>&1
                omv get item:x --json 2>&1 || true
                """)
        let pending =
            #"a purge of vault "personal" is pending: removed sealed bytes stay in its write-ahead log until it is unlocked"#
            + " while no other process reads it"
        #expect(
            ran.output == """
                {"schema":"omvault/1","result":"removed","items":["item"],"purged":false}
                omvault: \(pending)
                personal\tlocked\t0s\t0s\talways
                {"schema":"omvault/1","agent":false,"vault":"personal","state":"locked","readable":["always"],"purge_pending":true,\
                "file_replaced":false,"open":[],"vaults":[{"vault":"personal","path":"personal.omv","state":"locked","readable":["always"]}]}
                omvault: vault "personal" is whole
                omvault: \(pending)
                {"schema":"omvault/1","vault":"personal","deep":false,"whole":true,"purge_pending":true,"file_replaced":false,"problems":[]}
                {"schema":"omvault/1","vault":"personal","deep":false,"whole":true,"purge_pending":false,"file_replaced":false,"problems":[]}
                personal\tlocked\t0s\t0s\talways
                {"error":{"code":"not_found","exit":10,"message":"no item \\"item\\" in vault \\"personal\\"","hint":"omvault ls",\
                "sdk_code":10523,"sdk_domain":"ORAIDMMOBILE"}}

                """, "\(ran)")
    }

    @Test("of eight processes that change one revision one wins, and the others learn which there is")
    func race() async throws {
        let ran = try await bash(
            Self.vault + """
                set +e
                for i in 1 2 3 4 5 6 7 8; do
                    printf "new $i" > "n$i"
                    { omv set item:x --value-from "file:n$i" --if-rev 3 2> "told$i"; echo $? > "code$i"; } &
                done
                wait
                cat code[1-8] | sort | uniq -c | tr -s ' '
                grep -l 'revision 4' told* | wc -l
                omv history item | wc -l
                code omv rm item --if-rev 3; code omv rm item --purge --yes --if-rev 3
                code omv set item --level always --if-rev 3; code omv set item:x --delete --if-rev 4; code omv rm item --if-rev 5
                """)
        #expect(ran.output == " 1 0\n 7 12\n7\n4\n12\n12\n12\n0\n0\n", "\(ran)")
    }

    @Test("verify names what is wrong in a vault with one damaged record, and ends with 42")
    func verify() async throws {
        let ran = try await bash(
            Self.vault + """
                omv -q add other --field x=file:v4
                code omv verify --deep; grep -o "is whole.*" told
                sqlite3 "$db" "UPDATE records SET body = CAST(substr(body, 1, 300) || zeroblob(76) AS BLOB) WHERE id = 3"
                code omv verify; code omv verify --deep; cut -f 1,2,3,5 said | sed 's/entry [0-9a-f]\\{32\\}/ENTRY/'
                code omv get item:x; omv get other:x; echo
                omv verify --deep --json || true
                chmod 644 "$db"; code omv verify; cut -f 4 said
                code omvault verify --password-from file:v1
                chmod 600 "$db"; code omvault verify --password-from file:v1
                sqlite3 "$db" "UPDATE header SET body = zeroblob(621)"; code omv verify
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 13, "\(ran)")
        #expect(lines.prefix(2).joined().contains("2 items, 0 in the trash, 4 versions, all whole"), "\(ran)")
        #expect(Array(lines.dropFirst(2).prefix(5)) == ["0", "42", "when-unlocked\titem (ENTRY)\t-\t2,1", "30", "4"], "\(ran)")
        let report = try Ran.json(lines[7])
        #expect(report["whole"] as? Bool == false && report["items"] as? Int == 1, "\(ran)")
        #expect(lines[8] == "42" && lines[9].contains("other users can read"), "\(ran)")
        #expect(Array(lines.suffix(3)) == ["42", "20", "42"], "\(ran)")
    }
}
