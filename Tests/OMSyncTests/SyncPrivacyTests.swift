// What the helper of a folder has in its memory, as root sees it from outside. The helper reads foreign bytes, so it may hold
// nothing that a parcel hides.

import Foundation
import Glibc
import OMAgent
import OMItems
import OMParcels
import OMRecords
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("What sync leaves behind", .onOwnThreads, .enabled(if: geteuid() == 0, "only root may look")) struct SyncPrivacyTests {
    private static let item = "canary item with a name of its own"
    private static let value = "canary value that occurs nowhere else, 4713"
    private static let device = "canary device of one vault"

    @Test(
        "the helper of a folder has no name, value, device name or key in its memory, and no file has one"
    )
    func helper() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.add(Self.item, Self.value, level: ProtectionLevel(.afterFirstUnlock))
        // A third device, whose name both others know.
        let third = try SyncedHome(Self.device)
        let vault = try a.unlock()
        try third.create(id: vault.id)
        let new = try NewDevice(of: try third.unlock())
        _ = try vault.addDevice(new.keys, named: try #require(DeviceName(Self.device)), now: a.now)
        let needles = try self.needles(of: a) + self.needles(of: b)
        #expect(needles.count > 20)
        for home in [a, b] {
            let vault = try home.unlock()
            let row = try vault.remotes()[0]
            let folder = ConfinedFolder(
                in: row.path, vault: vault.id, incarnation: row.incarnation, helper: Programs.path(of: "omvault-agent"))
            let report = try vault.synchronise(with: row, folder, now: home.now)
            #expect(report.push.bytes + report.pull.written > 0)
            // Other tests have helpers too.
            var isFound = false
            for process in try ProcessMemory.children(with: "--folder") {
                guard let memory = try? ProcessMemory(of: process), try memory.copies(of: row.incarnation) > 0 else { continue }
                isFound = true
                // What it wrote or read is there, so the search works.
                #expect(try memory.copies(of: Array("omvault-sync-".utf8)) > 0)
                for (what, needle) in needles { #expect(try memory.copies(of: needle) == 0, "\(what)") }
            }
            #expect(isFound, "the helper was not found")
            // Until here it lives.
            _ = try folder.files()
        }
        #expect(try b.values()[Self.item] == Self.value)
        let folders = [synced.remote.path, a.place, b.place]
        for (what, needle) in needles {
            let found = try folders.flatMap { try files(in: $0, with: needle) }
            #expect(what == "device key" ? found.allSatisfy { $0.contains("/device/") } : found.isEmpty, "\(what): \(found)")
        }
        // Each pack has the vault's id, so the search works.
        #expect(try !files(in: synced.remote.path, with: vault.id).isEmpty)
    }

    /// A key counts as two halves, because a saved register keeps 16 bytes of it.
    private func needles(of home: SyncedHome) throws -> [(String, [UInt8])] {
        var needles = [
            ("item", Array(Self.item.utf8)), ("value", Array(Self.value.utf8)), ("device name", Array(Self.device.utf8)),
        ]
        let vault = try home.unlock()
        func add(_ what: String, _ key: borrowing Key<Deriving>) {
            let bytes = key.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
            needles += [(what, Array(bytes.prefix(16))), (what, Array(bytes.suffix(16)))]
        }
        for level in ProtectionLevel.Availability.allCases {
            try vault.withClassKey(of: level) { key throws(VaultError) in add("class key", key) }
            try home.lane(level).withKey { add("lane", $0) }
        }
        try vault.withDeviceKey { key throws(VaultError) in add("device key", key) }
        try vault.withRootKey { key throws(VaultError) in add("root key", key) }
        let link = try vault.readSync { access throws(VaultError) in try DeviceLanes(vault, access).link }
        try #require(link).withKey { add("link", $0) }
        return needles
    }

    private func files(in folder: String, with needle: [UInt8]) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }.filter { path in
            guard let data = FileManager.default.contents(atPath: path) else { return false }
            return data.range(of: Data(needle)) != nil
        }
    }
}
