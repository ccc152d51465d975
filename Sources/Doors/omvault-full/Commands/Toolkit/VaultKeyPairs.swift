// Key pairs in the vault. Each tag has one item `keypair.TAG` with the fields `private` (PKCS#8 in DER) and `public`
// (SubjectPublicKeyInfo in DER).

internal import OMCrypto
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

struct VaultKeyPairs: ~Copyable, KeyPairStore {
    /// The vault, already unlocked.
    private let access: VaultAccess
    private let level: ProtectionLevel?
    /// The item for the pair, independent of its tag. Nil for the item of the tag.
    private let item: String?

    init(_ access: VaultAccess, level: ProtectionLevel? = nil, item: String? = nil) {
        self.access = access
        self.level = level
        self.item = item
    }

    func contains(_ name: String) throws(Failure) -> Bool {
        // An item without this field is not a key pair, whatever its name is.
        do throws(Failure) {
            let path = try path(name)
            return try access.perform(.item(path.item)).item().fields.contains { $0.name == path.field }
        } catch {
            if error.status == .notFound { return false }
            throw error
        }
    }

    func read(_ name: String) throws(Failure) -> SecretBytes? {
        let path = try path(name)
        guard try contains(name) else { return nil }
        return try access.secret(path)
    }

    mutating func write(
        _ tag: KeyPairTag, privateHalf: borrowing SecretBytes, publicHalf: borrowing SecretBytes
    ) throws(Failure) {
        let (privatePath, publicPath) = (try path(tag.privateName), try path(tag.publicName))
        var values = FieldValues()
        do throws(VaultError) {
            try values.put(privateHalf.duplicate(), at: privatePath.field)
            try values.put(publicHalf.duplicate(), at: publicPath.field)
        } catch { throw Failure(error, vault: access.location.name) }
        _ = try access.perform(.add(privatePath.item, level: level, ItemChange(set: values)))
    }

    mutating func delete(_ tag: KeyPairTag) throws(Failure) {
        let names = [try path(tag.privateName).field, try path(tag.publicName).field]
        let name = try path(tag.privateName).item
        let others = try access.perform(.item(name)).item().fields.filter { !names.contains($0.name) }
        guard others.isEmpty else {
            let listed = others.map(\.name.text).joined(separator: ", ")
            throw Failure(
                .usage, "the item holds more than a key pair: \(listed)",
                hint: "omvault rm \(item ?? ValueReference.tagPrefix + tag.text) removes the whole item")
        }
        _ = try access.perform(.purge([name], ifRevision: nil))
    }

    /// `TAG.private` is the field `private` of the item `keypair.TAG`.
    private func path(_ name: String) throws(Failure) -> FieldPath {
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        let item = item ?? ValueReference.tagPrefix + name[..<dot]
        return try access.run { () throws(VaultError) in
            FieldPath(try ItemName(item), try FieldName(String(name[dot...].dropFirst())))
        }
    }
}
