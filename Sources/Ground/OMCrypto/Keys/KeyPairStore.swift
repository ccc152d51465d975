// The store of the SDK's key pairs: two halves under one tag.

public import OMSecrets

/// A store of key pairs: a vault, or memory in a test. Names are complete, such as `signing.private`.
public protocol KeyPairStore: ~Copyable {
    associatedtype Problem: Error
    borrowing func contains(_ name: String) throws(Problem) -> Bool
    /// Nil if nothing has that name.
    borrowing func read(_ name: String) throws(Problem) -> SecretBytes?
    /// Writes both halves or neither.
    mutating func write(
        _ tag: KeyPairTag, privateHalf: borrowing SecretBytes, publicHalf: borrowing SecretBytes
    ) throws(Problem)
    /// Deletes both halves, or the half that is left.
    mutating func delete(_ tag: KeyPairTag) throws(Problem)
}
