// Where a key pair is put in a vault: under a tag, or as an item of a name of its own.

internal import OMCrypto
internal import OMSecrets
internal import OMVault

struct KeyPairPlace {
    private let reference: VaultReference
    private let tag: String?

    /// Nil when neither names a place in a vault.
    init?(tag: String?, output: String?) throws {
        if let tag {
            reference = VaultReference(tag: try KeyPairTag(tag))
        } else if let found = output.flatMap({ VaultReference($0) }) {
            reference = found
        } else {
            guard let output, output.hasPrefix("om://") else { return nil }
            throw Failure(.usage, "a place in a vault is om://VAULT/ITEM")
        }
        self.tag = tag
        guard reference.field == nil else {
            throw Failure(.usage, "a pair fills an item of its own", hint: "om://VAULT/ITEM, without a field")
        }
    }

    /// Stores the pair that `make` gives once the vault is unlocked.
    func store(
        secrets: borrowing SecretSources, unlock: UnlockOptions, level: LevelOptions, door: Door,
        make: () throws -> PrivateKey
    ) throws -> PlacedKeyPair {
        let access = try VaultAccess(door, vault: reference.vault)
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, unlock)
        var pairs = VaultKeyPairs(access, level: chosen, item: reference.item)
        let key = try make()
        do { try StoredKeyPair.add(key, tag: tag ?? reference.item, to: &pairs) } catch CryptoError.keyPairExists {
            throw Failure(
                .exists, "\"\(reference.item)\" is in vault \"\(access.place.name)\" already",
                hint: tag.map { "omvault crypto keyrm --tag \($0)" } ?? "omvault rm \(reference.item)"
            ).with(sdkCode: CryptoError.keyPairExists.sdkCode)
        }
        return PlacedKeyPair(key: key, vault: access.place.name, item: reference.item)
    }
}

/// A pair, and where it is now.
struct PlacedKeyPair: ~Copyable {
    let key: PrivateKey
    let vault: String
    let item: String
}
