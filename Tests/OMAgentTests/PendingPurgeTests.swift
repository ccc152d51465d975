// A purge that a reader delayed, when afterwards only the agent runs.

import COMSystem
import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("A delayed purge", .onOwnThreads) struct PendingPurgeTests {
    private static let name = ProtectionLevel.whenUnlocked.itemName

    @Test("the agent finishes its own purge as soon as the reader is gone, without another request")
    func own() async throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        var before = 0
        try reading(home) {
            let request = ItemRequest.purge([try ItemName(Self.name)], ifRevision: nil)
            guard case .reply(.removed(_, purge: .pending)) = try home.client.perform(home.paths, request) else {
                Issue.record("the reader did not delay the purge")
                return
            }
            #expect(try pending(home) == 1)
            before = try logCount(home)
        }
        try await eventually { try pending(home) == 0 }
        // The log is cut off, and then the row is removed.
        #expect(try logCount(home) < before)
        #expect(try home.client.status().vaults.first?.state == .unlocked)
        #expect(try home.answer(.highest) == "secret of \(ProtectionLevel.highest.itemName)")
    }

    @Test("the agent finishes another process's purge when it locks the vault, at the latest")
    func others() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let vault = try home.open()
        try reading(home) {
            let name = try ItemName(Self.name)
            guard case .removed(_, purge: .pending) = try vault.perform(.purge([name], ifRevision: nil)) else {
                Issue.record("the reader did not delay the purge")
                return
            }
        }
        #expect(try pending(home) == 1)
        try home.client.lock(home.paths, forgets: false)
        #expect(try pending(home) == 0)
    }

    /// Runs `body` while a connection of this process reads the earlier state.
    private func reading(_ home: AgentHome, _ body: () throws -> Void) throws {
        let database = try VaultSchema.open(home.vault)
        try database.execute("BEGIN")
        _ = try database.number("SELECT count(*) FROM records")
        try body()
        try database.execute("COMMIT")
    }

    /// Looks without opening the vault, because opening would finish the purge.
    private func pending(_ home: AgentHome) throws -> Int64 {
        let database = try VaultSchema.open(home.vault)
        return try database.number(VaultSchema.countPending)
    }

    /// The bytes of the write-ahead log.
    private func logCount(_ home: AgentHome) throws -> Int {
        var status = stat()
        try #require(stat(home.vault + "-wal", &status) == 0)
        return Int(status.st_size)
    }
}
