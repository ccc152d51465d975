// What `omvault export` writes. Other programs read it: keepassxc-cli, and a reader in Python that shares no code with omvault.

import Foundation
import TestSupport
import Testing

@Suite("The verb export") struct ExportCommandTests {
    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Scripts").standardized
        .path

    /// A vault with logins, a note with lines, an attachment, an address with a one-time password, and fields of all bytes.
    private static let items = """
        printf '\\377\\000x' > photo; printf 'rose\\n' > new; printf 'tu&<"lip' > password-of-ada; printf 'a\\nb,"c";d' > lines
        printf 'otpauth://totp/Site:ada?secret=MZXW6YTBOI======&issuer=Site' > otp
        unlock; omvault -q rm item
        omvault -q add work/mail/ada --type login --plain username=ada --plain url=https://a.example --field password=file:password-of-ada \\
            --field PIN=cmd:'printf 1234' --field otp=file:otp --field photo=file:photo --tag web --tag 'b c' --expires 2030-01-01
        omvault -q add note --type note --field notes=file:lines --level after-first-unlock

        """

    @Test("keepassxc-cli opens a kdbx file, with each field, attachment and code, and it comes back the same")
    func kdbx() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                omvault export --to kdbx -o a.kdbx --new-password-from file:new > out 2> told
                test ! -s out; grep -q 'exported 2 items .* as kdbx' told; test "$(stat -c %a a.kdbx)" = 600
                refused 1 grep -q -e tu -e 1234 told
                kp() { local verb=$1; shift; keepassxc-cli "$verb" -q "$@" < new; }
                test "$(kp show a.kdbx work/mail/ada -s -a UserName -a Password -a URL -a PIN | tr '\\n' ' ')" \\
                    = 'ada tu&<"lip https://a.example 1234 '
                kp attachment-export a.kdbx work/mail/ada photo exported; cmp exported photo
                test "$(kp show -t a.kdbx work/mail/ada)" = "$(omvault otp work/mail/ada)" \\
                    || test "$(kp show -t a.kdbx work/mail/ada)" = "$(omvault otp work/mail/ada)"
                test "$(kp show a.kdbx note -s -a Notes)" = "$(omvault get note)"
                omvault import a.kdbx --password-from file:new 2> told; grep -q 'imported 0 items .*; 2 are there already' told
                omvault export --to kdbx -o a.kdbx --force --json --new-password-from file:new work > json 2> told
                refused 1 grep -q -e tu -e 1234 json told; grep -q '"exported":1' json
                kp ls a.kdbx -R -f > list; refused 1 grep -q note list
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    /// OMVAULT_WHOLE=1 makes it 10,000 entries.
    private static func count(orSample sample: Int) -> Int {
        ProcessInfo.processInfo.environment["OMVAULT_WHOLE"] == "1" ? 10_000 : sample
    }

    @Test(
        "entries of a file that keepassxc-cli wrote go in and out, and it finds each field, attachment and code in the new file")
    func keepass() async throws {
        let count = Self.count(orSample: 200)
        let ran = try await bash(
            AgentTests.start + """
                compare() { python3 \(Self.scripts)/keepass-compare.py "$@"; }
                unlock; omvault -q rm item; printf 'rose\n' > new
                compare make \(count) > x.xml
                printf 'rose\nrose\n' | keepassxc-cli import -q -p x.xml a.kdbx > said 2>&1
                omvault -q import a.kdbx --password-from file:new
                omvault export --to kdbx -o b.kdbx --new-password-from file:new 2> told
                grep -q 'exported \(count) items' told; test "$(grep -vc "easy to guess" told)" = 1
                for file in a b; do keepassxc-cli export -q -f xml $file.kdbx < new > $file.xml; done
                mkdir files; (cat new; compare commands a.xml files; echo exit) | keepassxc-cli open -q b.kdbx > said 2>&1
                compare compare a.xml b.xml files
                """)
        #expect(ran.status == 0 && ran.output.hasPrefix("\(count) entries are equal"), "\(ran)")
    }

    @Test("omvault's own JSON comes back the same: levels, types, tags, expiry, what is shown, and every byte")
    func json() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                omvault export --to json --reveal-plaintext-risk -o a.jsonl 2> told
                grep -q 'in clear' told; test "$(stat -c %a a.jsonl)" = 600
                omvault -q vault create other --no-recovery --kdf-mem 8 --kdf-time 1 --password-from file:password
                omvault -q add --from-jsonl a.jsonl --vault other --password-from file:password
                omvault export --to json --reveal-plaintext-risk --vault other --password-from file:password > b.jsonl
                for file in a b; do sed 's/"\\(created\\|modified\\)":"[^"]*"//g' $file.jsonl > $file; done
                cmp a b
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("secrets in clear need a consent that --yes is not; items of this device do not leave; nothing is replaced unasked")
    func refused() async throws {
        let ran = try await bash(
            AgentTests.start + Self.items + """
                for format in csv json bitwarden-json; do
                    refused 8 omvault export --to $format -o clear
                    refused 8 omvault export --to $format -o clear --yes
                    test ! -e clear; grep -q -e --reveal-plaintext-risk .refused
                done
                refused 8 omvault export --to kdbx -o clear; test ! -e clear
                refused 2 omvault export --to kdbx -o clear --new-password-from file:/dev/null; test ! -e clear
                refused 2 omvault export --to kdbx -o clear --reveal-plaintext-risk
                refused 2 omvault export --to csv --reveal-plaintext-risk --json
                refused 10 omvault export --to csv --reveal-plaintext-risk wor
                refused 10 omvault export --to csv --reveal-plaintext-risk --tag none
                printf x > there; refused 5 omvault export --to csv --reveal-plaintext-risk -o there
                test "$(cat there)" = x; ln -s there link; refused 2 omvault export --to csv --reveal-plaintext-risk -o link --force
                omvault -q add bound --field f=file:new --device-only
                refused 13 omvault export --to csv --reveal-plaintext-risk -o clear; test ! -e clear
                refused 13 omvault export --to kdbx --new-password-from file:new -o clear; test ! -e clear
                omvault export --to csv --reveal-plaintext-risk --portable -o clear 2> told
                grep -q '1 item of this device left out' told; refused 1 grep -q bound clear
                grep -q '"work/mail/ada": not in the file: the attachment "photo", the time "expires"' told
                refused 1 grep -q -e tu -e 1234 told
                omvault export --to csv --reveal-plaintext-risk note > out 2> told; test "$(wc -l < out)" = 3
                omvault log ls > log; refused 1 grep -q tu log
                """)
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("a terminal is asked before secrets are in clear, and for a new password twice; it gets no file unless it is asked for")
    func terminal() async throws {
        let script =
            AgentTests.start + """
                unlock
                omvault export --to csv || echo "= $?"; omvault export --to kdbx || echo "= $?"
                omvault export --to csv -o no.csv || echo "= $?"; test ! -e no.csv
                omvault export --to csv -o yes.csv; echo "= $?"; grep -c secret yes.csv
                omvault export --to kdbx -o a.kdbx; echo "= $?"
                printf 'rose' | keepassxc-cli ls -q a.kdbx
                """
        let ran = try await atTerminal(
            script,
            [
                ("no.csv\"? Each", "n\n"), ("yes.csv\"? Each", "y\n"), ("New password of the file:", "rose\n"),
                ("New password of the file, again:", "rose\n"),
            ])
        let codes = ran.output.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("= ") }
        #expect(codes == ["= 2", "= 2", "= 3", "= 0", "= 0"], "\(ran.output)")
        #expect(ran.output.contains("every secret of the vault in clear") && ran.status == 0, "\(ran.output)")
    }

    @Test("Bitwarden's JSON is what a reader of another language expects of it, entry by entry")
    func bitwarden() async throws {
        let script = "\(Self.scripts)/bitwarden-reader.py", count = Self.count(orSample: 300)
        let ran = try await bash(
            AgentTests.start + """
                unlock; omvault -q rm item
                python3 \(script) make \(count) > a.jsonl
                omvault -q add --from-jsonl a.jsonl
                omvault export --to bitwarden-json --reveal-plaintext-risk -o a.json --json > report
                python3 \(script) check a.jsonl a.json report
                omvault import a.json --into again 2> told; grep -q 'imported \(count) items' told
                """)
        #expect(ran.status == 0, "\(ran)")
    }
}
