/// An entry, which was authenticated when it was read.
package protocol ChainedEntry {
    /// 1 for the first entry, and 1 more with each.
    var sequence: UInt64 { get }
    /// The MAC of the entry before; zeros for the first.
    var previous: [UInt8] { get }
    var mac: [UInt8] { get }
    /// The MAC of the entry in whose place this one was written; nil if there was none.
    var replacedMAC: [UInt8]? { get }
}

extension ChainedEntry {
    /// The entry as a place in the log's history.
    package var mark: HighWaterMark { HighWaterMark(generation: sequence, digest: mac) }

    /// Whether this is the mark's entry, or the entry that replaced it just before a crash kept the mark from being written.
    package func fits(_ mark: HighWaterMark) -> Bool {
        sequence == mark.generation && (mac == mark.digest || replacedMAC == mark.digest)
    }

    /// Whether the entry stands right behind `last`.
    package func follows(_ last: HighWaterMark) -> Bool {
        sequence == last.generation + 1 && previous == last.digest
    }
}
