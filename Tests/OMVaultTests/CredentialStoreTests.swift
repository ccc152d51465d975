// The SDK's rules for its store: add, update and delete, and the error of each failure.

import Foundation
import OMRecords
import OMSecrets
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct CredentialStoreTests {
    private let home: Home
    private let url = "https://host.example.com:8443/login?a=1%2F2"

    init() throws {
        home = try Home()
        try home.create()
    }

    private func store(level: ProtectionLevel? = .highest) throws -> CredentialStore<Vault> {
        CredentialStore(try home.unlock(), level: level)
    }

    private func credential(
        _ user: String?, _ password: String?, tenant: String? = nil, properties: [String: String] = [:]
    ) throws -> Credential {
        var credential = Credential()
        if let user { try credential.put(secret(user), as: .username) }
        if let password { try credential.put(secret(password), as: .password) }
        if let tenant { try credential.put(secret(tenant), as: .tenant) }
        for (name, value) in properties { try credential.put(secret(value), asProperty: name) }
        return credential
    }

    private func read(_ key: String, _ field: Credential.Field) throws -> String? {
        guard let credential = try store().credential(key: key) else { return nil }
        return credential.with(field) { text($0) }
    }

    private func contains(_ key: String) throws -> Bool {
        switch try store().credential(key: key) {
        case .some: true
        case .none: false
        }
    }

    @Test func whatWasAddedIsReadAfterReopening() throws {
        try store().add(credential("müller", "p\u{0}w", tenant: "acme", properties: ["role": "admin"]), key: url)
        #expect(try read(url, .username) == "müller")
        #expect(try read(url, .password) == "p\u{0}w")
        #expect(try read(url, .tenant) == "acme")
        guard let found = try store().credential(key: url) else { throw Missing() }
        #expect(found.properties == ["role"])
        #expect(found.withProperty("role") { text($0) } == "admin")
    }

    @Test func addReplacesTheWholeAndUpdateKeepsTheRest() throws {
        try store().add(credential("a", "1", tenant: "t"), key: "k")
        try store().update(credential(nil, "2"), key: "k")
        #expect(try read("k", .username) == "a")
        #expect(try read("k", .password) == "2")
        #expect(try read("k", .tenant) == "t")
        try store().add(credential("b", "3"), key: "k")
        #expect(try read("k", .username) == "b")
        #expect(try read("k", .tenant) == nil)
    }

    @Test func updateOfAnAbsentKeyCreatesIt() throws {
        try store().update(credential("a", "1"), key: "new")
        #expect(try read("new", .password) == "1")
    }

    @Test func addingTheSameAgainIsNoError() throws {
        try store().add(credential("a", "1"), key: "k")
        try store().add(credential("a", "1"), key: "k")
        #expect(try home.unlock().item(ItemName("credential.k")).revision == 1)
    }

    @Test func deletedIsGoneWithItsKeyAndItsHistory() throws {
        try store().add(credential("canary-user", "canary-one"), key: url)
        try store().add(credential("canary-user", "canary-two"), key: url)
        #expect(try store().deleteCredential(key: url) == .complete)
        #expect(try !contains(url))
        #expect(try store().keys().isEmpty)
        #expect(try home.unlock().items(trashed: true).isEmpty)
        #expect(throws: VaultError.noItem(try CredentialItemName.name(.credential, url))) {
            try store().deleteCredential(key: url)
        }
    }

    @Test func oneInTheTrashGoesTooAndForeignNamesAreNoKeys() throws {
        try store().add(credential("canary", "1"), key: "k")
        try home.unlock().edit { edit throws(VaultError) in _ = try edit.trash(ItemName("credential.k")) }
        try store().add(credential("a", "2"), key: "k")
        for name in ["credential.~x", "credential.%zz", "credential.%41", "credential.%+5"] { try home.add(name, ["f": "1"]) }
        #expect(try store().keys().map { $0.key } == ["k"])
        #expect(try store().deleteCredential(key: "k") == .complete)
        #expect(try home.unlock().items(trashed: true).isEmpty)
    }

    @Test func aPropertyHasLabelAndDescriptionAndLosesAllWithItsKey() throws {
        var property = StoredProperty()
        try property.put(secret("v"), as: .value)
        try property.put(secret("l"), as: .label)
        try property.put(secret("d"), as: .description)
        try store().add(property, key: "p")
        guard let found = try store().property(key: "p") else { throw Missing() }
        #expect(found.with(.value) { text($0) } == "v")
        #expect(found.with(.label) { text($0) } == "l")
        #expect(found.with(.description) { text($0) } == "d")
        #expect(try !contains("p"))
        _ = try store().deleteProperty(key: "p")
        guard case .none = try store().property(key: "p") else { throw Missing() }
    }

    @Test func anEmptyKeyIsTheSDKsError() throws {
        #expect(VaultError.emptyKey.sdkCode == 10501)
        #expect(throws: VaultError.emptyKey) { try store().add(credential("a", "1"), key: "") }
        #expect(throws: VaultError.emptyKey) { try contains("") }
        #expect(throws: VaultError.emptyKey) { try store().deleteProperty(key: "") }
    }

    @Test func keysThatWouldMeetAsNamesStayApart() throws {
        let long = String(repeating: "é", count: 400)
        let keys = ["a:b", "a%3Ab", "~", "%7E", "a\u{1}", "ü", long, long + "x", " ", "a/b"]
        for key in keys { try store().add(credential(key, "1"), key: key) }
        for key in keys { #expect(try read(key, .username) == key) }
        let stored = try store().keys().map { $0.key }
        #expect(Set(stored) == Set(keys))
        #expect(stored.count == keys.count)
    }

    @Test func valuesMayBeEmptyUnicodeOrLarge() throws {
        let large = String(repeating: "x", count: 1 << 16)
        for value in ["", "påsswörd 🔑", large] {
            try store().add(credential(value, value), key: "k")
            #expect(try read("k", .password) == value)
        }
    }

    @Test func nothingGivenMeansTheHighestLevel() throws {
        try store().add(credential("a", "1"), key: "k")
        try store(level: nil).add(credential("a", "1"), key: "d")
        #expect(try home.unlock().item(ItemName("credential.k")).level == .highest)
        #expect(try home.unlock().item(ItemName("credential.d")).level == .whenUnlocked)
    }

    @Test func missingLockedAndDamagedAreThreeAnswers() throws {
        try store().add(credential("a", "1"), key: "k")
        let file = try VaultFile.open(home.vault, device: home.device())
        let locked = CredentialStore(try file.openAlways())
        // A locked vault cannot say whether the key exists, so it returns no nil and allows no write.
        #expect(throws: VaultError.levelLocked(.highest)) { try locked.add(credential("a", "1"), key: "k") }
        #expect(VaultError.levelLocked(.highest).sdkCode == 70016)
        #expect(try !contains("other"))
        try home.tamper("UPDATE records SET body = zeroblob(length(body))")
        #expect(throws: VaultError.corrupt(.record)) { try contains("k") }
    }

    @Test func twoWritersOfOneKeyBothSucceed() async throws {
        let vault = home.vault
        let device = try home.device()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    do {
                        let file = try VaultFile.open(vault, device: device)
                        let slot = file.slots[0]
                        let key = try slot.key(stretching: secret("pass word"))
                        let store = CredentialStore(try file.unlock(slot, with: key))
                        var credential = Credential()
                        try credential.put(secret("\(number)"), as: .password)
                        try store.add(credential, key: "k")
                    } catch { Issue.record(error) }
                }
            }
        }
        #expect(try read("k", .password) != nil)
        #expect(try home.unlock().item(ItemName("credential.k")).revision == 8)
    }
}

private struct Missing: Error {}

private func text(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { String(decoding: [UInt8](copying: $0), as: UTF8.self) }
}
