// The cached records of a vault that stays open: they equal the file, and have nothing that the file no longer
// has.

import Foundation
import Glibc
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

@Suite("Opened records") struct RecordCacheTests {
    private static let levels: [ProtectionLevel] = [.whenUnlocked, ProtectionLevel(.afterFirstUnlock), .highest]

    @Test("lists and searches after every kind of change, by any process, equal those of a freshly opened vault")
    func changes() throws {
        let home = try Home()
        try home.create()
        let kept = try home.keepingOpen()
        try home.unlock().edit { edit throws(VaultError) in
            for index in 0..<40 {
                try edit.add(ItemName("item \(index)"), level: Self.levels[index % 3]) { draft throws(VaultError) in
                    try draft.put(secret("value \(index)"), at: FieldName("f"))
                }
            }
        }
        try expectSame(kept, home)
        for isOwn in [true, false] {
            for change in 0..<9 {
                let body = { (edit: inout VaultEdit) throws(VaultError) in
                    try Self.change(change, isOwn ? 0 : 20, &edit)
                }
                if isOwn { try kept.vault.edit(body) } else { try home.unlock().edit(body) }
                try expectSame(kept, home)
            }
        }
    }

    private static func change(_ kind: Int, _ first: Int, _ edit: inout VaultEdit) throws(VaultError) {
        func name(_ number: Int) throws(VaultError) -> ItemName { try ItemName("item \(first + number)") }
        switch kind {
        case 0: try edit.put(secret("another value"), at: FieldPath(try name(1), try FieldName("f")))
        case 1: try edit.trash(try name(2))
        case 2: try edit.purge(try name(3))
        case 3:
            let item = try edit.snapshot.open(try name(4), revision: nil).header.level
            try edit.setLevel(try name(4), item == .highest ? .whenUnlocked : .highest)
        case 4: try edit.restore(try name(2))
        case 5: for number in 5..<12 { try edit.trash(try name(number)) }
        case 6: try edit.rename(try name(12), to: try name(13 + 100))
        case 7: try edit.copy(try name(13), to: try name(14 + 100))
        default: try edit.purgeTrash([try name(6)])
        }
    }

    @Test("the answers are the same without room for a single record, and for a long record")
    func budget() throws {
        let home = try Home()
        try home.create()
        for index in 0..<5 { try home.add("item \(index)", ["f": "value \(index)"]) }
        try home.add("long", ["f": String(repeating: "x", count: 100_000) + "needle"])
        for bytes in [0, 100, 20_000, 1 << 20] { try expectSame(try home.keepingOpen(budget: bytes), home) }
    }

    @Test("a second list reads no records from the file")
    func remembered() throws {
        let home = try Home()
        try home.create()
        for index in 0..<5 { try home.add("item \(index)", ["f": "value \(index)"]) }
        let (with, without) = (try home.keepingOpen(), try home.keepingOpen(budget: 0))
        let names = try with.names()
        #expect(try without.names() == names)
        // Only a read of the record shows this: the level's state and its tree are untouched.
        try home.tamper("UPDATE records SET body = zeroblob(length(body))")
        #expect(try with.names() == names)
        #expect(throws: VaultError.corrupt(.record)) { try without.names() }
        #expect(throws: VaultError.corrupt(.record)) { try home.unlock().items() }
    }

    @Test("single items share the room, and a replaced item frees its part")
    func oneByOne() throws {
        let home = try Home()
        try home.create()
        let kept = try home.keepingOpen(budget: 48 << 10)
        let vault = try home.unlock()
        for index in 0..<12 {
            try vault.edit { edit throws(VaultError) in
                try edit.add(ItemName("item \(index)"), level: nil) { draft throws(VaultError) in
                    try draft.put(secret(String(repeating: "x", count: 1000)), at: FieldName("f"))
                }
            }
            _ = try kept.names()
            for round in 0..<3 {
                try vault.edit { edit throws(VaultError) in
                    let path = FieldPath(try ItemName("item 0"), try FieldName("f"))
                    try edit.put(secret("\(index) \(round)" + String(repeating: "x", count: 1000)), at: path)
                }
                _ = try kept.names()
            }
        }
        try home.tamper("UPDATE records SET body = zeroblob(length(body))")
        #expect(try kept.names().count == 12)
    }

    @Test("a file that was put back, or an exchanged state, is refused although its records were opened before")
    func rolledBack() throws {
        let home = try Home()
        try home.create()
        try home.add("item", ["f": "value"])
        let kept = try home.keepingOpen()
        _ = try kept.names()
        let before = try home.state(of: .whenUnlocked)
        try home.add("other", ["f": "value"])
        #expect(try kept.names() == ["item", "other"])
        let after = try home.state(of: .whenUnlocked)
        try home.setState(before, of: .whenUnlocked)
        #expect(throws: VaultError.rolledBack(.level)) { try kept.names() }
        try home.setState(after, of: .whenUnlocked)
        #expect(try kept.names() == ["item", "other"])
        // The state of a level without a seal.
        try home.setState([UInt8](repeating: 0, count: after.count), of: .whenUnlocked)
        #expect(throws: VaultError.corrupt(.level)) { try kept.names() }
    }

    @Test("a record at another place in the tree does not match an opened one")
    func movedEntry() throws {
        let home = try Home()
        try home.create()
        for name in ["one", "two"] { try home.add(name, ["f": "value"]) }
        let kept = try home.keepingOpen()
        #expect(try kept.names() == ["one", "two"])
        // Another list follows, after the entries were changed to lead elsewhere.
        try home.add("three", ["f": "value"])
        let level = ProtectionLevel.whenUnlocked.code
        try home.tamper(
            "UPDATE entries SET digest = (SELECT min(digest) FROM entries WHERE level = \(level)) WHERE level = \(level)")
        #expect(throws: VaultError.corrupt(.tree)) { try kept.names() }
    }

    @Test("an interruption ends a wait for another process's lock, and an unfinished list")
    func interrupted() throws {
        let home = try Home()
        try home.create()
        try home.add("item", ["f": "value"])
        let kept = try home.keepingOpen()
        let lock = try home.lock()
        kept.interruption.begin()
        try lock.hold { () throws(VaultError) in
            let name = try ItemName("item")
            #expect(throws: VaultError.storage(.busy)) { try kept.vault.edit { edit throws(VaultError) in try edit.trash(name) } }
        }
        #expect(throws: VaultError.storage(.busy)) { try kept.names() }
        kept.interruption.end()
        #expect(try kept.names() == ["item"])
        // The opened records are in the cache, but looking through them may still take a while.
        kept.interruption.begin()
        #expect(throws: VaultError.storage(.busy)) { try kept.names() }
    }

    private func expectSame(_ kept: KeptOpenVault, _ home: Home) throws {
        let fresh = try home.unlock()
        for isTrashed in [false, true] {
            let items = try fresh.items(trashed: isTrashed)
            #expect(try kept.vault.items(trashed: isTrashed) == items)
            for vault in [kept, KeptOpenVault(try home.unlock(), kept.interruption)] {
                #expect(try vault.vault.names(trashed: isTrashed).names == items.map(\.name))
            }
            for word in ["item 1", "ANOTHER", "value 3", "needle"] {
                let found = try fresh.items(matching: search([word]), trashed: isTrashed).found
                #expect(try kept.vault.items(matching: search([word]), trashed: isTrashed).found == found, "\(word)")
                let names = try kept.vault.names(matching: search([word]), trashed: isTrashed).found
                #expect(names.names == found.map(\.name), "\(word)")
            }
        }
    }
}

@Suite("A search") struct ItemSearchTests {
    @Test("it finds words in names, field names and values, in both cases, and all words in the same item")
    func everywhere() throws {
        let home = try Home()
        try home.create()
        try home.add("Example site", ["username": "Ada", "notes": "opened in May"])
        try home.add("other", ["token": "example"])
        try home.add("third", ["EXAMPLE": "x"])
        for isRemembering in [true, false] {
            func names(_ words: String..., in scope: ItemSearch.Scope? = nil) throws -> [String] {
                let wanted = search(words, in: scope)
                guard isRemembering else { return try home.unlock().items(matching: wanted).found.map(\.name.text) }
                return try home.keepingOpen().vault.items(matching: wanted).found.map(\.name.text)
            }
            #expect(try names("eXample") == ["Example site", "other", "third"])
            #expect(try names("example", "ada") == ["Example site"])
            #expect(try names("may", "SITE", "User") == ["Example site"])
            #expect(try names("example", "nobody") == [])
            #expect(try names("xamplez") == [])
            let onlyName = ItemSearch.Scope(itemName: true, fields: [])
            #expect(try names("example", in: onlyName) == ["Example site"])
            #expect(try names("ada", in: onlyName) == [])
            let token = ItemSearch.Scope(itemName: false, fields: [try FieldName("token")])
            #expect(try names("example", in: token) == ["other"])
            #expect(try names("token", in: token) == [])
            let both = ItemSearch.Scope(itemName: true, fields: [try FieldName("notes"), try FieldName("token")])
            #expect(try names("e", in: both) == ["Example site", "other"])
            // Bytes outside ASCII are compared unchanged.
            #expect(try names("É") == [])
        }
    }

    @Test("a word has 1 to 1024 bytes, and a search has at most 16 words")
    func bounds() {
        var search = ItemSearch()
        var taken: [Bool] = []
        for count in [0, 1025, 1024] { taken.append(search.add([UInt8](repeating: 65, count: count).span)) }
        for _ in 0..<16 { taken.append(search.add([65].span)) }
        #expect(taken == [false, false, true] + [Bool](repeating: true, count: 15) + [false])
        let count = search.wordCount
        #expect(count == 16)
    }
}

/// A vault in the form that the agent uses.
final class KeptOpenVault {
    let vault: Vault
    let interruption: Interruption

    init(_ vault: consuming Vault, _ interruption: Interruption) {
        self.vault = vault
        self.interruption = interruption
    }

    func names() throws -> [String] { try vault.items().map(\.name.text) }
}

extension Home {
    func keepingOpen(budget: Int = 1 << 20) throws -> KeptOpenVault {
        let interruption = Interruption()
        let terms = KeepOpenOptions(unless: interruption, budget: MemoryBudget(bytes: budget))
        let vault = try VaultFile.open(vault, device: device()).open(with: try classKeys(), keepingOpen: terms)
        return KeptOpenVault(vault, interruption)
    }

    /// The lock that every change of the vault takes.
    func lock() throws -> FileLock {
        let file = try VaultFile.open(vault, device: device())
        switch file.highWater() {
        case .some(let marks): return marks.lock
        case .none: throw VaultError.unseenHere
        }
    }

    func state(of level: ProtectionLevel) throws -> [UInt8] {
        let database = try VaultSchema.open(vault)
        var find = try database.prepare("SELECT state FROM levels WHERE level = ?1")
        try find.bind(1, Int64(level.code))
        _ = try find.step()
        return find.bytes(0)
    }

    func setState(_ state: [UInt8], of level: ProtectionLevel) throws {
        let database = try VaultSchema.open(vault)
        var save = try database.prepare(VaultSchema.saveState)
        try save.bind(1, Int64(level.code))
        try save.bind(2, state)
        _ = try save.step()
    }
}

private func search(_ words: [String], in scope: ItemSearch.Scope? = nil) -> ItemSearch {
    var search = ItemSearch(in: scope)
    for word in words {
        let isTaken = search.add(word.utf8Span.span)
        precondition(isTaken, "a word within the bounds")
    }
    return search
}

@Suite("The tree of many items") struct DeepTreeTests {
    @Test("a list reads branches below branches, ignores rows that belong to no node, and refuses a changed tree")
    func rows() throws {
        let home = try Home()
        try home.create()
        let names = (0..<300).map { "item \($0)" }
        try home.unlock().edit { edit throws(VaultError) in
            for name in names {
                try edit.add(ItemName(name), level: .whenUnlocked) { draft throws(VaultError) in
                    try draft.put(secret("value"), at: FieldName("f"))
                }
            }
        }
        try home.save("whole")
        // Without a password to stretch each time.
        let keys = try home.classKeys()
        func listed() throws -> [String] { try home.open(keys).items().map(\.name.text) }
        #expect(try listed() == names.sorted())
        let strays = [
            "INSERT INTO branches SELECT level, CAST(prefix || x'0102030405' AS BLOB), digests FROM branches",
            "INSERT INTO branches SELECT level, CAST(prefix || zeroblob(40) AS BLOB), digests FROM branches",
            "INSERT INTO branches SELECT level, hex(prefix), digests FROM branches",
            "INSERT INTO entries SELECT level, hex(key), digest, record FROM entries",
        ]
        for stray in strays {
            try home.putBack("whole")
            try home.tamper(stray)
            #expect(try listed() == names.sorted(), "\(stray)")
        }
        let attacks = [
            "UPDATE branches SET digests = zeroblob(512) WHERE prefix = (SELECT max(prefix) FROM branches)",
            "UPDATE branches SET digests = zeroblob(511) WHERE prefix = (SELECT max(prefix) FROM branches)",
            "UPDATE branches SET digests = zeroblob(512) WHERE prefix = x''",
            "DELETE FROM branches WHERE length(prefix) = 1", "DELETE FROM branches",
            "DELETE FROM entries WHERE key = (SELECT max(key) FROM entries)",
            "DELETE FROM entries WHERE key = (SELECT min(key) FROM entries)",
            "INSERT OR IGNORE INTO entries SELECT level, CAST(substr(key, 1, 15) || x'00' AS BLOB), digest, record FROM entries",
            "INSERT INTO entries SELECT level, CAST(key || x'00' AS BLOB), digest, record FROM entries",
            "INSERT INTO entries SELECT level, zeroblob(16), digest, record FROM entries LIMIT 1",
            "UPDATE entries SET digest = zeroblob(32) WHERE key = (SELECT max(key) FROM entries)",
            "UPDATE entries SET digest = zeroblob(31) WHERE key = (SELECT max(key) FROM entries)",
        ]
        for attack in attacks {
            try home.putBack("whole")
            try home.tamper(attack)
            #expect(throws: VaultError.corrupt(.tree), "\(attack)") { try listed() }
        }
        // The tree does not authenticate the row of a record, but the digest of the record in it.
        let moves = [
            "UPDATE entries SET record = record + 1", "UPDATE entries SET record = 0", "DELETE FROM records WHERE id = 7",
        ]
        for attack in moves {
            try home.putBack("whole")
            try home.tamper(attack)
            #expect(throws: VaultError.corrupt(.record), "\(attack)") { try listed() }
        }
    }

    @Test("a list inside a change sees the change, whether the whole tree was read before or not")
    func changed() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in
            for index in 0..<100 { try edit.add(ItemName("item \(index)"), level: .whenUnlocked) { _ in } }
        }
        for isReadBefore in [true, false] {
            try vault.edit { edit throws(VaultError) in
                let snapshot = edit.snapshot
                if isReadBefore { #expect(try snapshot.entries(.whenUnlocked).count == 100) }
                try edit.add(ItemName("new \(isReadBefore)"), level: .whenUnlocked) { _ in }
                #expect(try snapshot.entries(.whenUnlocked).count == (isReadBefore ? 101 : 102))
            }
        }
        #expect(try vault.items().count == 102)
    }
}
