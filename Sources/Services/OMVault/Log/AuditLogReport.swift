public import OMStorage

/// The log, as far as it is genuine.
public struct AuditLogReport: LogReport, Sendable {
    public let entries: [AuditEntry]
    /// Nil if this device wrote the whole log.
    public let fault: LogFault?
    /// Whether the log is in another file than the one that this device wrote last: see ``VaultFile/isReplaced``.
    public internal(set) var isFileReplaced = false
}
