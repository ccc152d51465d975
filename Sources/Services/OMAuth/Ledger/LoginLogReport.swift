package import OMStorage

/// The log of logins, and which of its entries are proven.
package struct LoginLogReport: LogReport, Hashable, Sendable {
    /// The proven entries: each follows the one before it, from the start or from a new chain.
    package internal(set) var entries: [LoginLogEntry] = []
    /// Entries after a break. This device wrote each of them. Others may be missing between them, or an older form may be back.
    package internal(set) var unproven: [LoginLogEntry] = []
    /// The breaks after which a user began a new chain.
    package internal(set) var breaks: [LogFault] = []
    /// The first break without a new chain after it. Nil if there is none.
    package internal(set) var fault: LogFault?
}
