// The SDK's key pairs: two halves under one tag, kept by whoever keeps things.

public import OMSecrets

/// Where pairs are kept: in a vault, or in memory for a test. Names are whole, such as `signing.private`.
public protocol KeyPairStore: ~Copyable {
    associatedtype Problem: Error
    borrowing func contains(_ name: String) throws(Problem) -> Bool
    /// Nil when there is nothing of that name.
    borrowing func read(_ name: String) throws(Problem) -> SecretBytes?
    /// Both halves or neither.
    mutating func write(
        _ tag: KeyPairTag, privateHalf: borrowing SecretBytes, publicHalf: borrowing SecretBytes
    ) throws(Problem)
    /// Both halves, or what is left of them.
    mutating func delete(_ tag: KeyPairTag) throws(Problem)
}
