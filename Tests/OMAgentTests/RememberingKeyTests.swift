// The key for remembered passwords: when the agent lends it, and how it is derived.

import OMRecords
import OMSecrets
import OMStorage
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol
@testable import OMVault

@Suite("The key for remembered passwords", .onOwnThreads) struct RememberingKeyTests {
    private static let levels = ProtectionLevel.allCases.filter { $0.availability != .always }

    /// A value that tells one key from another.
    private func key(_ home: AgentHome, _ level: ProtectionLevel) throws -> [UInt8]? {
        guard let key = try home.client.rememberingKey(home.paths, of: level) else { return nil }
        return key.fingerprint(Context(.rememberKey))
    }

    @Test("the agent lends the key only while its level is open")
    func levels() throws {
        let home = try AgentHome()
        try home.makeVault()
        for level in Self.levels { #expect(try key(home, level) == nil) }
        try home.unlock()
        let lent = try Self.levels.map { try key(home, $0) }
        #expect(Set(lent).count == 4 && !lent.contains(nil))
        try home.client.lock(home.paths, forgets: false)
        for (level, known) in zip(Self.levels, lent) {
            #expect(try key(home, level) == (level.availability == .afterFirstUnlock ? known : nil))
        }
        try home.client.lock(home.paths, forgets: true)
        for level in Self.levels { #expect(try key(home, level) == nil) }
        try home.unlock()
        #expect(try Self.levels.map { try key(home, $0) } == lent, "the remembered password opens again")
    }

    @Test("after another process rekeys the vault, the agent lends no old key and drops the vault")
    func rekeyed() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        #expect(try key(home, .whenUnlocked) != nil)
        let vault = try home.open()
        let slots = try vault.settings().slots
        _ = try vault.rekey(
            slots: [.init(id: slots[0].id, try NewSlot(password: Password(bytes("pass word")), .floor))], expecting: slots)
        for level in Self.levels { #expect(try key(home, level) == nil) }
        #expect(try home.client.status().vaults.isEmpty)
    }

    @Test("the key is derived from the level's class key, and for a device-only level also from the device key")
    func derivation() throws {
        let home = try AgentHome()
        try home.makeVault()
        try home.unlock()
        let keys = try home.open().classKeys()
        let device = try #require(DeviceKeys(home))
        for level in Self.levels {
            var expected: [UInt8] = []
            keys.withKey(of: level) { classKey in
                let context = Context(.rememberLevel, .bytes(keys.vault), .number(UInt64(level.code)))
                let key: Key<Remembering> =
                    level.isDeviceOnly
                    ? classKey.derive(context, mixing: device.key.key) : classKey.derive(context)
                expected = key.fingerprint(Context(.rememberKey))
            }
            #expect(try key(home, level) == expected)
        }
    }
}

/// Holds a move-only value, for `#require`.
private final class DeviceKeys {
    let key: DeviceKey

    init?(_ home: AgentHome) {
        guard let folder = try? DeviceFolder(home.root + "/device"), let key = try? folder.load() else { return nil }
        self.key = key
    }
}
