import Foundation
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct VaultTests {
    @Test("stored values come back byte for byte, and no others")
    func roundTrip() throws {
        let home = try Home()
        try home.create()
        try home.add("github", ["password": "s3cret\n", "note": ""])
        #expect(try home.get("github", "password") == "s3cret\n")
        #expect(try home.get("github", "note") == "")
        #expect(throws: VaultError.noItem(try ItemName("gitlab"))) { try home.get("gitlab", "password") }
        #expect(throws: VaultError.noField(try FieldName("pin"), of: try ItemName("github"))) {
            try home.get("github", "pin")
        }
        #expect(throws: VaultError.itemExists(try ItemName("github"))) { try home.add("github", [:]) }
        #expect(throws: VaultError.cannotUnlock) { _ = try home.unlock("pass  word") }
    }

    @Test("setting replaces one field, adds another, and refuses the same value")
    func setting() throws {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "1", "y": "2"])
        let path = FieldPath(try ItemName("a"), try FieldName("x"))
        let other = FieldPath(try ItemName("a"), try FieldName("z"))
        try home.unlock().edit { edit throws(VaultError) in
            try edit.put(secret("3"), at: path)
            try edit.put(secret("4"), at: other)
        }
        #expect(try home.get("a", "x") + home.get("a", "y") + home.get("a", "z") == "324")
        #expect(throws: VaultError.unchanged) {
            try home.unlock().edit { edit throws(VaultError) in try edit.put(secret("3"), at: path) }
        }
        #expect(try home.unlock().item(ItemName("a")).revision == 3)
    }

    @Test("a failed change leaves nothing behind")
    func atomicity() throws {
        let home = try Home()
        try home.create()
        #expect(throws: VaultError.noItem(try ItemName("missing"))) {
            try home.unlock().edit { edit throws(VaultError) in
                try edit.add(ItemName("a"), level: nil) { _ throws(VaultError) in }
                try edit.purge(ItemName("missing"))
            }
        }
        #expect(try home.unlock().items().isEmpty)
    }

    @Test("a removed item is gone and its name is free again")
    func removal() throws {
        let home = try Home()
        try home.create()
        try home.add("a", ["x": "old value that must go"])
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in try edit.purge(ItemName("a")) }
        #expect(throws: VaultError.noItem(try ItemName("a"))) { try home.get("a", "x") }
        try home.add("a", ["x": "new"])
        #expect(try home.get("a", "x") == "new")
        #expect(try home.unlock().items().map(\.name.text) == ["a"])
    }

    @Test("hundreds of items split the tree, and every hit and every miss still checks")
    func manyItems() throws {
        let home = try Home()
        try home.create()
        let vault = try home.unlock()
        try vault.edit { edit throws(VaultError) in
            for number in 0..<700 {
                try edit.add(ItemName("item \(number)"), level: nil) { draft throws(VaultError) in
                    try draft.put(secret("\(number)"), at: FieldName("n"))
                }
            }
        }
        try vault.edit { edit throws(VaultError) in
            for number in stride(from: 0, to: 700, by: 2) { try edit.purge(ItemName("item \(number)")) }
        }
        #expect(try vault.items().count == 350)
        for number in [1, 351, 699] { #expect(try vault.value("item \(number)", "n") == "\(number)") }
        #expect(throws: VaultError.noItem(try ItemName("item 2"))) { try vault.value("item 2", "n") }
    }

    @Test("names are not in the file")
    func namesAreSealed() throws {
        let home = try Home()
        try home.create()
        try home.add("very-recognisable-name", ["recognisable-field": "recognisable value"])
        try home.save("copy")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: home.root + "/copy"))
        for text in ["recognisable", "pass word"] { #expect(bytes.range(of: Data(text.utf8)) == nil, "\(text)") }
    }

    @Test("the vault's database is durable and private, like its folder of marks")
    func files() throws {
        let home = try Home()
        try home.create()
        let database = try VaultSchema.open(home.vault)
        #expect(try database.number("PRAGMA synchronous") == 2)
        #expect(try database.text("PRAGMA journal_mode") == "wal")
        #expect(try database.number("PRAGMA secure_delete") == 1)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(home.vault) == 0o600)
        #expect(try mode(home.deviceFolder) == 0o700)
        for file in try FileManager.default.contentsOfDirectory(atPath: home.deviceFolder) {
            #expect(try mode(home.deviceFolder + "/" + file) == 0o600, "\(file)")
        }
        chmod(home.vault, 0o640)
        #expect(throws: VaultError.storage(.hazardous(.openToOthers, path: home.vault))) { _ = try home.unlock() }
    }
}
