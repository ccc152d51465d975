package import OMStorage

/// The log of logins, and how far it is to be believed.
package struct LoginLogReport: LogReport, Hashable, Sendable {
    /// The entries that are proven: each follows the one before it, from the start or from a new chain.
    package internal(set) var entries: [LoginLogEntry] = []
    /// Entries behind a break. This device wrote each of them; entries beside them may be missing, or an older form may be back.
    package internal(set) var unproven: [LoginLogEntry] = []
    /// The breaks behind which a user began a new chain.
    package internal(set) var breaks: [LogFault] = []
    /// The first break with no new chain behind it; nil where there is none.
    package internal(set) var fault: LogFault?
}
