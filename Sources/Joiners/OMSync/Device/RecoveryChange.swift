// A change of the recovery code in the roll. Format: docs/formats/sync.md, "The recovery slot of a device".

internal import OMItems
internal import OMParcels
internal import OMVault

/// A change of the recovery code that a device's slot does not follow by itself.
package struct RecoveryChange: Hashable, Sendable {
    /// The device that signed it.
    package let signer: UInt32
    /// In seconds since 1970, by that device's clock.
    package let time: Int64

    init(_ recovery: RollRecovery) {
        (signer, time) = (recovery.entry.contents.signer, recovery.entry.contents.time)
    }

    /// The change that this device has not followed. Nil if it made the code itself, has it in its slot, or got it with its
    /// own `add`.
    init?(_ device: DeviceRoll, _ access: borrowing SyncAccess) {
        guard let own = access.own, let recovery = device.roll.recovery, let addition = device.roll.addition(of: own.device),
            recovery.entry.contents.number > addition, !device.signed.contains(recovery.entry.digest),
            recovery.member.keys.wrapping != access.recoverySlotKey
        else { return nil }
        self.init(recovery)
    }
}
