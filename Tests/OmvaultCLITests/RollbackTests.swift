// A ledger whose log was deleted, and what a wipe leaves in the files. The dialogues about files that were put back, deleted or
// edited are in Tests/Transcripts/rolled-back-files.md.

import Foundation
import TestSupport
import Testing

@Suite struct RollbackTests {
    private static let login = """
        set -e
        omvault -q profile set p OfflineAuthAllowed=true MaxLoginAttempts=3 OnAttemptsExceeded=wipe
        printf right > right; printf wrong > wrong
        omvault -q login enroll ada --profile p --password-from file:right --kdf-mem 8 --kdf-time 1
        ledger=$HOME/.local/state/omvault/logins.db
        check() { omvault login check ada --mode offline --password-from file:$1 2>/dev/null || echo "exit $?"; }

        """

    @Test("R9 a ledger whose log was deleted is refused without a check")
    func deletedLog() async throws {
        // A reader keeps the log alive: without one the last omvault to close moves it into the file.
        let ran = try await bash(
            Self.login + """
                mkfifo hold
                { echo 'PRAGMA journal_mode; BEGIN; SELECT count(*) FROM logins;'; cat hold; } | exec sqlite3 "$ledger" > seen & reader=$!
                counted() { test "$(tail -n 1 seen)" = 1; }; eventually counted
                check wrong; check wrong
                test -s "$ledger-wal"
                # Killed, so that it cannot move the log into the file when it closes.
                kill -KILL $reader
                rm "$ledger-wal" "$ledger-shm"
                check right; check wrong
                exec 9> hold
                """)
        #expect(
            ran.output.split(separator: "\n").suffix(4) == [
                "denied reason=rolled_back", "exit 31", "denied reason=rolled_back", "exit 31",
            ], "\(ran)")
    }

    /// Wipes ada's credential between the commands of `around`. Then prints the row as it was before the wipe, and all files
    /// that omvault keeps, both in hexadecimal.
    private func wipe(_ around: (before: String, after: String)) async throws -> (
        row: [UInt8], left: [UInt8], answers: String
    ) {
        let ran = try await bash(
            Self.login + """
                sqlite3 "$ledger" "SELECT hex(row) FROM logins" > row
                \(around.before)
                check wrong > /dev/null; check wrong > /dev/null; check wrong > /dev/null; check wrong
                \(around.after)
                omvault login status
                cat row
                find .local -type f -print0 | sort -z | xargs -0 cat | od -An -v -tx1 | tr -d ' \\n'
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        try #require(lines.count >= 4, "\(ran)")
        return (
            Self.bytes(lines[lines.count - 2]), Self.bytes(lines[lines.count - 1]),
            lines.dropLast(2).joined(separator: "\n")
        )
    }

    @Test(
        "after a wipe nothing of the slot, its salts or the salted hash is left in any file",
        arguments: [
            ("", ""),
            (
                """
                mkfifo hold
                { echo 'BEGIN; SELECT count(*) FROM logins;'; cat hold; } | sqlite3 "$ledger" > seen &
                counted() { test "$(tail -n 1 seen)" = 1; }; eventually counted
                """,
                "exec 9> hold; exec 9>&-; wait"
            ),
        ])
    func nothingIsLeft(before: String, after: String) async throws {
        let (row, left, answers) = try await wipe((before, after))
        #expect(answers.contains("denied reason=attempts_exceeded\nexit 23") && answers.contains("ada\tp\tno\twiped"))
        // docs/formats/login-format.md: scheme 1, salts 16 + 16, parameters 12, commitment 32, box 72, MAC 32.
        let slot = row.suffix(149 + 32).dropLast(32)
        let salts = slot.dropFirst(1).prefix(32)
        let secret = Array(salts) + Array(slot.suffix(104))
        #expect(row.count > 300 && left.count > 8_000)
        for start in 0...secret.count - 12 {
            #expect(!contains(left, Array(secret[start..<start + 12])), "12 bytes of the slot at \(start)")
        }
        // What the row was stretched from: the SDK's own string for this password and salt.
        let salt = salts.prefix(16).map { String(format: "%02X", $0) }.joined()
        let hashed = try await bash(
            "printf \(salt) > salt; printf right | omvault crypto hash --alg sha512 --encoding sdk --salt-from file:salt"
        ).output.dropLast()
        #expect(hashed.hasPrefix("{SaltedSHA-512}") && hashed.count > 100, "\(hashed)")
        let text = hashed.dropFirst("{SaltedSHA-512}".count)
        let digest = try #require(Data(base64Encoded: String(text))).prefix(64)
        #expect(!contains(left, Array(text.utf8.prefix(20))) && !contains(left, Array(digest.prefix(16))))
    }

    @Test("the scan of the wipe test finds the slot before the wipe")
    func scanFinds() async throws {
        let ran = try await bash(
            Self.login + """
                sqlite3 "$ledger" "SELECT hex(row) FROM logins"
                find .local -type f -print0 | xargs -0 cat | od -An -v -tx1 | tr -d ' \\n'
                """)
        let lines = ran.output.split(separator: "\n").map(String.init)
        let slot = Self.bytes(lines[0]).suffix(149 + 32).dropLast(32)
        #expect(contains(Self.bytes(lines[1]), Array(slot.suffix(104))))
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(part)) != nil
    }
}
