internal import OMVault

/// A vault that was just unlocked, with the slot and the secret that unlocked it.
struct UnlockedVault: ~Copyable {
    let vault: Vault
    let slot: KeySlot
    let secret: SlotSecret

    consuming func intoVault() -> Vault { vault }
}
