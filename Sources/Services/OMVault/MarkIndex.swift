internal import OMRecords
internal import OMStorage

/// The position of each mark in the vault's high-water file.
enum MarkIndex {
    static let header = 0
    static func level(_ index: Int) -> Int { 1 + index }
    /// The end of the audit log.
    static let log = 1 + ProtectionLevel.allCases.count
    /// The header that a change is about to commit. A newer header that was not announced was not written by this device.
    static let announced = log + 1
    /// The file that was written last, so that a copy of it is recognised. Its digest is the mark of ``SyncSelf``.
    static let file = log + 2
    /// How many passwords were ever charged, so that a count that was put back is noticed.
    static let attempts = log + 3
    static let count = log + 4

    /// The marks of a file, with zeros for those that an earlier build did not write.
    ///
    /// - Returns: nil for another number of marks.
    static func whole(_ marks: [HighWaterMark]) -> [HighWaterMark]? {
        guard marks.count == count || marks.count == log + 1 else { return nil }
        return marks + [HighWaterMark](repeating: HighWaterMark.beginning, count: count - marks.count)
    }

    /// Whether `file` is known not to be the file that was written last.
    static func isOther(_ marks: [HighWaterMark], than file: UInt64) -> Bool {
        marks.count == count && ![0, file].contains(marks[Self.file].generation)
    }

    /// A mark that is only a number.
    static func number(_ number: UInt64) -> HighWaterMark {
        HighWaterMark(generation: number, digest: HighWaterMark.beginning.digest)
    }
}

extension HighWaterMark {
    /// The mark with another number.
    func numbered(_ number: UInt64) -> HighWaterMark { HighWaterMark(generation: number, digest: digest) }
}
