import Foundation
import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("All devices lost", .onOwnThreads)
struct RecoveryTests {
    private let secret: [UInt8] = Array(1...16)

    private func code(_ vault: [UInt8], _ secret: [UInt8]? = nil) -> RecoveryMember {
        RecoveryMember(SecretBytes(copying: secret ?? self.secret), vault: vault)
    }

    /// Devices whose vault has the code, with a few items of each level.
    private func devices(_ count: Int) throws -> SyncedHomes {
        let synced = try SyncedHomes(count) { home in
            try home.add("open", "1")
            try home.add("early", "2", level: ProtectionLevel(.afterFirstUnlock, deviceOnly: false))
            try home.add("free", "3", level: ProtectionLevel(.always, deviceOnly: false))
        }
        let first = synced.homes[0]
        try first.unlock().setRecovery(code(first.unlock().id), now: first.now)
        for _ in 0..<2 { for home in synced.homes { try home.sync() } }
        return synced
    }

    /// A new device that has only the code and the folder.
    private func recover(
        _ synced: SyncedHomes, _ secret: [UInt8]? = nil, choosing chosen: Set<[UInt8]> = []
    ) throws -> SyncedHome {
        let store = try synced.store()
        let (vault, row) = (try synced.homes[0].unlock().id, try synced.homes[0].unlock().remotes()[0])
        let code = code(vault, secret)
        let recovered = try RecoveredVault(RemoteContents(reading: store, vault: vault), code, choosing: chosen)
        let home = try SyncedHome("found")
        try home.create(id: vault)
        let new = try home.unlock()
        let device = try NewDevice(of: new)
        let roll = try recovered.adding(device, named: #require(DeviceName("found")), code, now: home.now)
        try new.joinSync(roll, salt: device.salt, now: home.now)
        let remote = try new.addRemote(incarnation: row.incarnation, path: row.path, now: home.now)
        let before = try Set(store.files())
        #expect(try !new.take(from: remote, store, now: home.now).isStopped)
        let others = try new.roll().members.values.filter { $0.kind == .device && $0.number != device.number }.map(\.number)
        try new.removeDevices(Set(others), code, now: home.now)
        // Nothing is written before the others are removed.
        #expect(try Set(store.files()) == before)
        try home.sync()
        return home
    }

    @Test("the code and the folder give every item, and all other devices are removed")
    func whole() throws {
        let synced = try devices(2)
        try synced.homes[1].add("last", "4")
        try synced.homes[1].sync()
        let home = try recover(synced)
        #expect(try home.values() == ["open": "1", "early": "2", "free": "3", "last": "4"])
        #expect(try home.unlock().roll().members.values.filter { $0.kind == .device }.map(\.number) == [home.number()])
        let names = try home.unlock().syncStatus()?.members.compactMap(\.name?.text)
        #expect(Set(names ?? []) == ["found", "recovery code"])
        // A device that was only lost hears of its removal.
        #expect(try synced.homes[0].sync().pull.isRemoved)
    }

    @Test("a code that is in the roll from the first entry on opens the lanes of all epochs")
    func fromTheBeginning() throws {
        let a = try SyncedHome("a")
        try a.create()
        let vault = try a.unlock()
        try a.add("x", "1")
        let id = vault.id
        try vault.foundSync(named: #require(DeviceName("a")), recovery: code(id), now: a.now)
        let remote = try TestFolder()
        let row = try vault.addRemote(incarnation: Random.bytes(16), path: remote.path, now: a.now)
        let store = FolderRemote(in: remote.path, vault: id, incarnation: row.incarnation)
        try store.make(founding: try vault.roll().entries[0].encoded)
        try a.sync()
        // A rekey in between, with another link.
        try a.rekey()
        try a.add("y", "2")
        try a.sync()
        let contents = try RemoteContents(reading: store, vault: id)
        #expect(try RecoveredVault(contents, code(id)).roll == a.unlock().roll())
        #expect(throws: RecoveryProblem.otherCode) { try RecoveredVault(contents, code(id, Array(2...17))) }
        // A rekey with another code: the one before opens nothing any more.
        try a.rekey(recovery: code(id, Array(2...17)))
        try a.sync()
        let later = try RemoteContents(reading: store, vault: id)
        #expect(throws: RecoveryProblem.otherCode) { try RecoveredVault(later, code(id)) }
        #expect(try RecoveredVault(later, code(id, Array(2...17))).roll.entries.count == 4)
    }

    @Test("a remote that made a roll of its own, with the right public keys of the code, is refused")
    func notAnchored() throws {
        let synced = try devices(1)
        let id = try synced.homes[0].unlock().id
        // The public keys of the code are in clear on the remote. The forger signs all else himself.
        let forger = try SyncedHome("forger")
        try forger.create(id: id)
        let vault = try forger.unlock()
        let (founder, link) = (try NewDevice(of: vault), LinkKey.random())
        let members = [
            founder.member(named: try #require(DeviceName("laptop")), link, vault: id),
            RollChange.member(code(id), link, vault: id),
        ]
        let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: 1) }
        let signer = RollSigner(
            founder.number, try vault.memberKey(MemberKeys.Scope(vault: id, salt: founder.salt)))
        let contents = RollEntry.Contents(
            kind: .found, vault: id, number: 0, previous: [UInt8](repeating: 0, count: 32), signer: founder.number, time: 1,
            laneEpoch: 1, added: members, removed: [],
            wraps: try RollChange.wraps(lanes, link, for: members, entry: 0, vault: id))
        let forged = signer.sign(contents, anchor: code(id, Array(3...18)).anchor(of: contents))
        let remote = try TestFolder()
        let store = FolderRemote(in: remote.path, vault: id, incarnation: Random.bytes(16))
        try store.make(founding: forged.encoded)
        #expect(throws: RecoveryProblem.notAnchored) {
            try RecoveredVault(RemoteContents(reading: store, vault: id), code(id))
        }
    }

    @Test("a code that is replaced opens the remote no more, and the new one does")
    func replaced() throws {
        let synced = try devices(2)
        let (a, b) = (synced.homes[0], synced.homes[1])
        let id = try a.unlock().id
        #expect(throws: VaultError.unchanged) { try a.unlock().setRecovery(code(id), now: a.now) }
        try a.unlock().setRecovery(code(id, Array(2...17)), now: a.now)
        for home in [a, b, a] { try home.sync() }
        #expect(throws: RecoveryProblem.otherCode) { try recover(synced) }
        let home = try recover(synced, Array(2...17))
        #expect(try home.values() == ["open": "1", "early": "2", "free": "3"])
    }
}
