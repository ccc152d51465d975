// The device key in the keys that need it. The header's fingerprint is not compared here, because it would refuse first.

import OMRecords
import OMSecrets
import OMStorage
import Testing

@testable import OMItems
@testable import OMVault

@Suite struct DeviceKeyTests {
    private let vault = Random.bytes(16)

    @Test(
        "a password slot and a login slot open under this device's key only, and the two portable kinds under any",
        arguments: KeySlot.Kind.allCases)
    func slots(kind: KeySlot.Kind) async throws {
        let new =
            switch kind {
            case .password: try NewSlot(password: Password(secret("pass word")), .floor)
            case .recovery: try NewSlot(recovery: .random(), .floor)
            case .keyFile: NewSlot(keyFile: .random())
            case .login: NewSlot(login: Random.bytes(16), key: .random())
            case .sharedRecovery: try NewSlot(recoveryKey: MontgomeryPoint.publicKey(of: .random()))
            }
        let device = DeviceKey(.random())
        let slot = KeySlot(new, id: 1, created: 0, root: .random(), in: .somewhere(vault), device: device)
        func refusal(_ device: consuming DeviceKey?) -> VaultError? {
            do throws(VaultError) { _ = try slot.unwrap(with: new.key, device: device) } catch { return error }
            return nil
        }
        #expect(refusal(device.duplicate()) == nil)
        let (another, none): (VaultError?, VaultError?) =
            switch kind {
            case .password: (.cannotUnlock, .deviceKeyMissing)
            case .login: (.staleLogin(1), .deviceKeyMissing)
            case .recovery, .keyFile, .sharedRecovery: (nil, nil)
            }
        #expect(refusal(DeviceKey(.random())) == another)
        #expect(refusal(nil) == none)
    }

    @Test("a level's key opens only under all keys that its wrap names: the root key, the device key, or both")
    func levels() async throws {
        let root = Key<Deriving>.random()
        let device = DeviceKey(.random())
        let ring = ClassKeyring(root: root.duplicate(), device: device.duplicate())
        let otherDevice = ClassKeyring(root: root.duplicate(), device: DeviceKey(.random()))
        let otherRoot = ClassKeyring(root: .random(), device: device.duplicate())
        for level in ProtectionLevel.allCases {
            for wrap in ring.wraps(.random(), level, vault: vault, epoch: 1) {
                let refused = (isRefused(wrap, by: ring), isRefused(wrap, by: otherDevice), isRefused(wrap, by: otherRoot))
                #expect(refused == (false, wrap.under != .root, wrap.under != .device), "\(level) under \(wrap.under)")
            }
        }
    }

    private func isRefused(_ wrap: ClassKeyWrap, by ring: borrowing ClassKeyring) -> Bool {
        do throws(VaultError) { _ = try ring.unwrap(wrap, vault: vault, epoch: 1) } catch {
            return error == .corrupt(.header)
        }
        return false
    }
}
