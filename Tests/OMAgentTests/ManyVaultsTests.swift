// More vaults than the agent has handles for.

import Foundation
import Glibc
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("More vaults than handles", .onOwnThreads) struct ManyVaultsTests {
    private static let handles = 256

    @Test(
        "the agent opens 256 of 257 vaults, refuses the next, and gives no handle for keys that open nothing"
    )
    func full() throws {
        let home = try ManyVaults(Self.handles + 1)
        var forged = ClassKeys(vault: home.keys.vault, epoch: home.keys.epoch)
        forged.add(Key<Deriving>.random(), of: .whenUnlocked)
        for index in 0..<Self.handles {
            if index % 64 == 0 {
                let paths = try home.paths(Self.handles)
                #expect(try home.home.client.unlock(paths, forged, openedBy: nil, idle: 0, hard: 0) == .failure(.cannotUnlock))
            }
            try home.unlock(index)
        }
        #expect(throws: AgentError.full) { try home.unlock(Self.handles) }
        #expect(try home.home.client.status().vaults.count { $0.state == .unlocked } == Self.handles)
        // The refused vault left nothing behind, and the agent closed no other vault for it.
        #expect(try home.answer(Self.handles, .whenUnlocked) == "locked 0")
        #expect(try home.answer(0, .whenUnlocked) == "secret of when-unlocked")

        try home.home.client.lock(home.paths(7), forgets: true)
        #expect(throws: AgentError.full) { try home.unlock(Self.handles) }
        try home.unlock(7)
        #expect(try home.answer(7, .whenUnlocked) == "secret of when-unlocked")
    }

    @Test("an unlock that is refused because no handle is free leaves the existing ticket in place")
    func ticketStays() throws {
        // Tickets exist in memory only.
        let home = try ManyVaults(Self.handles + 1, in: "/dev/shm", keepsTicket: true)
        func ticket() throws -> Data? {
            let name = "omvault-ticket-" + Hex.encode(home.keys.vault)
            return FileManager.default.contents(atPath: "\(home.home.root)/run/\(name)")
        }
        for index in 0..<Self.handles { try home.unlock(index) }
        let before = try #require(try ticket())
        #expect(throws: AgentError.full) { try home.unlock(Self.handles) }
        #expect(try ticket() == before)
        try home.home.client.stepDown()
        try home.home.start()
        #expect(try home.answer(0, ProtectionLevel(.afterFirstUnlock)) == "secret of after-first-unlock")
    }
}

/// One vault's file under many paths. The agent treats each path as a separate vault.
private final class ManyVaults {
    let home: AgentHome
    let keys: ClassKeys

    init(
        _ count: Int, in folder: String? = nil, keepsTicket: Bool = false
    ) throws {
        home = try AgentHome(in: folder)
        try home.makeVault(keepsTicket: keepsTicket)
        keys = try home.open().classKeys()
        let content = try Data(contentsOf: URL(filePath: home.vault))
        for index in 0..<count {
            try #require(
                FileManager.default.createFile(
                    atPath: "\(home.root)/\(index).omv", contents: content, attributes: [.posixPermissions: 0o600]))
        }
    }

    func paths(_ index: Int) throws -> VaultPaths {
        try #require(VaultPaths(vault: "\(home.root)/\(index).omv", device: home.root + "/device"))
    }

    func unlock(_ index: Int) throws {
        let longest = AgentServer.TimeOuts.longest
        _ = try home.client.unlock(paths(index), keys, openedBy: nil, idle: longest, hard: longest).get()
    }

    func answer(_ index: Int, _ level: ProtectionLevel) throws -> String {
        try home.answer(level, of: paths(index))
    }
}
