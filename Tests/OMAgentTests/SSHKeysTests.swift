// Keys of SSH in the agent: which are offered, and what they sign.

import Foundation
import OMCrypto
import OMRecords
import OMSecrets
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMItems
@testable import OMVault

@Suite("Keys of SSH in the agent") struct SSHKeysTests {
    /// Adds a key as an item.
    private static func add(
        _ name: String, _ text: borrowing SecretBytes, to vault: borrowing Vault, field: String = "private-key",
        password: String? = nil, level: ProtectionLevel = ProtectionLevel(.whenUnlocked), type: ItemType = .sshKey,
        tags: [String] = []
    ) throws {
        var values = FieldValues()
        try values.put(text.duplicate(), at: FieldName(field))
        if let password { try values.put(bytes(password), at: FieldName("passphrase")) }
        var change = ItemChange(set: values)
        change.type = .becomes(type)
        change.addedTags = try tags.map { try ItemTag($0) }
        _ = try vault.perform(.add(ItemName(name), level: level, change))
    }

    private static func openSSH(_ kind: KeyKind) throws -> SecretBytes { try PrivateKey.generate(kind).unencryptedOpenSSH() }

    private static func handle(_ home: AgentHome) throws -> VaultHandle {
        let table = VaultTable(VaultTickets(home.socket.folder))
        #expect(try table.unlock(home.paths, home.open().classKeys(), openedBy: nil, idle: .max >> 1, hard: .max >> 1) != nil)
        return try #require(table[home.paths])
    }

    private static func offered(_ handle: VaultHandle) throws -> [OfferedSSHKey] {
        guard case .sshKeys(let keys) = handle.sshKeys() else { throw Unexpected() }
        return keys
    }

    private struct Unexpected: Error {}

    private static func signature(
        _ handle: VaultHandle, _ key: OfferedSSHKey, _ data: [UInt8], flags: UInt32 = 2, named item: ItemName? = nil
    ) -> [UInt8]? {
        let signing = SSHSigning(item: item ?? key.item, publicKey: key.publicKey, data: data, flags: flags)
        guard case .signed(let made) = handle.sign(signing) else { return nil }
        return made.withBytes { [UInt8](copying: $0) }
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bytes.count >> $0) } + bytes
    }

    private static let file =
        Array("SSHSIG".utf8) + ["git", "", "sha512"].flatMap { string(Array($0.utf8)) }
        + string([UInt8](repeating: 9, count: 64))

    @Test("a hidden key, an RSA key of 1024 bits and a text that is no key are not offered")
    func offered() throws {
        let home = try AgentHome()
        try home.makeVault()
        do {
            let vault = try home.open()
            try Self.add("a", Self.openSSH(.ed25519), to: vault)
            try Self.add(
                "b", PrivateKey.generate(.ec(.p384)).unencryptedPKCS8(), to: vault, field: "private", tags: ["ssh-confirm"])
            try Self.add(
                "c", PrivateKey.generate(.rsa(bits: 2048)).encryptedOpenSSH(password: bytes("pw")), to: vault, password: "pw")
            try Self.add("locked", PrivateKey.generate(.ed25519).encryptedOpenSSH(password: bytes("pw")), to: vault)
            try Self.add("wrong", PrivateKey.generate(.ed25519).encryptedOpenSSH(password: bytes("pw")), to: vault, password: "x")
            try Self.add("hidden", Self.openSSH(.ed25519), to: vault, tags: ["ssh-off"])
            try Self.add("short", Insecure.generateRSA(bits: 1024).unencryptedOpenSSH(), to: vault)
            try Self.add("agreement", PrivateKey.generate(.x25519).unencryptedPKCS8(), to: vault)
            try Self.add("text", bytes("no key"), to: vault)
            try Self.add("other", Self.openSSH(.ed25519), to: vault, type: .note)
            try Self.add("field", Self.openSSH(.ed25519), to: vault, field: "key")
        }
        let handle = try Self.handle(home)
        let keys = try Self.offered(handle)
        #expect(keys.map(\.item.text) == ["a", "b", "c"] && keys.map(\.asks) == [false, true, false])
        // The second list has the keys from the cache.
        #expect(try Self.offered(handle) == keys)
        for key in keys {
            let made = try #require(Self.signature(handle, key, Self.file))
            #expect(SSHSignature.isRight(made, of: Self.file, by: key.publicKey))
        }
        #expect(Self.signature(handle, keys[2], Self.file, flags: 0) == nil)
        #expect(try Self.signature(handle, keys[0], Self.file, named: ItemName("hidden")) == nil)
        // A changed item has another key.
        var values = FieldValues()
        try values.put(Self.openSSH(.ed25519), at: FieldName("private-key"))
        _ = try home.open().perform(.update(ItemName("a"), ItemChange(set: values), ifRevision: nil))
        #expect(try Self.offered(handle)[0].publicKey != keys[0].publicKey)
        #expect(Self.signature(handle, keys[0], Self.file) == nil)
    }

    @Test("a key of several items is listed once, with the tags of all")
    func severalItems() throws {
        let home = try AgentHome()
        try home.makeVault()
        let key = try Self.openSSH(.ed25519)
        try Self.add("a", key, to: home.open())
        try Self.add("b", key, to: home.open(), tags: ["ssh-confirm"])
        let handle = try Self.handle(home)
        let keys = try Self.offered(handle)
        #expect(keys.map(\.item.text) == ["a"] && keys[0].asks)
        #expect(Self.signature(handle, keys[0], Self.file) != nil)
        try Self.add("c", key, to: home.open(), tags: ["ssh-off"])
        #expect(try Self.offered(handle) == [])
        #expect(Self.signature(handle, keys[0], Self.file) == nil)
    }

    @Test("the agent reads itself what it signs, and a front gets no other signature")
    func typed() throws {
        let home = try AgentHome()
        try home.makeVault()
        do {
            let vault = try home.open()
            for name in ["a", "b"] { try Self.add(name, Self.openSSH(.ed25519), to: vault) }
        }
        let handle = try Self.handle(home)
        let keys = try Self.offered(handle)
        #expect(Self.signature(handle, keys[0], Self.file) != nil)
        for data in [Array("eyJhbGciOiJFZERTQSJ9.e30".utf8), Self.file + [0], [UInt8](repeating: 0x20, count: 130)] {
            #expect(Self.signature(handle, keys[0], data) == nil)
        }
        #expect(Self.signature(handle, keys[0], Self.file, named: keys[1].item) == nil, "another item's key")
    }

    @Test("a lock takes the keys of when-unlocked from the list, and no request of SSH is a use of the vault")
    func locked() throws {
        let home = try AgentHome()
        try home.makeVault()
        do {
            let vault = try home.open()
            try Self.add("shut", Self.openSSH(.ed25519), to: vault)
            try Self.add("left", Self.openSSH(.ed25519), to: vault, level: ProtectionLevel(.afterFirstUnlock))
        }
        let handle = try Self.handle(home)
        let keys = try Self.offered(handle)
        #expect(keys.map(\.item.text) == ["left", "shut"])
        handle.withState { $0.lastUse = 5 }
        _ = try Self.offered(handle)
        #expect(Self.signature(handle, keys[1], Self.file) != nil)
        #expect(handle.withState { $0.lastUse } == 5)
        handle.lock(forgets: false)
        #expect(try Self.offered(handle) == [keys[0]])
        #expect(Self.signature(handle, keys[0], Self.file) != nil && Self.signature(handle, keys[1], Self.file) == nil)
        handle.lock(forgets: true)
        guard case .locked(.locked) = handle.sshKeys() else { throw Unexpected() }
        #expect(Self.signature(handle, keys[0], Self.file) == nil)
    }
}
