public import OMStorage

/// The log, as far as it is genuine.
public struct AuditLogReport: LogReport, Sendable {
    public let entries: [AuditEntry]
    /// Nil if this device wrote the whole log.
    public let fault: LogFault?
    /// Whether this device wrote another file last, so that this log is in a copy: see ``VaultFile/isReplaced``.
    public internal(set) var isFileReplaced = false
}
