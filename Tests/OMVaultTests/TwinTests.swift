// An `always` item that an attacker with the device key planted under the id, or the entry, of a protected item.

import Foundation
import OMRecords
import OMSecrets
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct TwinTests {
    private let always = ProtectionLevel(.always)

    /// The power of the device key alone: an `always` item with any id, at any entry.
    private func plant(_ name: String, id: [UInt8], entry: [UInt8]? = nil, in home: Home) throws {
        try VaultFile.open(home.vault, device: home.device()).openAlways().edit { edit throws(VaultError) in
            let snapshot = edit.snapshot
            guard let keys = snapshot.vault.keys[ProtectionLevel(.always)] else { throw .noVault }
            var draft = ItemDraft(name: try ItemName(name), created: 1, modified: 1)
            try draft.put(secret("planted"), at: FieldName("x"))
            let header = Record.Header(
                level: ProtectionLevel(.always), isDeleted: false, id: id, revision: 1, epoch: snapshot.header.epoch,
                parent: nil, salt: Random.bytes(16))
            let place = try snapshot.add(draft, kept: 0, header, keys, previous: nil)
            let named = keys.key(of: try ItemName(name))
            let key = entry ?? named
            try snapshot.insert(TreeEntry(key: key, digest: place.digest, row: place.row), ProtectionLevel(.always))
        }
    }

    private func home() throws -> (Home, Item) {
        let home = try Home()
        try home.create()
        try home.add("own", ["x": "mine"])
        return (home, try home.unlock().item(ItemName("own")))
    }

    private func removed(_ vault: borrowing Vault, _ id: [UInt8], _ level: ProtectionLevel?) throws -> [Item] {
        guard case .removed(let gone, _) = try vault.perform(.purgeID(id, level: level)) else { throw VaultError.noVault }
        return gone
    }

    @Test("of two items with one id none is purged until the caller names the level")
    func twins() throws {
        let (home, own) = try home()
        try plant("planted", id: own.id, in: home)
        let vault = try home.unlock()
        let places = try vault.entries(id: own.id)
        try #require(places.map(\.level) == [.whenUnlocked, always])
        #expect(places.map { $0.item?.name.text } == ["own", "planted"])
        #expect(throws: VaultError.ambiguousID(places)) { _ = try vault.perform(.purgeID(own.id, level: nil)) }
        #expect(try vault.items().count == 2)
        guard case .entries(let asked) = try vault.perform(.entries(id: own.id, level: always)) else { throw VaultError.noVault }
        #expect(asked == [places[1]])
        #expect(try removed(vault, own.id, always).map(\.name.text) == ["planted"])
        #expect(try vault.items() == [own] && home.get("own", "x") == "mine")
        // With one item left the id is enough.
        #expect(try removed(vault, own.id, nil) == [own])
    }

    @Test("a planted item at a protected item's entry is purged by its level, and the protected item stays")
    func sameEntry() throws {
        let (home, own) = try home()
        let vault = try home.unlock()
        let entry = try #require(try vault.entries(id: own.id).first).entry
        try plant("planted", id: Random.bytes(16), entry: entry, in: home)
        let places = try vault.entries(id: entry)
        try #require(places.map(\.level) == [.whenUnlocked, always])
        #expect(places[1].item == nil)
        #expect(throws: VaultError.ambiguousID(places)) { _ = try vault.perform(.purgeID(entry, level: nil)) }
        #expect(try removed(vault, entry, always).isEmpty)
        #expect(try vault.items() == [own] && vault.verify(deep: true).findings.isEmpty)
    }

    @Test("of two items with one id in a level the entry selects one, even if it is the other's id")
    func sameLevel() throws {
        let (home, _) = try home()
        let id = Random.bytes(16)
        try plant("one", id: id, in: home)
        try plant("two", id: id, in: home)
        let vault = try home.unlock()
        let places = try vault.entries(id: id, level: always)
        #expect(places.count == 2)
        #expect(throws: VaultError.ambiguousID(places)) { _ = try vault.perform(.purgeID(id, level: always)) }
        let one = try #require(places.first { $0.item?.name.text == "one" })
        try plant("three", id: one.entry, in: home)
        #expect(try removed(vault, one.entry, always).map(\.name.text) == ["one"])
        #expect(try vault.items().map(\.name.text) == ["own", "three", "two"])
        let locked = try VaultFile.open(home.vault, device: home.device()).openAlways()
        #expect(throws: VaultError.levelLocked(.whenUnlocked)) { _ = try locked.entries(id: id, level: .whenUnlocked) }
    }
}
