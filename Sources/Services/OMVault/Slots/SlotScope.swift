// The file that a slot is in. Format: docs/formats/vault-format.md, "Keys".

/// What the keys of a slot are bound to, beside the slot itself.
struct SlotScope: Hashable, Sendable {
    /// The vault's id: 16 bytes.
    let vault: [UInt8]
    /// The fingerprint of the device key: 32 bytes. The files of all devices have one vault id.
    let device: [UInt8]
    /// That of the class keys.
    let epoch: UInt32
}
