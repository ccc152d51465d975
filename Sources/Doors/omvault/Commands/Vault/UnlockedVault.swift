internal import OMVault

/// A vault that was just unlocked, and what unlocked it.
struct UnlockedVault: ~Copyable {
    let vault: Vault
    let slot: KeySlot
    let secret: SlotSecret

    consuming func intoVault() -> Vault { vault }
}
