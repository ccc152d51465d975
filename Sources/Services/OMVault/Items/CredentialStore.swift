// The SDK's credential store: credentials and properties under keys that are often URLs.
// SDK chapter 9, `OMCredentialStore`.

public import OMItems
public import OMRecords
internal import OMSecrets

/// The SDK's store, with its rules. `add` and `update` both replace an existing item, or create it. Parts that the call
/// does not give stay under `update`, and are removed under `add`. Deleting removes an item for good, with its history.
/// The SDK sets user name and password to null instead, but then the key would still be listed.
///
/// Missing, locked and damaged are three different results (SDK: nil, 70016, nil).
public struct CredentialStore<Backend: ItemBackend & ~Copyable>: ~Copyable {
    private let backend: Backend
    private let level: ProtectionLevel?

    /// - Parameter level: The level of new items. Nil for the vault's default. The SDK's default is the highest.
    public init(_ backend: consuming Backend, level: ProtectionLevel? = .highest) {
        self.backend = backend
        self.level = level
    }

    // MARK: - Credentials

    /// Stores a credential. It replaces the credential under `key`, if there is one.
    ///
    /// - Throws: ``VaultError/emptyKey`` (SDK 10501); the backend's errors.
    public borrowing func add(_ credential: consuming Credential, key: String) throws(Backend.Problem) {
        try store(credential.values, .credential, key, keepsRest: false)
    }

    /// Changes the given parts and keeps the others. If there is no credential, this stores it.
    public borrowing func update(_ credential: consuming Credential, key: String) throws(Backend.Problem) {
        try store(credential.values, .credential, key, keepsRest: true)
    }

    /// - Returns: nil if there is none.
    public borrowing func credential(key: String) throws(Backend.Problem) -> Credential? {
        guard let values = try read(.credential, key) else { return nil }
        var credential = Credential()
        credential.values = values
        return credential
    }

    /// Removes the credential and every version of it for good.
    ///
    /// - Returns: Whether its bytes are gone from the write-ahead log too.
    /// - Throws: ``VaultError/noItem(_:)`` (SDK 10523).
    public borrowing func deleteCredential(key: String) throws(Backend.Problem) -> PurgeResult {
        try delete(.credential, key)
    }

    // MARK: - Properties

    /// Stores a property with its label and description. It replaces the property under `key`, if there is one.
    ///
    /// - Throws: Like ``add(_:key:)``.
    public borrowing func add(_ property: consuming StoredProperty, key: String) throws(Backend.Problem) {
        try store(property.values, .property, key, keepsRest: false)
    }

    /// Changes the given parts and keeps the others.
    public borrowing func update(_ property: consuming StoredProperty, key: String) throws(Backend.Problem) {
        try store(property.values, .property, key, keepsRest: true)
    }

    /// - Returns: nil if there is none.
    public borrowing func property(key: String) throws(Backend.Problem) -> StoredProperty? {
        guard let values = try read(.property, key) else { return nil }
        var property = StoredProperty()
        property.values = values
        return property
    }

    /// Removes the property and everything stored with it, for good.
    public borrowing func deleteProperty(key: String) throws(Backend.Problem) -> PurgeResult {
        try delete(.property, key)
    }

    // MARK: - All of them

    /// The name of the item for `key`.
    ///
    /// - Throws: ``VaultError/emptyKey``, ``VaultError/tooLarge`` above 64 KiB.
    package static func itemName(_ kind: CredentialItemKind, _ key: String) throws(VaultError) -> ItemName {
        try CredentialItemName.name(kind, key)
    }

    /// The field that holds a key too long for a name.
    package static var keyField: FieldName { CredentialItemName.keyField }

    /// The stored keys, in the order of their items' names.
    public borrowing func keys() throws(Backend.Problem) -> [(kind: CredentialItemKind, key: String, item: Item)] {
        guard case .items(let items) = try backend.perform(.items(trashed: false)) else { return [] }
        var found: [(kind: CredentialItemKind, key: String, item: Item)] = []
        for item in items {
            // An item whose name does not come from a key was added by hand. It is no credential.
            guard let kind = CredentialItemName.kind(of: item.name), let key = try key(of: item),
                (try? CredentialItemName.name(kind, key)) == item.name
            else { continue }
            found.append((kind, key, item))
        }
        return found
    }

    // MARK: - Steps

    private borrowing func key(of item: Item) throws(Backend.Problem) -> String? {
        if let key = CredentialItemName.key(of: item.name) { return key }
        guard item.fields.contains(where: { $0.name == CredentialItemName.keyField }) else { return nil }
        let path = FieldPath(item.name, CredentialItemName.keyField)
        // The key of a credential is in its name too, so a conflict copy with another one is none of this item.
        guard case .secret(let secret) = try backend.perform(.secret(path, revision: item.revision)) else { return nil }
        return secret.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) }
    }

    private borrowing func name(_ kind: CredentialItemKind, _ key: String) throws(Backend.Problem) -> ItemName {
        do throws(VaultError) { return try CredentialItemName.name(kind, key) } catch { throw Backend.problem(error) }
    }

    private borrowing func read(_ kind: CredentialItemKind, _ key: String) throws(Backend.Problem) -> FieldValues? {
        let name = try name(kind, key)
        do throws(Backend.Problem) {
            guard case .secrets(_, let values) = try backend.perform(.secrets(name, revision: nil)) else { return nil }
            return values
        } catch {
            guard case .missing = Backend.itemProblem(of: error) else { throw error }
            return nil
        }
    }

    private borrowing func delete(_ kind: CredentialItemKind, _ key: String) throws(Backend.Problem) -> PurgeResult {
        let name = try name(kind, key)
        guard case .removed(_, let purge) = try backend.perform(.purge([name], ifRevision: nil)) else { return .pending }
        // A trashed item of the same key, trashed by hand, must be deleted too.
        do throws(Backend.Problem) {
            guard case .removed(_, let rest) = try backend.perform(.purgeTrash([name])) else { return .pending }
            return rest == .pending ? .pending : purge ?? .complete
        } catch {
            guard case .missing = Backend.itemProblem(of: error) else { throw error }
            return purge ?? .complete
        }
    }

    /// Adds or changes the item. It tries again if another process adds or deletes the same key meanwhile.
    private borrowing func store(
        _ values: consuming FieldValues, _ kind: CredentialItemKind, _ key: String, keepsRest: Bool
    ) throws(Backend.Problem) {
        let name = try name(kind, key)
        var attemptsLeft = 100
        while true {
            attemptsLeft -= 1
            do throws(Backend.Problem) {
                guard let item = try current(name) else {
                    return try make(name, key, values)
                }
                return try change(item, values, keepsRest: keepsRest)
            } catch {
                switch Backend.itemProblem(of: error) {
                case .unchanged: return
                case .missing, .exists, .changedMeanwhile: guard attemptsLeft > 0 else { throw error }
                case .none: throw error
                }
            }
        }
    }

    private borrowing func current(_ name: ItemName) throws(Backend.Problem) -> Item? {
        do throws(Backend.Problem) {
            guard case .item(let item) = try backend.perform(.item(name)) else { return nil }
            return item
        } catch {
            guard case .missing = Backend.itemProblem(of: error) else { throw error }
            return nil
        }
    }

    private borrowing func make(
        _ name: ItemName, _ key: String, _ values: borrowing FieldValues
    ) throws(Backend.Problem) {
        var fields = try copy(values)
        if CredentialItemName.key(of: name) == nil {
            do throws(VaultError) {
                try fields.put(SecretBytes(copying: Array(key.utf8)), at: CredentialItemName.keyField)
            } catch { throw Backend.problem(error) }
        }
        _ = try backend.perform(.add(name, level: level, ItemChange(set: fields)))
    }

    private borrowing func change(
        _ item: Item, _ values: borrowing FieldValues, keepsRest: Bool
    ) throws(Backend.Problem) {
        let given = values.names
        let gone =
            keepsRest
            ? [] : item.fields.map(\.name).filter { !given.contains($0) && $0 != CredentialItemName.keyField }
        let change = ItemChange(set: try copy(values), removing: gone)
        _ = try backend.perform(.update(item.name, change, ifRevision: item.revision))
    }

    private borrowing func copy(_ values: borrowing FieldValues) throws(Backend.Problem) -> FieldValues {
        var copy = FieldValues()
        do throws(VaultError) {
            try values.forEach { (name, secret) throws(VaultError) in try copy.put(secret.duplicate(), at: name) }
        } catch { throw Backend.problem(error) }
        return copy
    }
}
