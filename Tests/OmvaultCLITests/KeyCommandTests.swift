// Races for a vault's passwords, and key slots that a fault or an attacker spoils. The dialogues are in
// Tests/Transcripts/key-slots.md and policy.md.

import Foundation
import TestSupport
import Testing

@Suite struct KeyCommandTests {
    private static let vault = """
        set -e
        printf password > password; printf wrong > wrong; printf value > value
        omvault -q init --password-from file:password --kdf-mem 8 --kdf-time 1 > code
        export OMVAULT_PASSWORD_FROM=file:password
        omvault -q add item --field x=file:value

        """

    /// `failed` prints what the vault's counter says: the failed attempts, and the number of changes.
    private static let failed = """
        failed() { python3 - "$HOME"/.local/state/omvault-device/password-*.mark <<'END'
        import sys
        b = open(sys.argv[1], "rb").read()
        one = max((b[i:i + 512] for i in (0, 512)), key=lambda s: s[24:32])
        print("failed", int.from_bytes(one[40:48], "big"), "changes", int.from_bytes(one[32:40], "big"))
        END
        }

        """

    @Test("the vault opens for all of fifty processes that give the right password at once")
    func rightAtOnce() async throws {
        let ran = try await bash(
            Self.vault + Self.failed + """
                for i in $(seq 50); do
                    # On a busy machine an unlock may warn that its log entry came too late.
                    { omvault get item:x > "answer.$i" 2> "errors.$i" || { echo " $?"; cat "errors.$i"; } >> "answer.$i"; echo >> "answer.$i"; } &
                done
                wait
                cat answer.* | sort | uniq -c | tr -s ' '
                failed
                """)
        #expect(ran.output == " 50 value\nfailed 0 changes 51\n", "\(ran.errors)")
    }

    @Test("each of forty processes that guess at once is charged before its check, or is told to wait")
    func wrongAtOnce() async throws {
        let ran = try await bash(
            Self.vault + Self.failed + """
                set +e
                for i in $(seq 40); do
                    { omvault get item:x --password-from file:wrong 2> /dev/null; echo "$?" > "answer.$i"; } &
                done
                wait
                echo "wrong $(grep -lx 20 answer.* | wc -l) delayed $(grep -lx 21 answer.* | wc -l)"
                failed
                """)
        let numbers = try #require(
            ran.output.wholeMatch(of: /wrong (\d+) delayed (\d+)\nfailed (\d+) changes (\d+)\n/)?.output, "\(ran)")
        let (wrong, delayed) = (Int(numbers.1) ?? 0, Int(numbers.2) ?? 0)
        // One at once, and one more for each delay that passed meanwhile: 1, 2, 4 … seconds.
        #expect((1...5).contains(wrong) && wrong + delayed == 40, "\(ran)")
        #expect(Int(numbers.3) == wrong && Int(numbers.4) == wrong + 1, "\(ran)")
    }

    @Test("a key file is removed if its slot cannot be written; an existing file is never removed")
    func orphan() async throws {
        let ran = try await bash(
            Self.vault + """
                strace -f -qq -o trace -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=1+ \\
                    omvault -q key add-slot --type file --out stick.key --recovery-from file:code 2> said || echo "exit $?"
                ls stick.key 2> /dev/null || echo gone
                omvault key slots | wc -l
                printf mine > there.key
                refused 5 omvault -q key add-slot --type file --out there.key
                cat there.key; echo
                omvault -q key add-slot --type file --out stick.key
                omvault get item:x --key-file-from file:stick.key; echo
                """)
        #expect(ran.output == "exit 60\ngone\n2\nmine\nvalue\n", "\(ran)")
    }

    @Test("a changed slot ends with 30 before a password is read or an attempt is charged, even with a raised generation")
    func changedSlot() async throws {
        let ran = try await bash(
            Self.vault + Self.failed + """
                failed
                sqlite3 .local/share/omvault/personal.omv \\
                    "UPDATE slots SET body = CAST(substr(body, 1, 18) || zeroblob(16) || substr(body, 35) AS BLOB) WHERE id = 1; \\
                    UPDATE header SET body = CAST(substr(body, 1, 25) || x'0000000000000063' || substr(body, 34) AS BLOB)"
                refused 30 omvault get item:x --password-from cmd:'touch asked'
                test ! -e asked && failed
                """)
        #expect(ran.output == "failed 0 changes 1\nfailed 0 changes 1\n", "\(ran)")
    }
}
