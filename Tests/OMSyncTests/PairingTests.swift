// The two halves of a pairing over a folder, without a person.

import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import OMStorage
import OMSyncKeys
import OMSystem
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Pairing over a folder") struct PairingTests {
    /// A device with a remote, and a new vault of the same id.
    private struct Two {
        let synced: SyncedHomes
        let new: SyncedHome
        let store: FolderRemote
        var old: SyncedHome { synced.homes[0] }

        init() throws {
            new = try SyncedHome("new")
            synced = try SyncedHomes(1) { home in try home.add("x", "value") }
            let vault = try synced.homes[0].unlock()
            let row = try vault.remotes()[0]
            store = FolderRemote(in: row.path, vault: vault.id, incarnation: row.incarnation)
            try new.create(id: vault.id)
        }

        func invite() throws -> OldDevicePairing {
            guard let pairing = try old.unlock().invite(until: old.now + 600) else { throw VaultError.unchanged }
            try pairing.putInvitation(on: store)
            return pairing
        }

        /// The new device's half, from the code alone.
        func answer(_ messages: borrowing PairingMessages, named name: String = "new") throws -> NewDevicePairing {
            let row = try old.unlock().remotes()[0]
            let found = try NewDevicePairing.invitation(
                in: messages, store, vault: try old.unlock().id, incarnation: row.incarnation)
            let invitation = try #require(found)
            let deviceName = try #require(DeviceName(name))
            let pairing = try NewDevicePairing(invitation, try new.unlock(), named: deviceName)
            try pairing.putRequest(messages, on: store)
            return pairing
        }
    }

    private func typed(_ pairing: borrowing OldDevicePairing) throws -> PairingMessages {
        PairingMessages(try PairingCode(typed: pairing.messages.code.text()))
    }

    @Test("both halves come to the same digits, the new device joins, and nothing of the pairing is left")
    func whole() throws {
        let two = try Two()
        var old = try two.invite()
        let messages = try typed(old)
        let taken1 = try old.takeRequest(from: two.store, now: two.old.now)
        #expect(taken1 == nil)
        let new = try two.answer(messages)
        let shown9 = try new.digits(messages, from: two.store)
        #expect(shown9 == nil)
        let taken2 = try old.takeRequest(from: two.store, now: two.old.now)
        #expect(taken2?.text == "new")
        let found12 = try new.digits(messages, from: two.store)
        let digits = try #require(found12)
        #expect(digits.utf8.count == 6)
        let isRight3 = old.accepts(digits)
        #expect(isRight3)
        let shown10 = try new.roll(messages, from: two.store)
        #expect(shown10 == nil)
        let entry = try old.add(to: two.old.unlock(), now: two.old.now)
        // The message is there before the entry: the files of a folder arrive in any order.
        try old.putDone(entry, on: two.store)
        let shown11 = try new.roll(messages, from: two.store)
        #expect(shown11 == nil)
        try two.old.sync()
        let found13 = try new.roll(messages, from: two.store)
        let roll = try #require(found13)
        let vault = try two.new.unlock()
        try new.join(vault, roll, now: two.new.now)
        let row = try two.old.unlock().remotes()[0]
        _ = try vault.addRemote(incarnation: row.incarnation, path: row.path, now: two.new.now)
        let isEarly = try old.isOver(on: two.store)
        try new.removeRequest(messages, from: two.store)
        let isOver = try old.isOver(on: two.store)
        #expect(!isEarly && isOver)
        try old.remove(from: two.store)
        #expect(
            try two.store.files().allSatisfy { file in
                if case .message = file { false } else { true }
            })
        try two.new.sync()
        #expect(try two.new.values() == ["x": "value"])
        #expect(try two.old.unlock().syncStatus()?.members.map(\.name?.text) == ["device 0", "new"])
    }

    @Test("the first request counts: another one gets no answer, and its device sees that")
    func firstRequest() throws {
        let two = try Two()
        var old = try two.invite()
        let messages = try typed(old)
        let first = try two.answer(messages, named: "first")
        let taken4 = try old.takeRequest(from: two.store, now: two.old.now)
        #expect(taken4?.text == "first")
        let second = try two.answer(messages, named: "second")
        let taken5 = try old.takeRequest(from: two.store, now: two.old.now)
        #expect(taken5?.text == "first")
        do {
            _ = try second.digits(messages, from: two.store)
            Issue.record("the other request was answered")
        } catch { #expect(error as? PairingProblem == .otherReveal) }
        let found14 = try first.digits(messages, from: two.store)
        let digits = try #require(found14)
        let isRight6 = old.accepts(digits)
        #expect(isRight6)
    }

    @Test("there is one try for the digits")
    func oneTry() throws {
        let two = try Two()
        var old = try two.invite()
        let messages = try typed(old)
        let new = try two.answer(messages)
        let isEarly = old.accepts("")
        _ = try old.takeRequest(from: two.store, now: two.old.now)
        let found15 = try new.digits(messages, from: two.store)
        let digits = try #require(found15)
        let isFirst = old.accepts(digits == "000000" ? "000001" : "000000")
        let isSecond = old.accepts(digits)
        #expect(!isEarly && !isFirst && !isSecond)
    }

    @Test("a request after the end of the code is not taken; bytes that are no request are waited over")
    func late() throws {
        let two = try Two()
        var old = try two.invite()
        let messages = try typed(old)
        try two.store.write([1, 2, 3], to: .message(mailbox: messages.code.mailbox, number: 2))
        let taken7 = try old.takeRequest(from: two.store, now: two.old.now)
        #expect(taken7 == nil)
        _ = try two.answer(messages)
        let end = old.invitation.expires
        do {
            _ = try old.takeRequest(from: two.store, now: end + 1)
            Issue.record("the request was taken")
        } catch { #expect(error as? PairingProblem == .expired) }
        let taken8 = try old.takeRequest(from: two.store, now: end)
        #expect(taken8?.text == "new")
    }

    @Test("a folder that is not mounted ends no pairing; an invitation that was taken away does")
    func ends() throws {
        let two = try Two()
        let old = try two.invite()
        let messages = try typed(old)
        let new = try two.answer(messages)
        let elsewhere = FolderRemote(
            in: two.store.path, vault: new.invitation.vault, incarnation: new.invitation.remotes[0].incarnation)
        for store in [elsewhere, two.store] {
            let (isEnded, isOver) = (try new.isEnded(messages, on: store), try old.isOver(on: store))
            #expect(!isEnded && !isOver)
        }
        try old.remove(from: two.store)
        let isEnded = try new.isEnded(messages, on: two.store)
        #expect(isEnded)
    }

    @Test("a remote that is forgotten leaves no row")
    func forgotten() throws {
        let two = try Two()
        let vault = try two.old.unlock()
        try vault.removeRemote(1, now: two.old.now)
        let status = try #require(try vault.syncStatus())
        #expect(status.remotes.isEmpty)
        try vault.readSync { access throws(VaultError) in
            for kind in [SyncRow.Kind.remote, .head, .noted, .own, .arrived, .push] {
                #expect(try access.rows(kind).isEmpty)
            }
            try access.checkRows()
        }
        #expect(try two.old.unlock().invite(until: 0) == nil)
    }
}

@Suite("The file of a vault that syncs") struct SyncedFileTests {
    @Test("a vault that goes out of scope is closed, so that its file can get another name")
    func isClosed() throws {
        let folder = try TestFolder(containing: ["data"])
        let device = try DeviceFolder.make(folder.path + "/device")
        let path = folder.path + "/data/a.omv"
        let key = VaultKeyFile.random()
        try VaultFile.create(
            path, device: device, policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
            slots: [NewSlot(keyFile: key)])
        do {
            let file = try VaultFile.open(path, device: device)
            let vault = try file.unlock(file.slots[0], with: key.key())
            try vault.foundSync(named: #require(DeviceName("a")), now: 1_800_000_000)
        }
        try VaultFile.rename(path, to: folder.path + "/data/b.omv", device: device)
    }

    @Test("a vault that never joined is removed with its marks, and can be made again")
    func unjoined() throws {
        let folder = try TestFolder(containing: ["data"])
        let device = try DeviceFolder.make(folder.path + "/device")
        let (path, id) = (folder.path + "/data/a.omv", Random.bytes(16))
        #expect(try !VaultFile.isKnown(id, to: device))
        for _ in 0..<2 {
            try VaultFile.create(
                path, id: id, device: device, policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
                slots: [NewSlot(keyFile: .random())])
            #expect(try VaultFile.isKnown(id, to: device))
            try VaultFile.removeUnjoined(path, id: id, from: device)
            #expect(try !VaultFile.isKnown(id, to: device) && !VaultFile.exists(path))
        }
    }
}
