// Key pairs in the vault: one item a tag, its name `keypair.TAG`, its fields `private` (PKCS#8 in DER) and `public`
// (SubjectPublicKeyInfo in DER).

internal import OMCrypto
internal import OMRecords
internal import OMSecrets
internal import OMVault

struct VaultKeyPairs: ~Copyable, KeyPairStore {
    private let access: VaultAccess
    private let vault: Vault
    private let level: ProtectionLevel?
    /// Where the pair goes whatever its tag; nil for the item of the tag.
    private let item: String?

    init(_ access: VaultAccess, _ vault: consuming Vault, level: ProtectionLevel? = nil, item: String? = nil) {
        self.access = access
        self.vault = vault
        self.level = level
        self.item = item
    }

    func contains(_ name: String) throws(Failure) -> Bool {
        // An item without this field is no key pair, whatever its name.
        do throws(VaultError) {
            let path = try path(name)
            return try vault.item(path.item).fields.contains { $0.name == path.field }
        } catch {
            if case .noItem = error { return false }
            throw Failure(error, vault: access.place.name)
        }
    }

    func read(_ name: String) throws(Failure) -> SecretBytes? {
        do throws(VaultError) { return try vault.secret(path(name)) } catch {
            if case .noItem = error { return nil }
            throw Failure(error, vault: access.place.name)
        }
    }

    mutating func write(
        _ tag: KeyPairTag, privateHalf: borrowing SecretBytes, publicHalf: borrowing SecretBytes
    ) throws(Failure) {
        let held = [HeldSecret(privateHalf.duplicate()), HeldSecret(publicHalf.duplicate())]
        try access.run { () throws(VaultError) in
            let names = [try path(tag.privateName), try path(tag.publicName)]
            try vault.edit { edit throws(VaultError) in
                try edit.add(names[0].item, level: level) { draft throws(VaultError) in
                    for (name, half) in zip(names, held) { try draft.put(half.secret, at: name.field) }
                }
            }
        }
    }

    mutating func delete(_ tag: KeyPairTag) throws(Failure) {
        let others = try access.run { () throws(VaultError) in
            let names = [try path(tag.privateName).field, try path(tag.publicName).field]
            return try vault.item(try path(tag.privateName).item).fields.filter { !names.contains($0.name) }
        }
        guard others.isEmpty else {
            let names = others.map(\.name.text).joined(separator: ", ")
            throw Failure(
                .usage, "the item holds more than a key pair: \(names)",
                hint: "omvault rm \(item ?? VaultReference.tagPrefix + tag.text) removes all of it")
        }
        try access.run { () throws(VaultError) in
            let name = try path(tag.privateName).item
            try vault.edit { edit throws(VaultError) in try edit.remove(name) }
            _ = try vault.purgeLog()
        }
    }

    /// `TAG.private` is the field `private` of the item `keypair.TAG`.
    private func path(_ name: String) throws(VaultError) -> FieldPath {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let item = item ?? VaultReference.tagPrefix + name[..<dot]
        return FieldPath(try ItemName(item), try FieldName(String(name[dot...].dropFirst())))
    }
}
