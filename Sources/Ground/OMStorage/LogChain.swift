// A log in which each entry carries the MAC of the previous one. The vault's log and the log of logins share these rules.
// Each has its own bytes for an entry.

/// The rules for reading a log and comparing it with the mark of its end.
package enum LogChain {
    /// The most entries that are kept.
    package static let capacity: UInt64 = 10_000

    /// The number of the oldest entry that is kept in a log whose last entry has the number `last`.
    package static func oldest(upTo last: UInt64) -> UInt64 { last > capacity ? last - capacity + 1 : 1 }

    /// The fault of a row; nil if this device wrote it there.
    ///
    /// - Parameters:
    ///   - entry: The row's entry. Nil if this device did not write the bytes under the row's number.
    ///   - last: The newest entry that is proven. Nil if none is.
    ///   - first: The number of the oldest entry that is kept.
    ///   - end: The mark of the log's end.
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

    /// The fault of a log that ends before the mark. `last` is its last proven entry. Nil if the log reaches the mark.
    package static func fault<Entry: ChainedEntry>(
        afterAll last: Entry?, first: UInt64, end: HighWaterMark
    ) -> LogFault? {
        let last = last?.sequence ?? first - 1
        return last < end.generation ? LogFault(sequence: last + 1, kind: .missing) : nil
    }

    /// Reads a log while other processes may write to it.
    ///
    /// A writer writes rows before the mark. So the log reaches at least to a mark that was read before the rows. But
    /// since then a writer may have replaced the mark's entry twice, and the entry no longer names the mark's digest.
    /// So after a fault at the mark's entry, this reads the mark again. If the mark has not changed, the fault is real.
    ///
    /// - Parameter mark: Reads the mark that this device wrote for the log's end.
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
