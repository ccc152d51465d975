package import OMSecrets

/// The right to renew one remembered session: the key of its row, and the state that was read or written last.
package struct SessionRowKey: ~Copyable, Sendable {
    /// It opens this row only.
    package let bytes: SecretBytes
    package let generation: UInt64

    package init(_ bytes: consuming SecretBytes, generation: UInt64) {
        self.bytes = bytes
        self.generation = generation
    }

    package borrowing func duplicate() -> SessionRowKey { SessionRowKey(bytes.duplicate(), generation: generation) }
}
