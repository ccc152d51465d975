// What the helper of a folder or a server has in its memory, as root sees it from outside. The helper reads foreign bytes, so it
// may hold nothing that a parcel hides.

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
    private static let program = Programs.path(of: "omvault-agent")

    @Test("the helper of a folder has no name, value, device name or key in its memory, and no file has one")
    func folder() throws {
        let world = try World()
        for home in [world.a, world.b] {
            let vault = try home.unlock()
            let row = try vault.remotes()[0]
            let folder = ConfinedFolder(in: row.path, vault: vault.id, incarnation: row.incarnation, helper: Self.program)
            // What it wrote or read is there, so the search works.
            try exchange(
                vault, with: row, folder, now: home.now, helper: "--folder", mark: row.incarnation,
                has: [Array("omvault-sync-".utf8)], hasNot: world.needles)
        }
        try world.check(store: world.synced.remote.path)
    }

    @Test(
        "the helper of a server has the account's access token, and no name, value, device name, key, password or refresh token",
        .enabled(if: Programs.server != nil))
    func server() async throws {
        let server = try await RealServer(try #require(Programs.server))
        var world = try World()
        // The devices exchange by the server what they did not exchange by the folder.
        let incarnation = Random.bytes(16)
        world.needles.append(("password", Array(RealServer.password.utf8)))
        for home in [world.a, world.b] {
            let login = try ConfinedServer.logIn(
                at: server.url, trusting: [], RealServer.user,
                password: SecretBytes(copying: Array(RealServer.password.utf8)), device: "a device", helper: Self.program)
            world.needles.append(("refresh token", bytes(of: login.refresh)))
            let vault = try home.unlock()
            let row = try vault.addRemote(incarnation: incarnation, path: server.url, login: login, now: home.now)
            let remote = ConfinedServer(
                at: row.path, vault: vault.id, incarnation: incarnation, login: VaultServerLogin(of: row, in: vault),
                helper: Self.program)
            if home === world.a { try remote.make(founding: try vault.roll().entries[0].encoded) }
            // The token is there, so the search works.
            try exchange(
                vault, with: row, remote, now: home.now, helper: "--server", mark: bytes(of: login.access),
                has: [incarnation], hasNot: world.needles)
            world.needles.append(("access token", bytes(of: login.access)))
        }
        try world.check(store: server.data)
    }

    private func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
        secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    /// Exchanges with a remote whose helper is a child of this process, and searches the helper's memory while it lives.
    ///
    /// - Parameter mark: What only the helpers of this remote have. Other tests have helpers too.
    private func exchange<Store: RemoteStore>(
        _ vault: borrowing Vault, with row: RemoteRow, _ store: Store, now: Int64, helper: String, mark: [UInt8],
        has: [[UInt8]], hasNot needles: [(String, [UInt8])]
    ) throws {
        let report = try vault.synchronise(with: row, store, now: now)
        #expect(report.push.bytes + report.pull.written > 0)
        var isFound = false
        for process in try ProcessMemory.children(with: helper) {
            let memory = ProcessMemory(of: process)
            // One of another test may end now.
            guard let marks = try? memory.copies(of: mark), marks > 0 else { continue }
            isFound = true
            for needle in has { #expect(try memory.copies(of: needle) > 0) }
            for (what, needle) in needles { #expect(try memory.copies(of: needle) == 0, "\(what)") }
        }
        #expect(isFound, "the helper was not found")
        // Until here it lives.
        _ = try store.files()
    }
}

/// Two devices, of which one has an item and a third device's name that it has not sent yet.
private struct World {
    private static let item = "canary item with a name of its own"
    private static let value = "canary value that occurs nowhere else, 4713"
    private static let device = "canary device of one vault"

    let synced: SyncedHomes
    /// What no helper and no file may have.
    var needles: [(String, [UInt8])] = []

    var a: SyncedHome { synced.homes[0] }
    var b: SyncedHome { synced.homes[1] }

    init() throws {
        synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        try a.add(Self.item, Self.value, level: ProtectionLevel(.afterFirstUnlock))
        // A third device, whose name both others know.
        let third = try SyncedHome(Self.device)
        let vault = try a.unlock()
        try third.create(id: vault.id)
        let new = try NewDevice(of: try third.unlock())
        _ = try vault.addDevice(new.keys, named: try #require(DeviceName(Self.device)), now: a.now)
        needles = try needles(of: a) + needles(of: b)
        #expect(needles.count > 20)
    }

    /// The item has arrived, and no file has a needle.
    func check(store: String) throws {
        #expect(try b.values()[Self.item] == Self.value)
        for (what, needle) in needles {
            let found = try [store, a.place, b.place].flatMap { try files(in: $0, with: needle) }
            #expect(what == "device key" ? found.allSatisfy { $0.contains("/device/") } : found.isEmpty, "\(what): \(found)")
        }
        // Each pack has the vault's id, so the search works.
        #expect(try !files(in: store, with: a.unlock().id).isEmpty)
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
