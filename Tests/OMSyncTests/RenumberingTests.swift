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

@Suite("A device that gets another number", .onOwnThreads)
struct RenumberingTests {
    /// Two devices, and the file of the first one as it was before its last edits.
    private func putBack(
        _ edit: (SyncedHome) throws -> Void, then meanwhile: (SyncedHome, SyncedHome) throws -> Void
    ) throws -> (synced: SyncedHomes, a: SyncedHome, b: SyncedHome) {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for home in [a, b] { try home.sync() }
        try edit(a)
        let snapshot = try a.snapshot()
        try meanwhile(a, b)
        try a.putBack(snapshot)
        return (synced, a, b)
    }

    @Test("a disk that was put back stops, rejoins, and no edit of either life is lost")
    func rejoin() throws {
        let (synced, a, b) = try putBack({ try $0.add("before", "1") }) { a, b in
            try a.add("later", "2")
            try a.put("x", "of the later life")
            try a.sync()
            try b.sync()
            try b.add("of b", "4")
            try b.sync()
        }
        let old = try a.number()
        // The same counts a second time.
        try a.add("other", "3")
        a.now += 10
        try a.put("x", "of the put back life")
        #expect(try a.sync().pull.isStopped)
        let remote = try a.unlock().remotes()[0]
        #expect(try a.unlock().showsOtherLife(remote, from: synced.store()))
        #expect(try !b.unlock().showsOtherLife(b.unlock().remotes()[0], from: synced.store()))
        // The own head is late, and b's names it.
        let withoutOwn = try TestFolder()
        try FileManager.default.removeItem(atPath: withoutOwn.path)
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: withoutOwn.path)
        let late = FolderRemote(in: withoutOwn.path, vault: try a.unlock().id, incarnation: remote.incarnation)
        for isSecond in [false, true] { try late.remove(.head(device: old, isSecond: isSecond)) }
        #expect(try a.unlock().showsOtherLife(remote, from: late))
        let chain = try a.unlock().oldChain(a.unlock().remotes()[0], from: synced.store())
        #expect(chain.head != nil && !chain.isLate && chain.common == nil)
        let count = try #require(try a.dots(of: "other").first { $0.device == old }?.count)
        try a.unlock().rejoin([chain], now: a.now)
        let new = try a.number()
        #expect(new != old)
        #expect(try !a.unlock().showsOtherLife(remote, from: synced.store()))
        // The later life gave the same count to another edit. Here the edit has the new number now.
        let dots = try a.dots(of: "other")
        #expect(dots.contains { $0.device == new } && dots.allSatisfy { $0.device == new || $0.count < count })
        for home in [a, b, a, b] { try home.sync() }
        #expect(try a.values() == b.values())
        let values = try a.values()
        #expect(values["before"] == "1" && values["later"] == "2" && values["other"] == "3")
        #expect(
            Set(values.filter { $0.key == "x" || $0.key.hasSuffix(" x") }.values) == [
                "of the later life", "of the put back life",
            ])
        #expect(try b.unlock().roll().members[old] == nil)
        #expect(try a.dots().intersection(b.dots()) == a.dots())
    }

    @Test("a disk that was put back stops, also if the remote has not the entry that its later head names")
    func lateEntry() throws {
        let (synced, a, _) = try putBack({ _ in }) { a, b in
            let new = try SyncedHome("new")
            try new.create(id: a.unlock().id)
            let keys = try NewDevice(of: new.unlock()).keys
            _ = try b.unlock().addDevice(keys, named: #require(DeviceName("new")), now: b.now)
            try b.sync()
            try a.add("later", "1")
            try a.sync()
        }
        let entry = try #require(try synced.homes[1].unlock().roll().entries.last)
        // Attack: the remote withholds it. Accident: it comes late.
        let file = RemoteFile.entry(number: entry.contents.number, digest: entry.digest)
        let name = RemoteFolderName(vault: try a.unlock().id, incarnation: try a.unlock().remotes()[0].incarnation).text
        try FileManager.default.removeItem(atPath: "\(synced.remote.path)/\(name)/\(file.path)")
        try a.add("other", "2")
        let report = try a.sync()
        #expect(report.pull.notAccepted[try a.number()] == .isClone)
        #expect(report.push.parcels == 0)
        #expect(try a.unlock().showsOtherLife(a.unlock().remotes()[0], from: synced.store()))
    }

    @Test("a device that rejoins reads on where its other life was, though the heads for the walk from its own place are gone")
    func walks() throws {
        let (synced, a, b) = try putBack({ _ in }) { a, b in
            for round in 0..<12 {
                try b.add("of b \(round)", "1")
                try b.sync()
                try a.add("of a \(round)", "1")
                try a.sync()
            }
        }
        #expect(try a.sync().pull.isStopped)
        try a.unlock().rejoin([a.unlock().oldChain(a.unlock().remotes()[0], from: synced.store())], now: a.now)
        try b.add("news", "2")
        for home in [b, a, b] { try home.sync() }
        #expect(try a.sync().pull.notAccepted[b.number()] == nil)
        #expect(try a.values()["news"] == "2")
        #expect(try a.values() == b.values())
    }

    @Test("a disk that was put back to before its new number is no member: another device removes that number, and goes on")
    func formerNumber() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for home in [a, b] { try home.sync() }
        let snapshot = try a.snapshot()
        try a.unlock().rejoin([], now: a.now)
        let new = try a.number()
        try a.add("later", "1")
        for home in [a, b] { try home.sync() }
        try a.putBack(snapshot)
        try a.add("mine", "2")
        let report = try a.sync()
        #expect(report.pull.isRemoved && report.push.parcels == 0)
        #expect(try a.values() == ["x": "old", "mine": "2"])
        try b.unlock().removeDevices([new], now: b.now)
        try b.sync()
        #expect(try b.values() == ["x": "old", "later": "1"])
    }

    @Test("two lives that both wrote: the edits since they parted get the new number")
    func forked() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for home in [a, b] { try home.sync() }
        let snapshot = try a.snapshot()
        // The other life writes into a copy of the folder, which a tool joins with this one later.
        let copy = try TestFolder()
        try FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: copy.path)
        try a.add("mine", "1")
        try a.sync()
        try b.sync()
        let mine = try a.snapshot()
        try a.putBack(snapshot)
        try a.add("theirs", "2")
        try a.put("x", "theirs")
        for _ in 0..<2 { try a.sync(in: copy.path) }
        try a.add("theirs too", "3")
        try a.sync(in: copy.path)
        try a.putBack(mine)
        let number = try a.number()
        try synced.take(deviceFolder: number, from: copy.path)
        let chain = try a.unlock().oldChain(a.unlock().remotes()[0], from: synced.store())
        let common = try #require(chain.common)
        #expect(try a.dots().contains { $0.device == number && $0.count > common })
        try a.unlock().rejoin([chain], now: a.now)
        #expect(try a.dots(of: "mine").allSatisfy { $0.device != number || $0.count <= common })
        for home in [a, b, a, b] { try home.sync() }
        let values = try a.values()
        #expect(values["mine"] == "1" && values["theirs"] == "2" && values["theirs too"] == "3")
    }

    @Test("a rekey: the new keys and the new link are in the roll, the old root opens nothing later, and all go on")
    func rekey() throws {
        let synced = try SyncedHomes(2) { home in
            for index in 0..<5 { try home.add("item \(index)", "value \(index)") }
        }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let (number, salt) = (try a.number(), try a.unlock().readSync { access throws(VaultError) in access.own?.salt ?? [] })
        let oldLink = try a.link()
        try a.put("item 1", "before the rekey")
        let keys = try a.unlock().publicSyncKeys(MemberKeys.Scope(vault: a.unlock().id, salt: salt))
        try a.rekey()
        let after = try a.unlock().publicSyncKeys(MemberKeys.Scope(vault: a.unlock().id, salt: salt))
        // The same salt gives other keys but for those of the device key.
        #expect(after.member != keys.member && after.wrapping != keys.wrapping && after.head == keys.head)
        let link = try a.link()
        #expect(link != oldLink)
        try a.put("item 2", "behind the rekey")
        for home in [a, b, a] { try home.sync() }
        #expect(try a.values() == b.values())
        #expect(try b.values()["item 1"] == "before the rekey" && b.values()["item 2"] == "behind the rekey")
        #expect(try b.link() == link)
        #expect(try b.unlock().roll().members[number] == nil)
        let names = try b.unlock().syncStatus()?.members.compactMap(\.name?.text)
        #expect(Set(names ?? []) == ["device 0", "device 1"])
        // A device that joins now gets the lanes and links of all epochs.
        try b.put("item 3", "by b")
        for home in [b, a] { try home.sync() }
        #expect(try a.values()["item 3"] == "by b")
        let names2 = try a.unlock().syncStatus()?.members.compactMap(\.name?.text)
        #expect(Set(names2 ?? []) == ["device 0", "device 1"])
    }

    @Test("a removal that brings another link changes none")
    func linkOfRemoval() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        let (before, removed) = (try b.link(), try c.number())
        let vault = try a.unlock()
        try vault.editSync(now: a.now) { access throws(VaultError) in
            let change = try RollChange(vault, access, now: a.now)
            // Its wraps hold another link.
            _ = try change.begin(
                .remove, removing: [removed], newLink: .random(), signedBy: vault.signer(access), keys: vault, &access)
        }
        for home in [a, b] { try home.sync() }
        #expect(try b.unlock().roll().members[removed] == nil)
        #expect(try b.link() == before)
        try b.put("x", "new")
        for home in [b, a] { try home.sync() }
        #expect(try a.values() == ["x": "new"])
    }

    @Test("an entry that lost against another device's is signed again", arguments: ["add", "remove", "rekey"])
    func lost(kind: String) throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in [a, b, c] { try home.sync() }
        let joining = try SyncedHome("new")
        // Both sign an entry of the next number, and a's loses.
        try joining.create(id: a.unlock().id)
        let device = try NewDevice(of: joining.unlock())
        let numberOfC = try c.number()
        switch kind {
        case "add": _ = try a.unlock().addDevice(device.keys, named: #require(DeviceName("new")), now: a.now)
        case "remove": try a.unlock().removeDevices([numberOfC], now: a.now)
        default: try a.rekey()
        }
        let mine = try #require(try a.unlock().roll().entries.last)
        let other = try SyncedHome("other")
        try other.create(id: a.unlock().id)
        let keys = try NewDevice(of: other.unlock()).keys
        // The smaller digest counts.
        try b.addDevice(keys, named: "other", before: mine.digest)
        try b.sync()
        let report = try a.sync()
        #expect(report.pull.lostEntries == [mine.contents.number])
        #expect(!report.pull.isRemoved)
        for home in [b, a, b] { try home.sync() }
        let roll = try b.unlock().roll()
        #expect(try a.unlock().roll() == roll)
        let (names, number) = (try b.unlock().syncStatus()?.members.compactMap(\.name?.text) ?? [], try a.number())
        switch kind {
        case "add": #expect(names.contains("new") && roll.members[device.number] != nil)
        case "remove": #expect(roll.members[numberOfC] == nil && names.contains("other"))
        default:
            #expect(roll.members[number] != nil && roll.entries.last?.contents.kind == .replace)
            #expect(names.contains("device 0"))
        }
        try a.put("x", "new")
        for home in [a, b] { try home.sync() }
        #expect(try b.values()["x"] == "new")
    }
}
