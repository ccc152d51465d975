internal import OMItems
internal import OMShell
internal import OMVault

/// How a command reads an item: from which vault, unlocked how, and in which version.
struct ItemReading {
    let access: VaultAccess
    let unlock: UnlockOptions
    /// The revision of an earlier version. Nil for the newest.
    let revision: UInt64?

    /// - Parameter withSecrets: Whether to read the concealed values too. An earlier version always comes with them.
    func item(
        _ name: ItemName, withSecrets: Bool, _ secrets: borrowing SecretSources
    ) throws(Failure) -> ItemReply {
        withSecrets || revision != nil
            ? try access.read(.secrets(name, revision: revision), secrets, unlock)
            : try access.read(.item(name), secrets, unlock)
    }
}
