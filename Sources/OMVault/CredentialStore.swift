// The SDK's credential store over an unlocked vault: credentials and properties under keys that are often URLs.
// SDK chapter 9, `OMCredentialStore`.

public import OMRecords
public import OMSecrets

/// Whoever answers an ``ItemRequest``: a ``Vault``, or a client of the agent that holds its keys.
public protocol ItemKeeper: ~Copyable {
    associatedtype Problem: Error
    borrowing func perform(_ request: consuming ItemRequest) throws(Problem) -> ItemReply
    /// What a problem means to the store. Everything else is the caller's.
    static func meaning(of problem: Problem) -> ItemProblem?
    static func problem(_ error: VaultError) -> Problem
}

/// The problems that the store acts on itself.
public enum ItemProblem: Sendable {
    case missing
    case exists
    case unchanged
    /// Somebody else changed the item between a look at it and the change.
    case changedMeanwhile
}

extension Vault: ItemKeeper {
    public static func meaning(of problem: VaultError) -> ItemProblem? {
        switch problem {
        case .noItem: .missing
        case .itemExists: .exists
        case .unchanged: .unchanged
        case .changedMeanwhile: .changedMeanwhile
        default: nil
        }
    }

    public static func problem(_ error: VaultError) -> VaultError { error }
}

/// What the SDK calls a credential: a user name, a password, a tenant, and further properties. Each may be missing.
public struct Credential: ~Copyable, Sendable {
    /// The names of an item's fields that are a credential's own. Its properties stand beside them as `property.NAME`.
    public enum Field: String, CaseIterable, Sendable { case username, password, tenant }

    fileprivate(set) var values = FieldValues()

    public init() {}

    /// The names of the properties.
    public var properties: [String] {
        values.names.map(\.text).filter { $0.hasPrefix(Self.prefix) }.map { String($0.dropFirst(Self.prefix.count)) }
    }

    /// - Throws: ``VaultError/fieldExists(_:)``, ``VaultError/tooLarge``.
    public mutating func put(_ secret: consuming SecretBytes, as field: Field) throws(VaultError) {
        try values.put(secret, at: FieldName(field.rawValue))
    }

    /// - Throws: as ``put(_:as:)``; ``VaultError/invalidFieldName`` for a name above 55 bytes or with `:`, `/` or `=`.
    public mutating func put(_ secret: consuming SecretBytes, asProperty name: String) throws(VaultError) {
        try values.put(secret, at: FieldName(Self.prefix + name))
    }

    /// Lends one part.
    ///
    /// - Returns: nil when the credential has none.
    public borrowing func with<R, E: Error>(
        _ field: Field, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let name = try? FieldName(field.rawValue) else { return nil }
        return try values.withSecret(name, body)
    }

    /// Lends one property.
    public borrowing func withProperty<R, E: Error>(
        _ name: String, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let name = try? FieldName(Self.prefix + name) else { return nil }
        return try values.withSecret(name, body)
    }

    static let prefix = "property."
}

/// One property with its label and description, as the SDK's `storeProperty` keeps them.
public struct StoredProperty: ~Copyable, Sendable {
    fileprivate var values = FieldValues()

    public enum Field: String, CaseIterable, Sendable { case value, label, description }

    public init() {}

    /// - Throws: ``VaultError/fieldExists(_:)``, ``VaultError/tooLarge``.
    public mutating func put(_ secret: consuming SecretBytes, as field: Field) throws(VaultError) {
        try values.put(secret, at: FieldName(field.rawValue))
    }

    public borrowing func with<R, E: Error>(
        _ field: Field, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let name = try? FieldName(field.rawValue) else { return nil }
        return try values.withSecret(name, body)
    }
}

/// What a stored thing is.
public enum StoredKind: String, Hashable, Sendable, CaseIterable { case credential, property }

/// The SDK's store, by its rules: `add` and `update` both put in place of what was there, or make it; what a call does not
/// give stays under `update` and goes under `add`; deleting removes it for good, with its history. The SDK sets user name
/// and password to null instead; a key would stay behind to be listed.
///
/// Missing, locked and damaged are three errors (SDK: nil, 70016, nil).
public struct CredentialStore<Keeper: ItemKeeper & ~Copyable>: ~Copyable {
    private let keeper: Keeper
    private let level: ProtectionLevel?

    /// - Parameter level: of what is stored new; nil for the vault's default. The SDK's default is the highest.
    public init(_ keeper: consuming Keeper, level: ProtectionLevel? = .highest) {
        self.keeper = keeper
        self.level = level
    }

    // MARK: - Credentials

    /// Stores a credential, in place of the one that stands under `key`.
    ///
    /// - Throws: ``VaultError/emptyKey`` (SDK 10501); what the keeper throws.
    public borrowing func add(_ credential: consuming Credential, key: String) throws(Keeper.Problem) {
        try store(credential.values, .credential, key, keepsRest: false)
    }

    /// Changes the parts that are given and keeps the others; stores the credential where there is none.
    public borrowing func update(_ credential: consuming Credential, key: String) throws(Keeper.Problem) {
        try store(credential.values, .credential, key, keepsRest: true)
    }

    /// - Returns: nil when there is none.
    public borrowing func credential(key: String) throws(Keeper.Problem) -> Credential? {
        guard let values = try read(.credential, key) else { return nil }
        var credential = Credential()
        credential.values = values
        return credential
    }

    /// Removes the credential and every version of it for good.
    ///
    /// - Returns: whether its bytes are gone from the log too.
    /// - Throws: ``VaultError/noItem(_:)`` (SDK 10523).
    public borrowing func deleteCredential(key: String) throws(Keeper.Problem) -> PurgeResult {
        try delete(.credential, key)
    }

    // MARK: - Properties

    /// Stores a property, in place of the one that stands under `key`, with its label and description.
    ///
    /// - Throws: as ``add(_:key:)``.
    public borrowing func add(_ property: consuming StoredProperty, key: String) throws(Keeper.Problem) {
        try store(property.values, .property, key, keepsRest: false)
    }

    /// Changes the parts that are given and keeps the others.
    public borrowing func update(_ property: consuming StoredProperty, key: String) throws(Keeper.Problem) {
        try store(property.values, .property, key, keepsRest: true)
    }

    /// - Returns: nil when there is none.
    public borrowing func property(key: String) throws(Keeper.Problem) -> StoredProperty? {
        guard let values = try read(.property, key) else { return nil }
        var property = StoredProperty()
        property.values = values
        return property
    }

    /// Removes the property and all that is stored with it, for good.
    public borrowing func deleteProperty(key: String) throws(Keeper.Problem) -> PurgeResult {
        try delete(.property, key)
    }

    // MARK: - All of them

    /// The name of the item under which `key` is kept.
    ///
    /// - Throws: ``VaultError/emptyKey``, ``VaultError/tooLarge`` above 64 KiB.
    public static func itemName(_ kind: StoredKind, _ key: String) throws(VaultError) -> ItemName {
        try StoredKey.name(kind, key)
    }

    /// The field in which a key that is too long for a name stands.
    public static var keyField: FieldName { StoredKey.keyField }

    /// What is stored, in the order of the keys' bytes.
    public borrowing func keys() throws(Keeper.Problem) -> [(kind: StoredKind, key: String, item: Item)] {
        guard case .items(let items) = try keeper.perform(.items(trashed: false)) else { return [] }
        var found: [(kind: StoredKind, key: String, item: Item)] = []
        for item in items {
            guard let kind = StoredKey.kind(of: item.name) else { continue }
            found.append((kind, try key(of: item), item))
        }
        return found
    }

    // MARK: - Steps

    private borrowing func key(of item: Item) throws(Keeper.Problem) -> String {
        if let key = StoredKey.key(of: item.name) { return key }
        let path = FieldPath(item.name, StoredKey.keyField)
        guard case .secret(let secret) = try keeper.perform(.secret(path, revision: nil)) else { return item.name.text }
        return secret.withBytes { String(validating: [UInt8](copying: $0), as: UTF8.self) } ?? item.name.text
    }

    private borrowing func name(_ kind: StoredKind, _ key: String) throws(Keeper.Problem) -> ItemName {
        do throws(VaultError) { return try StoredKey.name(kind, key) } catch { throw Keeper.problem(error) }
    }

    private borrowing func read(_ kind: StoredKind, _ key: String) throws(Keeper.Problem) -> FieldValues? {
        let name = try name(kind, key)
        do throws(Keeper.Problem) {
            guard case .secrets(_, let values) = try keeper.perform(.secrets(name, revision: nil)) else { return nil }
            return values
        } catch {
            guard case .missing = Keeper.meaning(of: error) else { throw error }
            return nil
        }
    }

    private borrowing func delete(_ kind: StoredKind, _ key: String) throws(Keeper.Problem) -> PurgeResult {
        let name = try name(kind, key)
        guard case .removed(_, let purge) = try keeper.perform(.purge([name], ifRevision: nil)) else { return .pending }
        return purge ?? .complete
    }

    /// Adds or changes, whichever it is by then: another process may add or delete the same key meanwhile.
    private borrowing func store(
        _ values: consuming FieldValues, _ kind: StoredKind, _ key: String, keepsRest: Bool
    ) throws(Keeper.Problem) {
        let name = try name(kind, key)
        var attemptsLeft = 100
        while true {
            attemptsLeft -= 1
            do throws(Keeper.Problem) {
                guard let item = try current(name) else {
                    return try make(name, key, values)
                }
                return try change(item, values, keepsRest: keepsRest)
            } catch {
                switch Keeper.meaning(of: error) {
                case .unchanged: return
                case .missing, .exists, .changedMeanwhile: guard attemptsLeft > 0 else { throw error }
                case .none: throw error
                }
            }
        }
    }

    private borrowing func current(_ name: ItemName) throws(Keeper.Problem) -> Item? {
        do throws(Keeper.Problem) {
            guard case .item(let item) = try keeper.perform(.item(name)) else { return nil }
            return item
        } catch {
            guard case .missing = Keeper.meaning(of: error) else { throw error }
            return nil
        }
    }

    private borrowing func make(
        _ name: ItemName, _ key: String, _ values: borrowing FieldValues
    ) throws(Keeper.Problem) {
        var fields = try copy(values)
        if StoredKey.key(of: name) == nil {
            do throws(VaultError) {
                try fields.put(SecretBytes(copying: Array(key.utf8)), at: StoredKey.keyField)
            } catch { throw Keeper.problem(error) }
        }
        _ = try keeper.perform(.add(name, level: level, fields))
    }

    private borrowing func change(
        _ item: Item, _ values: borrowing FieldValues, keepsRest: Bool
    ) throws(Keeper.Problem) {
        let given = values.names
        let gone = keepsRest
            ? [] : item.fields.map(\.name).filter { !given.contains($0) && $0 != StoredKey.keyField }
        _ = try keeper.perform(
            .update(item.name, set: try copy(values), remove: gone, ifRevision: item.revision))
    }

    private borrowing func copy(_ values: borrowing FieldValues) throws(Keeper.Problem) -> FieldValues {
        var copy = FieldValues()
        do throws(VaultError) {
            try values.forEach { (name, secret) throws(VaultError) in try copy.put(secret.duplicate(), at: name) }
        } catch { throw Keeper.problem(error) }
        return copy
    }
}

/// A key as the name of an item: `credential.` or `property.` and the key, with `%`, `:` and control characters as `%XX`;
/// a key too long for a name is `~` and its digest, and stands in a field of its own.
enum StoredKey {
    /// The field that holds a long key.
    static let keyField: FieldName = {
        guard let name = try? FieldName("key") else { preconditionFailure("a valid name") }
        return name
    }()

    private static let longest = 255

    /// - Throws: ``VaultError/emptyKey``, ``VaultError/tooLarge`` above 64 KiB.
    static func name(_ kind: StoredKind, _ key: String) throws(VaultError) -> ItemName {
        guard !key.isEmpty else { throw .emptyKey }
        guard key.utf8.count <= 1 << 16 else { throw .tooLarge }
        let start = kind.rawValue + "."
        var text = ""
        for scalar in key.unicodeScalars {
            let isPlain = scalar.properties.generalCategory != .control && scalar != ":" && scalar != "%"
            if isPlain, !(text.isEmpty && scalar == "~") {
                text.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { text += "%" + Hex.encode([byte]).uppercased() }
            }
        }
        guard start.utf8.count + text.utf8.count > longest else { return try ItemName(start + text) }
        return try ItemName(start + "~" + Hex.encode(PublicHash.hash(Array(key.utf8))))
    }

    static func kind(of name: ItemName) -> StoredKind? {
        StoredKind.allCases.first { name.text.hasPrefix($0.rawValue + ".") }
    }

    /// - Returns: nil for a long key, and for a name that no key gives.
    static func key(of name: ItemName) -> String? {
        guard let kind = kind(of: name) else { return nil }
        let text = Array(name.text.utf8.dropFirst(kind.rawValue.utf8.count + 1))
        guard text.first != UInt8(ascii: "~") else { return nil }
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%") {
                guard index + 2 < text.count,
                    let byte = UInt8(String(decoding: text[index + 1...index + 2], as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
