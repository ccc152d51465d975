// Lists that open their records in several threads.

import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMItems
@testable import OMVault

@Suite("Records opened in several threads") struct RecordBatchTests {
    /// More than a few batches, with a record in the middle that is too long for any.
    private static let names = (0..<600).map { "item \(1000 + $0)" }
    private static let longRow: Int64 = 301

    private func filled() throws -> Home {
        let home = try Home()
        try home.create()
        try home.unlock().edit { edit throws(VaultError) in
            for name in Self.names {
                try edit.add(ItemName(name), level: .whenUnlocked) { draft throws(VaultError) in
                    let isLong = name == Self.names[Int(Self.longRow) - 1]
                    try draft.put(secret(String(repeating: "x", count: isLong ? 50_000 : 300)), at: FieldName("f"))
                }
            }
            try edit.purge(ItemName(Self.names[17]))
        }
        return home
    }

    @Test("a list has every item once, with and without a cache")
    func all() throws {
        let home = try filled()
        let expected = Self.names.filter { $0 != Self.names[17] }
        let items = try home.unlock().items()
        #expect(items.map(\.name.text) == expected)
        #expect(items.map { $0.fields[0].count }.filter { $0 == 300 }.count == expected.count - 1)
        for budget in [0, 100_000, 4 << 20] {
            let kept = try home.keepingOpen(budget: budget)
            #expect(try kept.vault.items() == items)
            #expect(try kept.vault.items() == items)
        }
    }

    @Test("of several damaged records the first one in the file is reported")
    func firstDamage() throws {
        let home = try filled()
        try home.makeLater(Self.names[400])
        // The new version's row is the last one, behind the tombstone's.
        let laterRow = Int64(Self.names.count) + 2
        try home.add("the last", ["f": "value"])
        try home.save("later")
        func expect(_ error: VaultError, damaging rows: Int64...) throws {
            try home.putBack("later")
            for row in rows { try home.tamper("UPDATE records SET body = zeroblob(length(body)) WHERE id = \(row)") }
            #expect(throws: error, "\(rows)") { try home.unlock().items() }
            #expect(throws: error, "\(rows)") { try home.keepingOpen().names() }
        }
        try expect(.laterContent)
        try expect(.laterContent, damaging: laterRow + 1)
        for row in [1, 120, Self.longRow - 1, Self.longRow, Self.longRow + 1, laterRow - 2] {
            try expect(.corrupt(.record), damaging: row, laterRow + 1)
        }
    }
}

extension Home {
    /// Gives an item a new version whose content has the version of a later omvault.
    fileprivate func makeLater(_ name: String) throws {
        try unlock().edit { edit throws(VaultError) in
            let snapshot = edit.snapshot
            guard let (level, entry) = try snapshot.find(try ItemName(name)), let keys = snapshot.vault.keys[level] else {
                throw VaultError.noItem(try ItemName(name))
            }
            let newest = try snapshot.newest(entry, level)
            let before = newest.header
            let content = try snapshot.plaintext(newest.record)
            let later = SecretBytes(count: content.count) { target in
                content.withBytes { bytes in for index in bytes.indices { target[index] = bytes[index] } }
                target[ItemContent.versionOffset] = 3
            }
            let header = Record.Header(
                level: level, isDeleted: false, id: before.id, revision: before.revision + 1, epoch: before.epoch,
                parent: entry.digest, salt: Random.bytes(16))
            let reference = try snapshot.add(later, header, keys, previous: entry.row)
            try snapshot.insert(TreeEntry(entry.key, reference), level)
        }
    }
}
