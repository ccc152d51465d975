/// Whether the bytes that must be gone are.
public enum PurgeResult: UInt8, Hashable, Sendable {
    /// They are in no file of the vault.
    case complete = 0
    /// Another process still reads the state before: they stand in the write-ahead log until the next open takes them
    /// out.
    case pending = 1
}
