// More vaults than the agent has seats: those that are missed least go, and one that is open never does.

import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import TestSupport
import Testing

@testable import OMAgent
@testable import OMVault

@Suite("More vaults than seats", .onOwnThreads) struct ManyVaultsTests {
    private static let seats = 256

    @Test("of 300 vaults 256 are open; the next is told so, and gets the seat of one that is closed")
    func full() throws {
        let home = try ManyVaults(300)
        for index in 0..<Self.seats { try home.unlock(index) }
        #expect(throws: AgentError.full) { try home.unlock(Self.seats) }
        #expect(try home.home.client.status().vaults.count { $0.state == .unlocked } == Self.seats)
        // The one that was refused left nothing behind, and nobody was closed for it.
        #expect(try home.answer(Self.seats, .whenUnlocked) == "locked 0")
        #expect(try home.answer(0, .whenUnlocked) == "secret of when-unlocked")

        try home.home.client.lock(home.place(7), forgets: false)
        try home.unlock(Self.seats)
        #expect(try home.answer(Self.seats, .whenUnlocked) == "secret of when-unlocked")
        #expect(try home.answer(7, ProtectionLevel(.afterFirstUnlock)) == "locked 0")
        #expect(throws: AgentError.full) { try home.unlock(7) }
    }

    @Test("an unlock that is refused for want of a seat leaves the ticket that was there")
    func ticketStays() throws {
        // A ticket is kept in memory only.
        let home = try ManyVaults(Self.seats + 1, in: "/dev/shm", keepsTicket: true)
        func ticket() throws -> Data? {
            let name = "omvault-ticket-" + Hex.encode(home.keys.vault)
            return FileManager.default.contents(atPath: "\(home.home.root)/run/\(name)")
        }
        for index in 0..<Self.seats { try home.unlock(index) }
        let before = try #require(try ticket())
        #expect(throws: AgentError.full) { try home.unlock(Self.seats) }
        #expect(try ticket() == before)
        try home.home.client.stepDown()
        try home.home.start()
        #expect(try home.answer(0, ProtectionLevel(.afterFirstUnlock)) == "secret of after-first-unlock")
    }

    @Test("closed vaults make room in the order of their last use, and keys that open nothing cost nobody a seat")
    func order() async throws {
        let home = try ManyVaults(300)
        let first = ProtectionLevel(.afterFirstUnlock)
        for index in 0..<Self.seats { try home.unlock(index) }
        try home.home.client.lock(nil, forgets: false)
        // Used again a second later: the last to go, though they were the first to come.
        try await home.passSecond()
        for index in 0..<8 { #expect(try home.answer(index, first) == "secret of after-first-unlock") }

        var forged = ClassKeys(vault: home.keys.vault, epoch: home.keys.epoch)
        forged.add(Key<Deriving>.random(), of: .whenUnlocked)
        for index in Self.seats..<300 {
            #expect(try home.home.client.unlock(home.place(index), forged, openedBy: nil, idle: 0, hard: 0) == .cannotUnlock)
        }
        #expect(try home.home.client.status().vaults.count == Self.seats)

        for index in Self.seats..<300 { try home.unlock(index) }
        for index in 0..<8 { #expect(try home.answer(index, first) == "secret of after-first-unlock", "\(index)") }
        let freed = try (8..<Self.seats).count { try home.answer($0, first) == "locked 0" }
        #expect(freed == 300 - Self.seats)
        #expect(try home.home.client.status().vaults.count == Self.seats)
    }

    @Test("a vault whose keys were forgotten, or whose file is gone, goes before one that can still be read")
    func forgotten() throws {
        let home = try ManyVaults(Self.seats + 2)
        for index in 0..<Self.seats { try home.unlock(index) }
        try home.home.client.lock(home.place(0), forgets: false)
        try FileManager.default.removeItem(atPath: home.place(200).vault)
        try home.home.client.lock(home.place(100), forgets: true)
        for index in Self.seats..<Self.seats + 2 { try home.unlock(index) }
        #expect(try home.answer(0, ProtectionLevel(.afterFirstUnlock)) == "secret of after-first-unlock")
        let gone = try home.place(200)
        #expect(try home.home.client.status().vaults.allSatisfy { $0.place != gone })
    }
}

/// One vault's file many times: to the agent each path is a vault of its own.
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

    func place(_ index: Int) throws -> AgentPlace {
        try #require(AgentPlace(vault: "\(home.root)/\(index).omv", device: home.root + "/device"))
    }

    func unlock(_ index: Int) throws {
        let longest = AgentServer.TimeOuts.longest
        #expect(try home.client.unlock(place(index), keys, openedBy: nil, idle: longest, hard: longest) == nil, "\(index)")
    }

    func answer(_ index: Int, _ level: ProtectionLevel) throws -> String {
        try home.answer(level, of: place(index))
    }

    /// Until the agent's clock, in seconds, has gone on.
    func passSecond() async throws {
        let start = now() / 1000
        try await eventually { now() / 1000 > start }
    }
}
