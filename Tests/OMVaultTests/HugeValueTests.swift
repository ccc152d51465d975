// Huge values in a vault file, which are refused and not read. Each test runs in its own process and measures its peak memory.

import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import OMItems
@testable import OMVault

@Suite("Huge values in a vault") struct HugeValueTests {
    @Test("a huge blob or text in any column is refused as damage, and is not read into memory")
    func columns() async {
        let ended = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            // A text that starts with a zero byte has the length 0 in SQL.
            for huge in ["zeroblob(19000000)", "CAST(x'00' || zeroblob(19000000) AS TEXT)"] {
                for (statement, expected) in [
                    ("UPDATE header SET body = \(huge)", VaultError.corrupt(.header)),
                    ("UPDATE slots SET body = \(huge)", .corrupt(.slot)),
                    ("UPDATE levels SET state = \(huge) WHERE level = 3", .corrupt(.level)),
                    ("UPDATE records SET body = \(huge)", .corrupt(.record)),
                    ("INSERT INTO branches VALUES (3, x'', \(huge))", .corrupt(.tree)),
                    ("UPDATE entries SET digest = \(huge)", .corrupt(.tree)),
                ] {
                    try await expectRefusal(expected, after: statement)
                }
            }
        }
        if let ended { #expect(String(decoding: ended.standardErrorContent, as: UTF8.self) == "") }
    }

    @Test("a value beyond the limit of every connection is refused as damage, wherever it is")
    func limit() async {
        let ended = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            for statement in [
                "UPDATE header SET body = zeroblob(30000000)",
                "UPDATE records SET previous = CAST(zeroblob(30000000) AS TEXT)",
                "UPDATE records SET previous = zeroblob(30000000), body = zeroblob(9)",
                "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || CAST(zeroblob(30000000) AS TEXT)",
                "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || printf(' /* %.*c */', 1000000, 'x')",
            ] {
                try await expectRefusal(nil, after: statement)
            }
        }
        if let ended { #expect(String(decoding: ended.standardErrorContent, as: UTF8.self) == "") }
    }
}

/// Makes a vault, changes it with a statement from outside, and reads it while the test measures the process's peak memory.
///
/// - Parameter expected: nil for any error that means damage.
private func expectRefusal(_ expected: VaultError?, after statement: String) async throws {
    let home = try Home()
    try home.create()
    try home.add("a", ["x": "1"])
    try await sqlite3(home.vault, statement)
    let before = try PeakMemory.reset()
    do {
        _ = try home.get("a", "x")
        throw Unexpected("\(statement): read")
    } catch let error as VaultError {
        let isDamage = expected.map { $0 == error } ?? error.isDamage
        guard isDamage else { throw Unexpected("\(statement): \(error)") }
    }
    // A stretch at the floor takes 8 MiB of it. In a table without row numbers SQLite itself reads a whole row once, to
    // compare its key.
    let isKeyed = statement.contains("branches") || statement.contains("entries")
    let grown = try PeakMemory.kilobytes() - before
    guard grown < (isKeyed ? 34 : 14) << 10 else { throw Unexpected("\(statement): \(grown) KiB more") }
}
