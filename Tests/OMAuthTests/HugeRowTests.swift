// Huge values in a ledger, which are read as no bytes. Each test runs in its own process and measures its peak memory.

import Foundation
import TestSupport
import Testing

@testable import OMAuth

@Suite("Huge values in a ledger") struct HugeRowTests {
    @Test("a huge blob or text in any column of the ledger is not read into memory")
    func columns() async {
        let ended = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let id = LoginID([UInt8](repeating: 1, count: LoginID.count))
            for huge in ["zeroblob(19000000)", "CAST(x'00' || zeroblob(19000000) AS TEXT)"] {
                for statement in [
                    "UPDATE logins SET row = \(huge)", "UPDATE logins SET id = \(huge)", "UPDATE remembered SET row = \(huge)",
                    "UPDATE remembered SET id = \(huge)", "UPDATE log SET entry = \(huge)",
                ] {
                    let home = try Home()
                    try FileManager.default.createDirectory(
                        atPath: home.backend.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                    do {
                        let ledger = try Ledger.make(home.backend.ledger)
                        try ledger.put(id, [1])
                        try ledger.putServerRow(id, [1])
                        try ledger.putLog(1, [1])
                    }
                    try await sqlite3(home.backend.ledger, statement)
                    guard let ledger = try Ledger.open(home.backend.ledger) else { throw Unexpected("gone") }
                    let before = try PeakMemory.reset()
                    // In a table without row numbers SQLite itself reads a whole row once, to compare its key.
                    let isKeyed = !statement.contains("log ")
                    let counts =
                        try ledger.rows().flatMap { [$0.id.count, $0.bytes.count] } + ledger.serverRowIDs().map(\.count)
                        + ledger.log(from: 0).map(\.bytes.count) + [
                            ledger.row(id)?.count ?? 0, ledger.serverRow(id)?.count ?? 0,
                        ]
                    let grown = try PeakMemory.kilobytes() - before
                    guard counts.max() ?? 0 <= LoginID.count else { throw Unexpected("\(statement): \(counts)") }
                    guard grown < (isKeyed ? 26 : 6) << 10 else { throw Unexpected("\(statement): \(grown) KiB more") }
                }
            }
        }
        if let ended { #expect(String(decoding: ended.standardErrorContent, as: UTF8.self) == "") }
    }
}
