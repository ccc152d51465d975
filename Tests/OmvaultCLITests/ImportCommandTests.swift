// What `omvault import` does with a vault. The dialogues are in docs/guide/coming-from.md.

import Foundation
import TestSupport
import Testing

@Suite("The verb import") struct ImportCommandTests {
    private static let files = """
        umask 077
        printf 'title,url,username,password,notes\\nbank,https://bank.example,ada,tulip,"a\\nb"\\nbank,,eve,rose,\\n' > a.csv

        """

    @Test("the same import again adds nothing, and another item of a name is refused, skipped or renamed as --existing says")
    func again() async throws {
        let ran = try await bash(
            AgentTests.start + Self.files + """
                unlock
                omvault import --dry-run a.csv 2> told
                grep -q 'would import 2 items of csv' told; test "$(omvault ls)" = item
                omvault -q import a.csv --tag web
                omvault import a.csv --tag web 2> told; grep -q 'imported 0 items of csv .*; 2 are there already' told
                test "$(omvault ls | tr '\\n' ,)" = 'bank,bank (2),item,'
                test "$(omvault get bank:password) $(omvault get 'bank (2):username')" = 'tulip eve'
                omvault -q set bank:password --value-from cmd:'printf new'
                refused 5 omvault import a.csv --tag web; grep -q '1 other item of the same name' .refused
                test "$(omvault ls | wc -l)" = 3
                omvault import a.csv --tag web --existing skip --delete-source 2> told
                grep -q '1 skipped' told; grep -q 'is not deleted' told; test -e a.csv
                omvault -q import a.csv --tag web --existing rename
                omvault import a.csv --tag web --existing rename --delete-source 2> told
                grep -q 'imported 0 items' told; test ! -e a.csv
                test "$(omvault get 'bank (3):password') $(omvault get bank:password)" = 'tulip new'
                printf 'A=1\\nB=2\\n' | omvault -q import --into app -
                test "$(omvault get app/entry:B)" = 2
                omvault log ls > log; refused 1 grep -q tulip log
                printf 'title,password\\nacme,one\\nacme,two\\n' > b.csv; omvault -q import b.csv
                printf 'title,password\\nacme,new\\nacme,two\\nacme,one\\n' > b.csv
                omvault import b.csv --existing skip 2> told; grep -q 'imported 1 item of csv .*; 2 are there already' told
                test "$(omvault get 'acme (3):password')" = new; test "$(omvault ls acme | wc -l)" = 3
                printf 'title,password\\nacme,other\\n' > b.csv
                refused 5 omvault import b.csv --dry-run; grep -q 'would import 0 items' .refused
                grep -q 'of the same name' .refused
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("a report has every change and no value, and an error has neither")
    func reports() async throws {
        let ran = try await bash(
            AgentTests.start + Self.files + """
                unlock
                omvault import a.csv --report report.json > out 2> told
                omvault import a.csv --into other --json > json 2>> told
                for file in report.json out told json; do refused 1 grep -q -e tulip -e rose -e ada $file; done
                grep -q 'was called' report.json; test "$(stat -c %a report.json)" = 600
                refused 5 omvault import a.csv --report report.json; refused 1 grep -q force .refused
                printf 'title,password\\nx,"tulip\\n' > b.csv
                refused 30 omvault import b.csv; mv .refused told; refused 1 grep -q tulip told
                printf 'x,y\\ntulip,rose\\n' > c.csv
                refused 4 omvault import c.csv; mv .refused told; refused 1 grep -q tulip told
                printf '{"header": false, "columns": ["title", "field:PIN"]}' > map
                omvault -q import c.csv --map map; test "$(omvault get tulip:PIN)" = rose
                refused 2 omvault import c.csv --map c.csv; refused 2 omvault import c.csv --from kdb
                refused 10 omvault import none.csv; refused 2 omvault import told --from netrc --map map
                head -c 3000000 /dev/zero | tr '\\0' x > long
                (printf 'title,notes\\nlarge,'; cat long; printf '\\nsmall,y\\n') > d.csv
                omvault -q import d.csv; omvault get large:notes | cmp - long
                omvault import d.csv 2> told; grep -q '2 are there already' told
                sed 's/x$/y/' d.csv > e.csv; refused 5 omvault import e.csv
                printf 'url,password,guid\\nu,rose,1\\n' > f.csv; cp f.csv g.csv
                printf '{"columns": ["url", "-", "-"]}' > map
                omvault import f.csv --into f --map map --delete-source 2> told; grep -q 'is not deleted' told; test -e f.csv
                omvault -q import g.csv --into g --delete-source; test ! -e g.csv
                printf '{"columns": ["url", "-"]}' > map
                refused 2 omvault import f.csv --map map; mv .refused told; refused 1 grep -q rose told
                refused 2 omvault import .
                """)
        #expect(ran.status == 0, "\(ran)")
    }
}
