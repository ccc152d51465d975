// One paper opens each device's file, and no entry of the roll changes that alone.

import Foundation
import OMItems
import OMParcels
import OMRemote
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("The recovery slot of a device", .onOwnThreads) struct RecoverySlotTests {
    private let first: [UInt8] = Array(1...16)
    private let second: [UInt8] = Array(2...17)

    private func code(_ secret: [UInt8], _ home: SyncedHome) throws -> RecoveryMember {
        RecoveryMember(SecretBytes(copying: secret), vault: try home.unlock().id)
    }

    private func change(to secret: [UInt8], on home: SyncedHome) throws {
        try home.unlock().setRecovery(code(secret, home), now: home.now)
    }

    /// Whether a code opens a device's file, on a machine that does not have its device key.
    private func opens(_ home: SyncedHome, _ secret: [UInt8]) throws -> Bool {
        let file = try VaultFile.open(home.place + "/data/a.omv", device: nil)
        let typed = SecretBytes(copying: secret)
        do throws(VaultError) {
            let vault = try file.unlock(anyOf: KeySlot.tried(.recovery, of: file.slots)) { slot throws(VaultError) in
                try slot.key(stretching: typed)
            }
            return vault.openedBy?.kind == .sharedRecovery
        } catch {
            guard error == .cannotUnlock else { throw error }
            return false
        }
    }

    /// A device that the first one adds.
    ///
    /// - Parameter later: What the first device does behind the entry, before the new one has read the roll.
    @discardableResult
    private func join(
        _ home: SyncedHome, _ synced: SyncedHomes, later: (SyncedHome) throws -> Void = { _ in }
    ) throws -> RecoveryChange? {
        let old = synced.homes[0]
        let row = try old.unlock().remotes()[0]
        try home.create(id: old.unlock().id)
        let vault = try home.unlock()
        let new = try NewDevice(of: vault)
        _ = try old.unlock().addDevice(new.keys, named: #require(DeviceName(home.name)), now: old.now)
        try later(old)
        try old.sync()
        try vault.joinSync(old.unlock().roll(), salt: new.salt, now: home.now)
        let made = try vault.makeRecoverySlot(now: home.now)
        _ = try vault.addRemote(incarnation: row.incarnation, path: row.path, now: home.now)
        try home.sync()
        return made
    }

    @Test("the code of one device opens the file of a device that it adds, and of the device that this one adds")
    func onePaper() throws {
        let synced = try SyncedHomes(1) { try $0.add("x", "1") }
        let a = synced.homes[0]
        a.now += 7
        try change(to: first, on: a)
        for name in ["b", "c"] {
            let home = try SyncedHome(name)
            let made = try #require(try join(home, synced))
            #expect(try made.signer == a.number() && made.time == a.now)
            #expect(try opens(home, first) && !opens(home, second))
            #expect(try home.unlock().syncStatus()?.recoveryChange == nil)
            #expect(try home.values() == ["x": "1"])
        }
    }

    @Test("without a code in the roll there is no such slot")
    func noCode() throws {
        let synced = try SyncedHomes(1)
        let b = try SyncedHome("b")
        #expect(try join(b, synced) == nil)
        #expect(try b.unlock().settings().slots.map(\.kind) == [.keyFile])
    }

    @Test("an entry behind the own one changes no slot, also if the new device reads both at once")
    func behindTheAddition() throws {
        let synced = try SyncedHomes(1)
        try change(to: first, on: synced.homes[0])
        let b = try SyncedHome("b")
        try join(b, synced) { try change(to: second, on: $0) }
        #expect(try opens(b, first) && !opens(b, second))
        #expect(try b.unlock().syncStatus()?.recoveryChange?.signer == synced.homes[0].number())
    }

    @Test("a thief's code in the roll opens no file, also after a rekey; the status names his device until the code is typed")
    func thief() throws {
        let synced = try SyncedHomes(2)
        let (a, thief) = (synced.homes[0], synced.homes[1])
        try change(to: first, on: a)
        let b = try SyncedHome("b")
        try join(b, synced)
        try thief.sync()
        thief.now += 60
        try change(to: second, on: thief)
        for home in [thief, a, b] { try home.sync() }
        let expected = (try thief.number(), thief.now)
        func isTold(_ home: SyncedHome) throws -> Bool {
            let change = try home.unlock().syncStatus()?.recoveryChange
            return change.map { ($0.signer, $0.time) == expected } ?? false
        }
        #expect(try opens(b, first) && !opens(b, second))
        #expect(try isTold(b) && isTold(a) && !isTold(thief))
        // A device that is added now would take the thief's code.
        let (entries, new) = (try a.unlock().roll().entries.count, try NewDevice(of: b.unlock()))
        #expect(try a.unlock().addDevice(new.keys, named: #require(DeviceName("c")), now: a.now) == nil)
        #expect(try a.unlock().roll().entries.count == entries)
        // The rekey gives another root key and another number. Neither is for the thief, and the question stays.
        try b.rekey()
        #expect(try opens(b, first) && !opens(b, second))
        #expect(try isTold(b))
        guard case .refused(.otherCode) = try b.unlock().takeRecovery(code(first, b), now: b.now) else {
            Issue.record("a code that the roll does not have was taken")
            return
        }
        #expect(try opens(b, first))
        // If it was the owner: the code is typed on the device.
        guard case .made(let slot, _) = try b.unlock().takeRecovery(code(second, b), now: b.now) else {
            Issue.record("the code of the roll was refused")
            return
        }
        #expect(slot.kind == .sharedRecovery)
        #expect(try !opens(b, first) && opens(b, second) && !isTold(b))
        #expect(try b.unlock().settings().slots.count == 2)
    }

    @Test("a code whose keys a member put into the roll without the code is refused")
    func notAnchored() throws {
        let synced = try SyncedHomes(2)
        let (a, thief) = (synced.homes[0], synced.homes[1])
        let real = try code(first, a)
        let other = try code(second, a)
        let vault = try thief.unlock()
        try vault.editSync(now: thief.now) { access throws(VaultError) in
            let change = try RollChange(vault, access, now: thief.now)
            guard let link = try DeviceLanes(vault, access).link else { throw .corrupt(.sync) }
            _ = try change.begin(
                .recovery, adding: [RollChange.member(real, link, vault: access.vault)], removing: [],
                anchoredBy: { other.anchor(of: $0) }, signedBy: vault.signer(access), keys: vault, &access)
        }
        for home in [thief, a] { try home.sync() }
        guard case .refused(.notAnchored) = try a.unlock().takeRecovery(code(first, a), now: a.now) else {
            Issue.record("a code without its anchor was taken")
            return
        }
        #expect(try a.unlock().settings().slots.map(\.kind) == [.keyFile])
    }

    @Test("the invitation of a pairing proves whether there is a code, once all entries are there, and no later one counts")
    func invited() throws {
        let synced = try SyncedHomes(1)
        let a = synced.homes[0]
        let store = try synced.store()
        func invitation() throws -> PairingInvitation {
            guard let pairing = try a.unlock().invite(until: a.now + 600) else { throw VaultError.unchanged }
            return pairing.invitation
        }
        let without = try invitation()
        #expect(try NewDevicePairing.hasRecoveryCode(without, in: store) == false)
        try change(to: first, on: a)
        let with = try invitation()
        #expect(try NewDevicePairing.hasRecoveryCode(with, in: store) == nil)
        try a.sync()
        #expect(try NewDevicePairing.hasRecoveryCode(with, in: store) == true)
        #expect(try NewDevicePairing.hasRecoveryCode(without, in: store) == false)
    }
}
