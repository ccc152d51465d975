/// The first place where a log is not what this device wrote.
public struct LogFault: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable {
        /// An entry was dropped, or the log's end was cut off.
        case missing
        /// An entry was edited, moved or replaced.
        case changed
        /// An entry is in a place where this device keeps none.
        case added
    }

    /// The sequence of the bad entry.
    public let sequence: UInt64
    public let kind: Kind

    package init(sequence: UInt64, kind: Kind) { (self.sequence, self.kind) = (sequence, kind) }
}

/// The result of reading a log.
package protocol LogReport {
    var fault: LogFault? { get }
}
