import TestSupport
import Testing

/// `crypto hash` and `check` on every form that the one writes and the other reads, and what both refuse.
@Suite struct CryptoHashFormsTests {
    private static let head = """
        printf %s 'correct horse' > pw; printf %s 'correct horsf' > other
        try() { "$@" > out 2> err; echo $?; }
        check() { omvault -q crypto check "$@"; }

        """

    @Test("what any of the SDK's switches leaves out is given to check, which then tells the value from another")
    func switches() async throws {
        let ran = try await bash(
            Self.head + """
                set -euo pipefail; printf A1B2C3 > salt
                for encoding in sdk sdk-android; do
                    for flags in "" --no-prefix --no-append-salt "--no-prefix --no-append-salt" --no-base64; do
                        given=(--encoding $encoding $flags)
                        case $flags in *append*|*base64*) given+=(--salt-from file:salt);; esac
                        case $flags in *prefix*|*base64*) given+=(--alg sha384);; esac
                        omvault -q crypto hash --alg sha384 --encoding $encoding $flags --salt-from file:salt pw > s
                        check "${given[@]}" --hash-from file:s --value-from file:pw
                        check "${given[@]}" --hash-from file:s pw
                        ! check "${given[@]}" --hash-from file:s other 2> /dev/null
                        omvault -q crypto hash --alg sha384 --encoding $encoding $flags pw > s
                        unsalted=(--encoding $encoding $flags --schemes unsalted)
                        case $flags in *prefix*|*base64*) unsalted+=(--alg sha384);; esac
                        check "${unsalted[@]}" --hash-from file:s pw
                        ! check "${unsalted[@]}" --hash-from file:s other 2> /dev/null
                    done
                done
                omvault -q crypto hash --encoding sdk --salt-bits 0 pw > s
                [[ $(cat s) == '{SHA-256}'* ]]
                [[ $(omvault --json crypto hash --encoding sdk --salt-bits 0 pw) != *salt* ]]
                """)
        #expect(ran.status == 0, "\(ran.output)\(ran.errors)")
    }

    @Test("a file of any size is checked against its hash, and a password's hash is not a file's")
    func files() async throws {
        let ran = try await bash(
            Self.head + """
                head -c 3000000 /dev/urandom > m; (cat m; echo) > n
                omvault -q crypto hash --encoding ldap --salt-bits 64 m > s; sha256sum m | cut -d' ' -f1 > hex
                try check --hash-from file:s m; try check --hash-from file:s - < m; try check --hash-from file:s n
                try check --encoding hex --alg sha256 --schemes all --hash-from file:hex m
                try check --encoding hex --alg sha256 --schemes all --hash-from file:hex n
                try check --encoding hex --alg sha256 --hash-from file:hex m
                try check --hash-from file:s --schemes SSHA512 m
                try check --hash-from file:s --value-from file:pw m
                try check --hash-from file:s missing
                omvault -q crypto password-hash --alg pbkdf2 --iterations 9 --value-from file:pw > slow
                try check --hash-from file:slow pw; try check --hash-from file:slow --value-from file:pw
                """)
        #expect(ran.output == "0\n0\n20\n0\n20\n13\n13\n2\n60\n2\n0\n", "\(ran.errors)")
    }

    @Test("a scheme of others' is 13, a hash of crypt(3) is 4, no hash at all is 30, and a word that is no scheme is named")
    func schemes() async throws {
        let ran = try await bash(
            Self.head + """
                for text in '{CRYPT}$2b$12$abc' '{FOO}x' '$6$salt$hash' '{SSHA256}!' hello ''; do
                    printf %s "$text" > s; try check --hash-from file:s --value-from file:pw --schemes all
                done
                omvault -q crypto hash --encoding ldap --salt-bits 64 pw > s
                try check --hash-from file:s --value-from file:pw --schemes 'SSHA256, SSHA512'
                try check --hash-from file:s --value-from file:pw --schemes 'SSHA256,SSHA-512'; cat err
                omvault crypto check --help | tr -d '\\n ' | grep -c 'SSHA384.*SaltedSHA-512.*salted-sha256.*argon2id'
                """)
        #expect(ran.output.hasPrefix("13\n13\n4\n30\n30\n30\n0\n2\n"), "\(ran.output)\(ran.errors)")
        #expect(ran.output.contains("there is no scheme \"SSHA-512\""))
        #expect(ran.output.hasSuffix("\n1\n"))
    }

    @Test("hostile work factors, typed or in a string, are an answer at once and never a crash")
    func work() async throws {
        let strings = [
            "$pbkdf2-sha256$i=10000000,l=2898$c2FsdHNhbHQ$" + String(repeating: "A", count: 3864),
            "$scrypt$ln=1,r=1048576,p=15$c2FsdHNhbHQ$AAAAAAAA", "$argon2id$v=19$m=1048576,t=4,p=131072$c2FsdHNhbHQ$AAAAAAAA",
        ]
        for text in strings {
            let ran = try await bash(
                Self.head + "printf %s '\(text)' > s; try timeout 5 omvault crypto check --hash-from file:s --value-from file:pw")
            #expect(ran.output == "13\n", "\(text): \(ran.errors)")
        }
        let ran = try await bash(
            Self.head + """
                hash() { try omvault crypto password-hash --value-from file:pw "$@"; }
                hash --memory 9223372036854775807; hash --alg scrypt --log-n 40 --p 9223372036854775807
                hash --alg scrypt --r 9223372036854775807 --p 9223372036854775807; hash --lanes 9223372036854775807
                hash --alg scrypt --log-n -4; grep -c 'missing value' err; hash --memory -9223372036854775808
                hash --max-work -1; cat err >&2; hash --max-work 0; hash --length -1
                try omvault crypto decrypt --max-work 0 -i pw; try omvault crypto hash --salt-bits -8 pw
                try omvault crypto kdf --alg pbkdf2 --iterations 10000000 --length 65 --salt-from file:pw --value-from file:pw
                """)
        #expect(ran.output == "13\n13\n13\n13\n2\n0\n2\n2\n2\n2\n2\n2\n13\n", "\(ran.errors)")
        #expect(ran.errors.contains("--max-work takes a number from 1"))
    }

    @Test("a batch of no lines is no success, and with --json it is one document")
    func batches() async throws {
        let ran = try await bash(
            Self.head + """
                try check --batch /dev/null; try omvault --json crypto check --batch /dev/null
                omvault -q crypto hash --encoding ldap --salt-bits 64 pw > s
                for value in 'correct horse' other; do printf '%s\\t%s\\n' "$(cat s)" "$value"; done > lines
                echo '{CRYPT}x	y' >> lines; omvault --json crypto check --batch lines > document; echo $?
                omvault --json crypto check --hash-from file:s --batch pw > /dev/null; echo $?
                cat document
                """)
        #expect(ran.output.hasPrefix("20\n20\n20\n0\n"), "\(ran.output)\(ran.errors)")
        let document = try Ran.json(String(ran.output.dropFirst("20\n20\n20\n0\n".count)))
        #expect(["match", "mismatch", "refused"].map { document[$0] as? Int } == [1, 1, 1])
        let results = try #require(document["results"] as? [[String: Any]])
        #expect(results.compactMap { $0["result"] as? String } == ["match", "mismatch", "refused"])
        #expect((results.last?["reason"] as? String)?.isEmpty == false)
    }

    @Test("hash goes on behind a file that it cannot read, and the exit code remembers it")
    func unreadable() async throws {
        let ran = try await bash(
            Self.head + """
                omvault crypto hash pw /tmp missing other > out; echo $?; cut -d' ' -f3 out
                omvault --json crypto hash pw /tmp > out 2> err; echo $?; grep -c '"file":"pw"' out; grep -c '"exit":60' err
                omvault crypto hash /tmp; echo $?
                """)
        #expect(ran.output == "60\npw\nother\n60\n1\n1\n60\n", "\(ran.errors)")
        #expect(ran.errors.contains("/tmp"))
        #expect(ran.errors.contains("missing"))
    }

    @Test("the SDK's number stands in every JSON error with its domain, and in a line of its own below every plain one")
    func numbers() async throws {
        let ran = try await bash(
            Self.head + """
                for bits in 3 22; do
                    omvault crypto hash --encoding sdk --salt-bits $bits pw
                    omvault --json crypto hash --encoding sdk --salt-bits $bits pw
                done
                omvault crypto hash --encoding sdk /dev/null; omvault crypto hash --alg none pw
                omvault --json crypto hash --alg none pw
                """)
        let lines = ran.errors.split(separator: "\n").filter { !$0.contains("hint:") }.map(String.init)
        let numbers = try lines.filter { !$0.contains(" error: ") }.map { line in
            guard line.hasPrefix("{") else { return line }
            let error = try #require(try Ran.json(line)["error"] as? [String: Any])
            return "omvault: sdk: \(error["sdk_domain"] ?? "")-\(error["sdk_code"] ?? "")"
        }
        let expected: [String] = [10505, 10505, 10512, 10512, 10406, 10506, 10506].map { "omvault: sdk: ORAIDMMOBILE-\($0)" }
        #expect(numbers == expected, "\(lines)")
        #expect(lines.count { $0.contains(" error: ") } == 4)
    }

    @Test("what should not be done anew warns in one line, and what is sound does not")
    func warnings() async throws {
        let ran = try await bash(
            Self.head + """
                count() { omvault crypto "$@" 2> err > /dev/null; echo $? $(grep -c '^omvault: warning' err); }
                : > empty; kdf="--salt-from file:pw --value-from file:pw --length 16"
                count hmac --alg sha1 --key-from file:pw pw; count hmac --alg md5 --key-from file:pw pw
                count hmac --key-from file:pw pw
                count password-hash --alg pbkdf2 --hash sha1 --iterations 2000000 --value-from file:pw
                count password-hash --alg pbkdf2 --hash md5 --iterations 600000 --value-from file:pw
                count password-hash --alg pbkdf2 --value-from file:pw
                count kdf --alg pbkdf2 --iterations 1 $kdf; count kdf --alg pbkdf2 $kdf
                count kdf --alg pbkdf2 --salt-from file:empty --value-from file:pw --length 16
                count kdf --alg hkdf $kdf; count kdf --alg hkdf --hash sha1 $kdf
                openssl='encrypt --alg aes-256-cbc --openssl pbkdf2 --password-from file:pw -i pw'
                count $openssl; count $openssl --openssl-hash md5
                """)
        #expect(
            ran.output == """
                0 1
                0 1
                0 0
                0 1
                0 2
                0 0
                0 1
                0 0
                0 1
                0 0
                0 1
                0 1
                0 2

                """, "\(ran.errors)")
    }

    @Test("HKDF's raw key is all of its bytes, one that ends in a newline too; a password loses it")
    func keys() async throws {
        let ran = try await bash(
            Self.head + """
                set -e; (head -c 31 /dev/urandom; printf '\\n') > k; printf 'pw\\n' > typed; printf pw > typed2
                [[ $(omvault crypto kdf --alg hkdf --value-from file:k --salt-from file:pw --length 32 | tr a-f A-F) == \
                    $(openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt hexkey:$(od -An -v -tx1 k | tr -d ' \\n') \
                        -kdfopt salt:'correct horse' HKDF | tr -d :) ]]
                for file in typed typed2; do
                    omvault -q crypto kdf --alg pbkdf2 --iterations 2 --salt-from file:pw --value-from file:$file --length 9
                done | sort -u | wc -l
                """)
        #expect(ran.output == "1\n", "\(ran.errors)")
        #expect(ran.status == 0)
    }
}
