/// Whether the purged bytes are gone.
public enum PurgeResult: UInt8, Hashable, Sendable {
    /// They are in no file of the vault.
    case complete = 0
    /// Another process still reads the old state. Until the next open removes them, the bytes are in the write-ahead log.
    case pending = 1
}
