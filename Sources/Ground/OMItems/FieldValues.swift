// The secrets of an item's fields, on their way into the item or out of it.

public import OMSecrets

/// Fields with their secrets, in order. Move-only like the secrets themselves.
///
///     var values = FieldValues()
///     try values.put(password, at: FieldName("password"))
public struct FieldValues: ~Copyable, Sendable {
    /// The largest sum of the values in memory: 16 MiB.
    package static let maximumInMemory = 16 << 20

    /// The most values above 1 MiB of one change. The file of each goes to the agent as a descriptor.
    package static let maximumSpooled = 64

    private var fields: [(name: FieldName, held: Held)] = []
    /// Fields whose values are above 1 MiB.
    package private(set) var spooled: [(name: FieldName, value: SpooledValue)] = []
    private var total = 0
    /// The names of all fields, in their order.
    public private(set) var names: [FieldName] = []

    /// An array holds copyable elements only. Code outside this type never gets such an object.
    private final class Held: Sendable {
        let secret: SecretBytes
        init(_ secret: consuming SecretBytes) { self.secret = secret }
    }

    public init() {}

    /// Adds a field after the others, with a value of at most 1 MiB.
    ///
    /// - Throws: ``VaultError/fieldExists(_:)``, ``VaultError/tooLarge`` above the limits of ``Item``;
    ///   ``VaultError/tooMuchAtOnce`` if all values in memory together have more than 16 MiB.
    public mutating func put(_ secret: consuming SecretBytes, at name: FieldName) throws(VaultError) {
        try check(name)
        guard secret.count <= Item.maximumWholeCount else { throw .tooLarge }
        guard hasRoom(for: secret) else { throw .tooMuchAtOnce }
        total += secret.count
        fields.append((name, Held(secret)))
        names.append(name)
    }

    /// Whether ``put(_:at:)`` takes the secret.
    package borrowing func hasRoom(for secret: borrowing SecretBytes) -> Bool {
        secret.count <= Item.maximumWholeCount && total + secret.count <= Self.maximumInMemory
    }

    /// Adds a field with a value that was taken in block by block.
    ///
    /// - Throws: ``VaultError/fieldExists(_:)``, ``VaultError/tooLarge``; ``VaultError/tooMuchAtOnce`` for the 65th.
    public mutating func put(_ value: SpooledValue, at name: FieldName) throws(VaultError) {
        try insert(value, at: name, position: names.count)
    }

    /// Adds such a field before others.
    package mutating func insert(_ value: SpooledValue, at name: FieldName, position: Int) throws(VaultError) {
        try check(name)
        guard spooled.count < Self.maximumSpooled else { throw .tooMuchAtOnce }
        spooled.append((name, value))
        names.insert(name, at: position)
    }

    private borrowing func check(_ name: FieldName) throws(VaultError) {
        guard !names.contains(name) else { throw .fieldExists(name) }
        guard names.count < Item.maximumFields else { throw .tooLarge }
    }

    /// Lends each secret in memory to `body`, in order.
    public borrowing func forEach<E: Error>(
        _ body: (FieldName, borrowing SecretBytes) throws(E) -> Void
    ) throws(E) {
        for field in fields { try body(field.name, field.held.secret) }
    }

    /// Lends the secret of one field to `body`.
    ///
    /// - Returns: nil if there is no such field in memory.
    public borrowing func withSecret<R, E: Error>(
        _ name: FieldName, _ body: (borrowing SecretBytes) throws(E) -> R
    ) throws(E) -> R? {
        guard let field = fields.first(where: { $0.name == name }) else { return nil }
        return try body(field.held.secret)
    }
}
