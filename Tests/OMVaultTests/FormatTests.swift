// Format 2: when a vault gets it, who refuses it, and that everything moves an item with its details.

import Foundation
import OMRecords
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct FormatTests {
    private let home: Home
    private let name: ItemName

    init() throws {
        name = try ItemName("a")
        home = try Home()
        try home.create()
        try home.add("a", ["x": "1", "username": "ada"])
    }

    private func change(_ name: String = "a", _ fill: (inout ItemChange) throws -> Void) throws {
        var change = ItemChange()
        try fill(&change)
        let item = try ItemName(name)
        try home.unlock().edit { edit throws(VaultError) in try edit.update(item, change) }
    }

    private func format() throws -> UInt32 {
        try VaultSchema.open(home.vault).version()
    }

    private func tag(_ text: String) throws -> ItemTag { try ItemTag(text) }

    @Test("a vault whose items need nothing of format 2 stays one of format 1")
    func staysFirst() throws {
        try change { try $0.set.put(secret("2"), at: FieldName("x")) }
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(ItemName("a")) }
        #expect(try format() == 1)
    }

    private static let reasons: [(String, @Sendable (inout ItemChange) throws -> Void)] = [
        ("type", { $0.type = .becomes(.login) }), ("tag", { $0.addedTags = [try ItemTag("work")] }),
        ("expiry", { $0.expires = .becomes(1) }), ("shown field", { $0.shown = [try FieldName("username")] }),
    ]

    @Test(
        "a type, a tag, an expiry and a shown field each raise the format, and an older omvault then refuses the vault",
        arguments: 0..<4)
    func raises(_ index: Int) throws {
        try change("a", Self.reasons[index].1)
        #expect(try format() == 2, "\(Self.reasons[index].0)")
        #expect(throws: StorageError.laterFormat(2)) { _ = try Database.open(home.vault, VaultSchema.schema) }
        #expect(try home.get("a", "x") == "1")
    }

    @Test("a name with a colon raises the format")
    func colon() throws {
        try home.add("https://a.example:8080", ["x": "y"])
        #expect(try format() == 2)
        #expect(try home.get("https://a.example:8080", "x") == "y")
    }

    @Test("a change that is refused leaves format 1")
    func rollsBack() throws {
        #expect(throws: VaultError.noItem(try ItemName("b"))) {
            try home.unlock().edit { edit throws(VaultError) in
                var change = ItemChange()
                change.type = .becomes(.login)
                try edit.update(ItemName("a"), change)
                try edit.update(ItemName("b"), change)
            }
        }
        #expect(try format() == 1)
    }

    @Test("a format that an attacker set back or forward is refused, and so is a table that the format does not have")
    func tampered() throws {
        try change { $0.type = .becomes(.note) }
        let statements = [
            "PRAGMA user_version = 1", "PRAGMA user_version = 4", "PRAGMA user_version = 3", "DROP TABLE chunks",
            "PRAGMA user_version = 0",
        ]
        for (statement, error) in zip(statements, [.corrupt, .laterFormat(4), .corrupt, .corrupt, .corrupt] as [StorageError]) {
            try home.save("whole")
            do {
                let database = try VaultSchema.open(home.vault)
                try database.execute(statement)
            }
            #expect(throws: VaultError.storage(error), "\(statement)") { _ = try home.unlock() }
            try home.putBack("whole")
        }
        // Both at once give a file that looks like format 1. Its content of version 2 gives it away.
        do {
            let database = try VaultSchema.open(home.vault)
            try database.execute("DROP TABLE chunks")
            try database.execute("PRAGMA user_version = 1")
        }
        #expect(throws: VaultError.corrupt(.record)) { _ = try home.get("a", "x") }
    }

    @Test("a vault that is held open reads what another process wrote in format 2")
    func heldOpen() throws {
        let open = try home.open(try home.classKeys())
        open.state.keepOpen(KeepOpenOptions(unless: Interruption(), budget: MemoryBudget(bytes: 1 << 20)))
        #expect(try open.items().map(\.details.type) == [nil])
        try change { $0.type = .becomes(.login) }
        #expect(try open.items().map(\.details.type) == [.login])
        try open.edit { edit throws(VaultError) in
            var change = ItemChange()
            change.type = .removed
            try edit.update(ItemName("a"), change)
        }
        #expect(try home.unlock().items().map(\.details.type) == [nil])
    }

    private func describe(_ item: Item) -> [String] {
        [
            item.details.type?.rawValue ?? "-", item.details.tags.map(\.text).joined(separator: ","),
            "\(item.details.expires ?? 0)",
        ]
            + item.fields.map { "\($0.name.text)=\($0.shownValue ?? "*")" }
    }

    @Test("trash, restore, level and rekey take type, tags, expiry and shown fields along")
    func moves() throws {
        try change {
            ($0.type, $0.expires) = (.becomes(.login), .becomes(99))
            $0.addedTags = [try tag("b"), try tag("a"), try tag("b")]
            $0.shown = [try FieldName("username")]
        }
        let wanted = ["login", "a,b", "99", "username=ada", "x=*"]
        func check(_ step: String) throws {
            let item = try home.unlock().item(name)
            #expect(describe(item).prefix(3) + describe(item).dropFirst(3).sorted() == wanted[...], "\(step)")
            #expect(try home.unlock().items().map(describe) == [describe(item)], "\(step)")
        }
        try check("change")
        try home.unlock().edit { edit throws(VaultError) in try edit.trash(ItemName("a")) }
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(ItemName("a")) }
        try check("restored")
        for level in [ProtectionLevel.highest, ProtectionLevel(.always), .whenUnlocked] {
            try home.unlock().edit { edit throws(VaultError) in try edit.setLevel(ItemName("a"), level) }
            try check(level.name)
        }
        let vault = try home.unlock()
        let slots = try vault.settings().slots
        _ = try vault.rekey(slots: [.init(id: 1, NewSlot(password: Password(secret("pass word")), .floor))], expecting: slots)
        try check("rekey")
        // The first version had none of it, and still has none.
        #expect(
            try home.unlock().history(name).last.map { [$0.details.type?.rawValue, $0.fields.first?.shownValue] } == [nil, nil])
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(ItemName("a"), revision: 1) }
        #expect(describe(try home.unlock().item(name)).first == "-")
        try home.unlock().edit { edit throws(VaultError) in try edit.restore(ItemName("a"), revision: 2) }
        try check("an earlier version")
    }

    @Test("a backup of format 2 restores a vault of format 2, and one of format 1 is as before", arguments: [false, true])
    func backups(_ isPortable: Bool) throws {
        let site = try BackupHome()
        try site.backUp(portable: isPortable, to: site.home.root + "/first")
        try site.home.add("https://a.example", ["x": "colon"])
        try site.backUp(portable: isPortable)
        #expect(try site.bytes.starts(with: Array("OMVB2".utf8)))
        #expect(try Data(contentsOf: URL(filePath: site.home.root + "/first")).starts(with: Array("OMVB1".utf8)))
        try site.loseVault()
        try site.open(try site.home.device()).restore(to: site.home.vault, device: try site.home.device(), replacesLiving: true)
        #expect(try VaultSchema.open(site.home.vault).version() == 2)
        #expect(try site.home.get("https://a.example", "x") == "colon")
        // Attack: the format of a backup is changed.
        var bytes = try site.bytes
        for digit in ["1", "0", "3"] {
            bytes[4] = UInt8(ascii: Unicode.Scalar(digit)!)
            try site.write(bytes)
            #expect(throws: VaultError.corrupt(.backup), "\(digit)") { _ = try BackupFile.open(site.path) }
        }
    }

    @Test("a change of type, tags, expiry and shown fields that changes nothing is refused")
    func unchanged() throws {
        try change {
            ($0.type, $0.expires, $0.addedTags) = (.becomes(.card), .becomes(5), [try tag("t")])
            $0.shown = [try FieldName("username")]
        }
        #expect(throws: VaultError.unchanged) {
            try change {
                ($0.type, $0.expires, $0.addedTags, $0.removedTags) = (
                    .becomes(.card), .becomes(5), [try tag("t")], [try tag("u")]
                )
                $0.shown = [try FieldName("username")]
                $0.concealed = [try FieldName("x")]
            }
        }
        try change { $0.concealed = [try FieldName("username")] }
        #expect(try home.unlock().item(name).fields.allSatisfy { $0.shownValue == nil })
    }

    @Test("a field that is set keeps being shown, and a value that is no short text cannot be shown")
    func shown() throws {
        try change { $0.shown = [try FieldName("username")] }
        try change { try $0.set.put(secret("bob\n\tö"), at: FieldName("username")) }
        #expect(try home.unlock().item(name).fields.contains { $0.shownValue == "bob\n\tö" })
        let field = try FieldName("username")
        for value in ["\u{1b}[2J", "\u{85}", String(repeating: "x", count: 1025)] {
            #expect(throws: VaultError.notShowable(field)) { try change { try $0.set.put(secret(value), at: field) } }
        }
        #expect(throws: VaultError.notShowable(field)) {
            try change { try $0.set.put(SecretBytes(copying: [0xff]), at: field) }
        }
        #expect(throws: VaultError.noField(try FieldName("none"), of: name)) {
            try change { $0.shown = [try FieldName("none")] }
        }
    }

    @Test("tags and expiries out of bounds are refused")
    func bounds() throws {
        for text in ["", "a,b", "a\n", String(repeating: "x", count: 65)] {
            #expect(throws: VaultError.invalidTag, "\(text)") { _ = try ItemTag(text) }
        }
        for time in [0, -1] as [Int64] {
            #expect(throws: VaultError.invalidExpiry) { try change { $0.expires = .becomes(time) } }
        }
        #expect(throws: VaultError.tooLarge) {
            try change { $0.addedTags = try (0..<65).map { try tag("t\($0)") } }
        }
    }

    @Test("each malformed content of version 2 is refused, and a later one is no damage")
    func malformed() throws {
        var details = ItemDetails(type: .login, tags: [try tag("a"), try tag("bc")], expires: 7)
        var draft = ItemDraft(name: try ItemName("it:em"), created: 1, modified: 2, details: details)
        try draft.put(secret("ada"), at: try FieldName("user"), isShown: true)
        let bytes = try draft.finish(kept: 0, noChunks).withBytes { span in span.indices.map { span[$0] } }
        func read(_ bytes: [UInt8], format: UInt32 = 2) throws -> ItemDetails {
            try ItemContent(opened: SecretBytes(copying: bytes), format: format).details
        }
        #expect(try read(bytes) == details)
        #expect(throws: VaultError.corrupt(.record)) { _ = try read(bytes, format: 1) }
        // name 26…30, type 31, expires 32…39, number of tags 40, tags 41…45, 0 at 46, number of fields 47, flags 49,
        // name length 50, name 51…54, value length 55, value 59
        let corrupt: [(Int, [UInt8])] = [
            (32, [0x80]), (40, [3]), (41, [0]), (42, [UInt8(ascii: ",")]), (42, [UInt8(ascii: "z")]), (43, [3]), (46, [1]),
            (48, [0]), (48, [2]), (49, [2]), (49, [3]), (50, [0]), (55, [1]), (59, [0x1b]), (59, [0xff]), (255, [1]),
        ]
        for (offset, changed) in corrupt {
            var other = bytes
            other.replaceSubrange(offset..<offset + changed.count, with: changed)
            #expect(throws: VaultError.corrupt(.record), "\(offset) \(changed)") { _ = try read(other) }
        }
        for (offset, value) in [(4, 3), (31, 12), (31, 255), (46, 2), (49, 4), (49, 5), (49, 0x80)] as [(Int, UInt8)] {
            var other = bytes
            other[offset] = value
            #expect(throws: VaultError.laterContent, "\(offset) \(value)") { _ = try read(other) }
        }
        // Version 1 can say all of this one.
        details = ItemDetails()
        var plain = ItemDraft(name: try ItemName("it:em"), created: 1, modified: 2)
        try plain.put(secret("ada"), at: try FieldName("user"))
        var other = try plain.finish(kept: 0, noChunks).withBytes { span in span.indices.map { span[$0] } }
        other[28] = UInt8(ascii: "-")
        #expect(throws: VaultError.corrupt(.record)) { _ = try read(other) }
    }
}
