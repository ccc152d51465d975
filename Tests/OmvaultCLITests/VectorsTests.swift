import Foundation
import TestSupport
import Testing

/// `omvault vectors`, by the real binary.
@Suite struct VectorsTests {
    /// FIPS 180-4's “abc”, right and with one bit flipped.
    private static let files = """
        printf '[L = 20]\\nLen = 24\\nMsg = 616263\\nMD = a9993e364706816aba3e25717850c26c9cd0d89d\\n' > right.rsp
        printf '[L = 20]\\nLen = 24\\nMsg = 616263\\nMD = a9993e364706816aba3e25717850c26c9cd0d89c\\n' > wrong.rsp
        printf 'words\\n' > words.txt

        """
    private static let aes = """
        cat > aes.json <<'END'
        {"algorithm": "AES-CBC-PKCS5", "numberOfTests": 1, "testGroups": [{"type": "IndCpaTest", "keySize": 128,
         "ivSize": 128, "tests": [{"tcId": 1, "flags": ["Odd"], "key": "00000000000000000000000000000000", "comment": "",
         "iv": "00000000000000000000000000000000", "msg": "", "ct": "00000000000000000000000000000000",
         "result": "acceptable"}]}]}
        END

        """

    @Test("verify prints a line a file and the sum, and exits with 40 for a failure or when nothing ran")
    func verify() async throws {
        let right = try await bash(Self.files + "omvault vectors verify right.rsp words.txt")
        #expect(right.status == 0)
        #expect(
            right.output == """
                right.rsp: 1 passed, 0 failed, 0 acceptable, 0 skipped
                words.txt: 0 passed, 0 failed, 0 acceptable, 1 skipped; skipped: text of no known vector format
                1 passed, 0 failed, 0 acceptable, 1 skipped

                """)
        #expect(try await bash(Self.files + "omvault vectors verify --fail-on-skip right.rsp words.txt").status == 40)
        let wrong = try await bash(Self.files + "omvault vectors verify right.rsp wrong.rsp")
        #expect(wrong.status == 40)
        #expect(wrong.output.contains("1 failed, 0 acceptable, 0 skipped; failed: line 2 (SHA): the digest is another"))
        #expect(try await bash(Self.files + "omvault vectors verify words.txt").status == 40)
        #expect(try await bash("omvault vectors verify nothing").status == 60)
    }

    @Test("an installed omvault runs the files that are built in, which are the repository's, and says so")
    func builtIn() async throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized.path
        let ran = try await bash(
            """
            set -e
            mkdir bin empty; cp "$(command -v omvault)" bin/; cd empty
            ../bin/omvault vectors verify > built 2> told; cat told
            sed -n 's|^built-in/\\(.*\\): .*|\\1|p' built > names; wc -l < names
            ../bin/omvault vectors verify $(sed 's|^|\(repository)/vectors/|' names) > read
            diff <(sed 's|^built-in/||' built) <(sed 's|^\(repository)/vectors/||' read) && echo same
            ../bin/omvault -q vectors list 2>&1 | grep -c '^aead AES-GCM	'
            ../bin/omvault -q vectors verify --control | tail -n 1 | grep -c ' caught, 0 missed$'
            mkdir built-in; printf x > built-in/digest-sha.expected.json
            ../bin/omvault -q vectors verify | cmp - built && echo same
            """)
        #expect(ran.status == 0)
        #expect(
            ran.output == """
                omvault: there is no folder "vectors" here: these are the 36 files that are built into omvault
                36
                same
                1
                1
                same

                """, "\(ran)")
    }

    @Test("a pipe and a link that are typed are read like a file; one in a folder is not followed")
    func pipes() async throws {
        let ran = try await bash(
            Self.files + """
                omvault vectors verify <(cat right.rsp) | tail -1; mkdir all; ln -s ../right.rsp all/link
                omvault vectors verify all/link | tail -1; omvault vectors verify all | head -1
                (head -c 67108865 /dev/zero | omvault vectors verify /dev/stdin; echo $?) | grep -oE 'larger.*|^40'
                """)
        #expect(
            ran.output == """
                1 passed, 0 failed, 0 acceptable, 0 skipped
                1 passed, 0 failed, 0 acceptable, 0 skipped
                all/link: 0 passed, 0 failed, 0 acceptable, 1 skipped; skipped: a symbolic link: not followed within a folder
                larger than 64 MiB
                40

                """, "\(ran.errors)")
    }

    @Test("verify --json ends with the sums and every reason for a skip with its count")
    func json() async throws {
        let ran = try await bash(Self.files + "cp words.txt more.txt; omvault vectors verify --json .")
        let document = try Ran.json(ran.output)
        #expect(ran.status == 40)
        #expect(document["passed"] as? Int == 1)
        #expect(document["failed"] as? Int == 1)
        let skips = try #require(document["skips"] as? [[String: Any]])
        #expect(
            skips.contains { $0["reason"] as? String == "text of no known vector format" && $0["count"] as? Int == 2 })
        let files = try #require(document["files"] as? [[String: Any]])
        let members: Set = [
            "path", "format", "passed", "failed", "acceptable", "skipped", "note", "failures", "judged", "skips",
        ]
        for file in files { #expect(Set(file.keys) == members) }
    }

    @Test("--control prints what it caught and exits with 40 when there was nothing to catch")
    func control() async throws {
        let caught = try await bash(Self.files + "omvault vectors verify --control right.rsp words.txt")
        #expect(caught.status == 0)
        #expect(caught.output == "right.rsp: 1 caught, 0 missed\nwords.txt: 0 caught, 0 missed\n1 caught, 0 missed\n")
        #expect(try await bash(Self.files + "omvault vectors verify --control words.txt").status == 40)
        let json = try Ran.json(try await bash(Self.files + "omvault vectors verify --control --json right.rsp").output)
        #expect(json["caught"] as? Int == 1)
        #expect(json["missed"] as? Int == 0)
        #expect(try await bash(Self.files + "omvault vectors verify --control --fail-on-skip right.rsp").status == 2)
    }

    @Test("--policy decides what becomes of an acceptable case, and one that is malformed is a usage error")
    func policy() async throws {
        let policy = { (rule: String) in
            Self.aes + """
                echo '{"format": "omvault-policy/1", "otherwise": "either", "flags":
                 {"Odd": {"rule": "\(rule)", "reason": "a test"}}}' > policy.json
                omvault vectors verify --policy policy.json aes.json
                """
        }
        #expect(
            try await bash(Self.aes + "omvault vectors verify aes.json").output.hasPrefix(
                "aes.json: 0 passed, 0 failed, 1 acceptable, 0 skipped; acceptable: Odd refused (1)\n"))
        #expect(try await bash(policy("refuse")).status == 0)
        let accept = try await bash(policy("accept"))
        #expect(accept.status == 40)
        #expect(accept.output.contains("which the policy accepts"))
        let wrong = try await bash(policy("perhaps"))
        #expect(wrong.status == 2)
        #expect(
            wrong.errors.contains("not a policy for vectors: file, flags, Odd: rule is not accept, refuse or either"))
        #expect(try await bash(Self.aes + "omvault vectors verify --policy nothing aes.json").status == 60)
    }

    @Test("list says what files cover, for people, scripts and programs, and runs nothing")
    func list() async throws {
        let ran = try await bash(Self.files + Self.aes + "omvault vectors list --format plain .")
        #expect(ran.status == 0)
        #expect(ran.output.contains("AES-CBC-PKCS5\t1\t0\t0\t1\tyes\n"))
        #expect(ran.output.contains("SHA\t2\t2\t0\t0\tyes\n"))
        #expect(ran.output.contains("-\t1\t0\t0\t0\tno: text of no known vector format\n"))
        let json = try Ran.json(try await bash(Self.files + "omvault vectors list --json right.rsp words.txt").output)
        let algorithm = try #require((json["algorithms"] as? [[String: Any]])?.first)
        #expect(algorithm["algorithm"] as? String == "SHA")
        #expect(algorithm["supported"] as? Bool == true)
        #expect(algorithm["files"] as? [String] == ["right.rsp"])
        #expect((json["others"] as? [[String: Any]])?.first?["path"] as? String == "words.txt")
    }

    @Test("at a terminal the file being run is shown with its number, and taken away again")
    func progress() async throws {
        let ran = try await atTerminal(Self.files + "omvault vectors verify right.rsp words.txt")
        #expect(ran.output.contains("[1/2] right.rsp"))
        #expect(ran.output.contains("[2/2] words.txt\r\u{1B}[K"))
        let quiet = try await atTerminal(Self.files + "omvault vectors verify --quiet right.rsp words.txt")
        #expect(!quiet.output.contains("[1/2]"))
    }
}
