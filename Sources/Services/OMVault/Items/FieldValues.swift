// The secrets of an item's fields, on their way into the item or out of it.

public import OMSecrets

/// Fields with their secrets, in order. Move-only like the secrets themselves.
///
///     var values = FieldValues()
///     try values.put(password, at: FieldName("password"))
public struct FieldValues: ~Copyable, Sendable {
    private var fields: [(name: FieldName, held: Held)] = []
    private var total = 0

    /// An array holds copyable elements only. Code outside this type never gets such an object.
    private final class Held: Sendable {
        let secret: SecretBytes
        init(_ secret: consuming SecretBytes) { self.secret = secret }
    }

    public init() {}

    public var names: [FieldName] { fields.map(\.name) }

    /// Adds a field after the others.
    ///
    /// - Throws: ``VaultError/fieldExists(_:)``, ``VaultError/tooLarge`` above the limits of ``Item``.
    public mutating func put(_ secret: consuming SecretBytes, at name: FieldName) throws(VaultError) {
        guard !fields.contains(where: { $0.name == name }) else { throw .fieldExists(name) }
        guard secret.count <= Item.maximumFieldCount, fields.count < Item.maximumFields,
            total + secret.count <= Item.maximumCount
        else { throw .tooLarge }
        total += secret.count
        fields.append((name, Held(secret)))
    }

    /// Lends each secret to `body`, in order.
    public borrowing func forEach<E: Error>(
        _ body: (FieldName, borrowing SecretBytes) throws(E) -> Void
    ) throws(E) {
        for field in fields { try body(field.name, field.held.secret) }
    }

    /// Lends the secret of one field to `body`.
    ///
    /// - Returns: nil if there is no such field.
    public borrowing func withSecret<R, E: Error>(
        _ name: FieldName, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        return try body(field.held.secret)
    }
}
