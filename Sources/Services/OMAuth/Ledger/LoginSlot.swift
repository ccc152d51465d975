internal import OMSecrets
internal import OMStorage

/// A random unlocking key, wrapped under a password and the device key.
struct LoginSlot: Hashable, Sendable {
    /// Of the slot, not of the row around it: what a slot is bound to must not change while it lives.
    static let version: UInt8 = 1

    let derivation: SlotKeyDerivation
    let commitment: [UInt8]
    let box: SealedBox

    /// A slot around a new key, or around the one that the slot before it held.
    init(
        _ derivation: SlotKeyDerivation, _ stretched: borrowing Key<Unlocking>, of id: LoginID, on device: borrowing DeviceKey,
        holding unlock: borrowing Key<Unlocking> = .random()
    ) {
        let keys = SlotKeys(stretched, device, id)
        let header = derivation.header(id, device.fingerprint())
        self.derivation = derivation
        commitment = keys.proven.commitment(to: header)
        box = keys.wrapping.wrap(unlock, context: Self.context(id, header))
    }

    static func context(_ id: LoginID, _ header: [UInt8]) -> Context {
        Context(.loginUnlock, .bytes(id.bytes), .bytes(header))
    }
}

/// The keys of one try. `proven` needs the password *and* the device key: a copied ledger alone cannot be guessed at.
struct SlotKeys: ~Copyable {
    let proven: Key<Deriving>
    let wrapping: Key<Wrapping>

    init(_ stretched: borrowing Key<Unlocking>, _ device: borrowing DeviceKey, _ id: LoginID) {
        let context = Context(.loginSlot, .bytes(id.bytes))
        proven = stretched.derive(context, mixing: device.key, as: Deriving.self)
        wrapping = proven.derive(Context(.slotWrap, .bytes(id.bytes)), as: Wrapping.self)
    }
}
