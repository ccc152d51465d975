public import OMItems
public import OMSecrets

/// One property with its label and description, like those of the SDK's `storeProperty`.
public struct StoredProperty: ~Copyable, Sendable {
    var values = FieldValues()

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
