import Foundation
import OMSecrets
import Testing

@testable import OMAuth

@Suite struct LedgerTests {
    @Test("a purge removes replaced bytes, also from pages that SQLite moved their row out of")
    func purge() throws {
        let home = try Home()
        try FileManager.default.createDirectory(
            atPath: home.backend.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // With this seed two of the rows stay in a page's unused part, in spite of secure_delete.
        var random = Sequence(state: 2)
        let rows = (0..<24).map { _ in (id: LoginID(random.bytes(16)), bytes: random.bytes(200 + Int(random.byte()))) }
        let ledger = try Ledger.make(home.backend.ledger)
        for row in rows { try ledger.put(row.id, row.bytes) }
        for row in rows { try ledger.put(row.id, Array(row.bytes.prefix(50))) }
        let isPurged = try ledger.purge(wait: 0)
        #expect(isPurged)
        for row in rows { #expect(try home.files(holding: Array(row.bytes[100..<172])) == []) }
    }

    @Test("a purge without a wait returns at once while another process writes")
    func purgeBesideWriter() throws {
        let home = try Home()
        try FileManager.default.createDirectory(
            atPath: home.backend.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let ledger = try Ledger.make(home.backend.ledger), other = try Ledger.make(home.backend.ledger)
        let isPurged = try other.write { () throws(AuthError) in try ledger.purge(wait: 0) }
        #expect(!isPurged)
        #expect(try ledger.purge(wait: 0))
    }

    @Test("a process that found the ledger missing uses the ledger that another process has made since")
    func made() throws {
        let home = try Home()
        try FileManager.default.createDirectory(
            atPath: home.backend.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let none = try Ledger.open(home.backend.ledger) == nil
        #expect(none)
        let first = try Ledger.make(home.backend.ledger)
        try first.put(LoginID([UInt8](repeating: 1, count: 16)), [1])
        let second = try Ledger.make(home.backend.ledger)
        let found = try second.row(LoginID([UInt8](repeating: 1, count: 16)))
        #expect(found == [1])
    }

    private struct Sequence {
        var state: UInt64

        mutating func byte() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }

        mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }
    }
}
