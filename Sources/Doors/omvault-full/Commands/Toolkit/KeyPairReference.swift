// The target of a key pair in a vault: the item of a tag, or an item with any name.

internal import OMCrypto
internal import OMItems
internal import OMShell
internal import OMVault

struct KeyPairReference {
    private let reference: ValueReference
    private let tag: String?

    /// Nil if neither is a reference into a vault.
    init?(tag: String?, output: String?) throws {
        if let tag {
            reference = try ValueReference(tag: try KeyPairTag(tag))
        } else if let found = output.flatMap(ValueReference.key) {
            reference = found
        } else {
            guard let output, ValueReference.isMeant(by: output) else { return nil }
            throw Failure(usage: "a reference into a vault has the form om://VAULT/ITEM")
        }
        self.tag = tag
        guard reference.field == nil else {
            throw Failure(.usage, "a key pair needs an item of its own", hint: "give om://VAULT/ITEM without a field")
        }
    }

    /// What the hint's command needs to mean the vault of the reference.
    private func vaultOption(_ context: CommandContext) -> String {
        guard let vault = reference.vault else { return "" }
        let usual = try? context.vault(context.userFolders()).name
        return vault == usual ? "" : " --vault \(vault)"
    }

    /// Unlocks the vault, then stores the pair that `make` returns.
    func store(
        secrets: borrowing SecretSources, unlock: UnlockOptions, level: LevelOptions, context: CommandContext,
        make: () throws -> PrivateKey
    ) throws -> SavedKeyPair {
        let access = try VaultAccess(context, vault: reference.vault)
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, unlock)
        var pairs = VaultKeyPairs(access, level: chosen, item: reference.item.text)
        let key = try make()
        do { try StoredKeyPair.add(key, tag: tag ?? reference.item.text, to: &pairs) } catch CryptoError.keyPairExists {
            throw Failure(
                .exists, "\"\(reference.item.text.shown)\" is already in vault \"\(access.location.name)\"",
                hint: tag.map { "choose another tag; omvault crypto keyrm --tag \($0) deletes the old key for good" }
                    ?? "choose another name; omvault rm \(reference.item.text.asShellWord)\(vaultOption(context)) moves the old key to the trash"
            ).with(sdkCode: CryptoError.keyPairExists.sdkCode)
        }
        return SavedKeyPair(key: key, vault: access.location.name, item: reference.item.text)
    }
}

/// A stored key pair, with the vault and the item that hold it.
struct SavedKeyPair: ~Copyable {
    let key: PrivateKey
    let vault: String
    let item: String
}
