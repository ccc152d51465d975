// A credential of the SDK's store.

public import OMItems
public import OMSecrets

/// The SDK's credential: a user name, a password, a tenant, and further properties. Each may be missing.
public struct Credential: ~Copyable, Sendable {
    /// The names of the item's fields for the credential itself. Its properties are fields beside them, as `property.NAME`.
    public enum Field: String, CaseIterable, Sendable { case username, password, tenant }

    var values = FieldValues()

    public init() {}

    /// The names of the properties.
    public var properties: [String] {
        values.names.map(\.text).filter { $0.hasPrefix(Self.prefix) }.map { String($0.dropFirst(Self.prefix.count)) }
    }

    /// - Throws: ``VaultError/fieldExists(_:)``, ``VaultError/tooLarge``.
    public mutating func put(_ secret: consuming SecretBytes, as field: Field) throws(VaultError) {
        try values.put(secret, at: FieldName(field.rawValue))
    }

    /// - Throws: Like ``put(_:as:)``; ``VaultError/invalidFieldName`` for a name above 55 bytes or with `:`, `/` or `=`.
    public mutating func put(_ secret: consuming SecretBytes, asProperty name: String) throws(VaultError) {
        try values.put(secret, at: FieldName(Self.prefix + name))
    }

    /// Lends one part to `body`.
    ///
    /// - Returns: nil if the credential does not have it.
    public borrowing func with<R, E: Error>(
        _ field: Field, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let name = try? FieldName(field.rawValue) else { return nil }
        return try values.withSecret(name, body)
    }

    /// Lends one property to `body`.
    public borrowing func withProperty<R, E: Error>(
        _ name: String, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let name = try? FieldName(Self.prefix + name) else { return nil }
        return try values.withSecret(name, body)
    }

    static let prefix = "property."
}
