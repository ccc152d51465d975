/// An entry of a log. It was authenticated when it was read.
package protocol ChainedEntry {
    /// 1 for the first entry, and 1 more for each further one.
    var sequence: UInt64 { get }
    /// The MAC of the previous entry. Zeros for the first one.
    var previous: [UInt8] { get }
    var mac: [UInt8] { get }
    /// The MAC of the entry that this one replaced. Nil if it replaced none.
    var replacedMAC: [UInt8]? { get }
}

extension ChainedEntry {
    /// The entry's position in the log's history.
    package var mark: HighWaterMark { HighWaterMark(generation: sequence, digest: mac) }

    /// Whether this is the mark's entry. It may also have replaced that entry just before a crash, which kept the new
    /// mark from being written.
    package func fits(_ mark: HighWaterMark) -> Bool {
        sequence == mark.generation && (mac == mark.digest || replacedMAC == mark.digest)
    }

    /// Whether the entry directly follows `last`.
    package func follows(_ last: HighWaterMark) -> Bool {
        sequence == last.generation + 1 && previous == last.digest
    }
}
