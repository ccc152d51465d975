public import OMStorage

/// The log as far as it is to be believed.
public struct AuditLogReport: LogReport, Sendable {
    public let entries: [AuditEntry]
    /// Nil when the whole log is what this device wrote.
    public let fault: LogFault?
    /// Whether it stands in another file than the one that this device wrote last: see ``VaultFile/isReplaced``.
    public internal(set) var isFileReplaced = false
}
