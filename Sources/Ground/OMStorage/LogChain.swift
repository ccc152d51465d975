// A log in which each entry carries the MAC of the one before: what the vault's log and the log of logins have in common.
// Their entries' bytes are their own.

/// The rules by which a log is read against the mark that says where it ends.
package enum LogChain {
    /// The most entries that are kept.
    package static let capacity: UInt64 = 10_000

    /// The oldest entry that is kept of a log that ends with number `last`.
    package static func oldest(upTo last: UInt64) -> UInt64 { last > capacity ? last - capacity + 1 : 1 }

    /// The fault of a row; nil if this device wrote it there.
    ///
    /// - Parameters:
    ///   - entry: nil for bytes that this device did not write under the row's number.
    ///   - last: the newest entry that is proven; nil: none is.
    ///   - first: the number of the oldest entry that is kept.
    ///   - end: the mark.
    package static func fault<Entry: ChainedEntry>(
        row: UInt64, _ entry: Entry?, after last: Entry?, first: UInt64, end: HighWaterMark
    ) -> LogFault? {
        let expected = last.map { $0.sequence + 1 } ?? first
        guard row >= expected else { return LogFault(sequence: row, kind: .added) }
        let isBehindMark = expected > end.generation
        guard row == expected else {
            return isBehindMark ? LogFault(sequence: row, kind: .added) : LogFault(sequence: expected, kind: .missing)
        }
        guard let entry, last.map({ entry.follows($0.mark) }) ?? true, expected != end.generation || entry.fits(end)
        else { return LogFault(sequence: expected, kind: isBehindMark ? .added : .changed) }
        return nil
    }

    /// The fault of a log whose last proven entry is `last`: it ends before its mark.
    package static func fault<Entry: ChainedEntry>(
        afterAll last: Entry?, first: UInt64, end: HighWaterMark
    ) -> LogFault? {
        let last = last?.sequence ?? first - 1
        return last < end.generation ? LogFault(sequence: last + 1, kind: .missing) : nil
    }

    /// Reads a log that other processes may write meanwhile.
    ///
    /// A writer writes rows before the mark. So the log reaches at least to a mark that was read before the rows. But since
    /// then a writer may have replaced the mark's entry twice, and the entry no longer names the mark's. So after a fault at
    /// the mark's entry the mark is read again. If it has not moved, the fault is real.
    ///
    /// - Parameter mark: reads where this device says that the log ends.
    package static func read<Report: LogReport, E: Error>(
        mark readMark: () throws(E) -> HighWaterMark?, _ read: (HighWaterMark?) throws(E) -> Report
    ) throws(E) -> Report {
        var mark = try readMark()
        while true {
            let report = try read(mark)
            guard let fault = report.fault, fault.sequence == mark?.generation else { return report }
            let since = try readMark()
            guard since != mark else { return report }
            mark = since
        }
    }
}
