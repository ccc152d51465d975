public import OMRecords

/// The facts of a backup that can be read without a key.
public struct BackupSummary: Hashable, Sendable {
    public internal(set) var isPortable = false
    /// Seconds since 1970.
    public internal(set) var takenAt: Int64 = 0
    /// 16 bytes.
    public internal(set) var vault: [UInt8] = []
    /// The number of items of each level, with those in the trash.
    public internal(set) var items: [ProtectionLevel: Int] = [:]
    /// The number of older versions of those items.
    public internal(set) var olderVersions = 0
    public internal(set) var slots: [KeySlot] = []

    public var itemCount: Int { items.values.reduce(0, +) }

    mutating func count(_ record: Record, isNewest: Bool) {
        guard !record.header.isDeleted else { return }
        if isNewest { items[record.header.level, default: 0] += 1 } else { olderVersions += 1 }
    }
}
