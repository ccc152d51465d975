// `get ITEM:`, and what `get ITEM` shows of values of several lines.

import TestSupport
import Testing

@Suite("The default field and revealed items") struct DefaultFieldTests {
    private static let vault = """
        set -e
        printf 'password\\n' > password; export OMVAULT_PASSWORD_FROM=file:password
        omvault -q init --kdf-mem 8 --kdf-time 1 --no-recovery
        printf one > one; printf two > two
        omvault -q add site --field user=file:two --field password=file:one
        omvault -q add only --field token=file:two
        omvault -q add several --field a=file:one --field b=file:two
        code() { status=0; "$@" > said 2> told || status=$?; echo "$status"; }

        """

    @Test("ITEM: is the field password, or the only field; of several it names all, exit 11")
    func defaultField() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault get site: | cmp - one && omvault get only: | cmp - two && echo same
                omvault get only: --json
                code omvault get several:; cat said told
                omvault get several: --json 2>&1 > said | grep -c '"code":"ambiguous".*"fields":\\["a","b"\\]'
                omvault -q set only:token --value-from file:one
                omvault get only: --rev 1; echo; omvault get only:; echo
                code omvault get none:
                code omvault set only: --value-from file:two
                """)
        #expect(
            ran.output == """
                same
                {"schema":"omvault/1","item":"only","field":"token","value":"two"}
                11
                omvault: error: item "several" has no field "password", but 2 other fields: a, b
                omvault: hint: name the field: omvault get several:a
                1
                two
                one
                10
                2

                """, "\(ran)")
    }

    @Test("through the agent ITEM: needs no password")
    func agent() async throws {
        let ran = try await bash(AgentTests.start + "unlock; omvault get item: --no-input\n")
        #expect(ran.output == "secret", "\(ran)")
    }

    @Test("at a terminal, and only there, an overview says how to print the value")
    func hint() async throws {
        let ran = try await atTerminal(
            Self.vault + """
                omvault get site; omvault get only; omvault get several; omvault get only | cat; omvault -q get only
                omvault get only --reveal
                """)
        let hints = ran.output.replacing("\r\n", with: "\n").split(separator: "\n").filter { $0.hasPrefix("omvault: hint") }
        #expect(
            hints == [
                "omvault: hint: omvault get site: prints the value of password",
                "omvault: hint: omvault get only: prints the value of token",
                "omvault: hint: omvault get several:FIELD prints a value",
            ], "\(ran)")
    }

    @Test("a value of several lines is a block in a table, and a row for each line otherwise")
    func lines() async throws {
        let ran = try await bash(
            Self.vault + """
                printf 'l1\\nl2\\tx\\nname\\tforged\\n' > note
                omvault -q add note --field notes=file:note --keep-newline --field "a longer name"=file:one
                omvault get note --reveal --format table | grep -v UTC
                omvault get note --reveal | grep -v '^created\\|^modified'
                omvault get note:notes | cmp - note
                printf 'a\\033b' > bytes; omvault -q add bytes --field x=file:bytes --field y=file:one
                code omvault get bytes --reveal; wc -c < said; cat told
                """)
        #expect(
            ran.output == """
                FIELD           VALUE
                name            note
                level           when-unlocked
                revision        1
                notes           l1
                                l2\tx
                                name\tforged
                a longer name   one
                name\tnote
                level\twhen-unlocked
                revision\t1
                notes\tl1
                notes\tl2\tx
                notes\tname\tforged
                a longer name\tone
                2
                0
                omvault: error: the value of x is not text
                omvault: hint: --json shows it; omvault get bytes:x prints its bytes

                """, "\(ran)")
    }

    @Test("of an item in the trash get says how it comes back, with and without the agent")
    func trash() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault -q rm only
                code omvault get only:token; cat told
                code omvault get only; grep -c 'omvault restore only' told
                code omvault get never:token; grep -c 'omvault ls' told
                omvault -q rm several; omvault -q add several --field a=file:one
                code omvault get several:b; grep -c restore told || true
                """)
        #expect(
            ran.output == """
                10
                omvault: error: no item "only" in vault "personal"
                omvault: hint: it is in the trash: omvault restore only
                omvault: sdk: ORAIDMMOBILE-10523
                10
                1
                10
                1
                10
                0

                """, "\(ran)")
        let agent = try await bash(
            AgentTests.start + "unlock; omvault -q rm item; code omvault get item:f --no-input; cat told\n")
        #expect(agent.output.contains("omvault: hint: it is in the trash: omvault restore item\n"), "\(agent)")
    }

    @Test("a table of times says that they are in UTC; plain rows have no header")
    func zone() async throws {
        let ran = try await bash(
            Self.vault + """
                omvault history only --format table | head -n 1
                omvault ls --fields name,modified --format table | head -n 1
                omvault get only --format table | grep -c '^modified (UTC) '
                omvault get only | grep -c '^modified\t'
                """)
        #expect(
            ran.output == "REVISION  MODIFIED (UTC)        STATE  FIELDS\nNAME     MODIFIED (UTC)\n1\n1\n", "\(ran)")
    }
}
