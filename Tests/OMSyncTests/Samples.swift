// Versions for tests, in few words.

import OMItems
import OMParcels
import OMRecords
import OMSecrets
import OMSync
import OMSyncKeys

/// Edits, by device: `seen([1: 4])`.
func seen(_ counts: [UInt32: UInt64]) -> Seen {
    var seen = Seen()
    for (device, count) in counts { seen.insert(Dot(device: device, count: count)) }
    return seen
}

func id(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 16) }

/// A version whose field `password` has this value, written by the last device of `counts`.
func version(
    _ value: UInt8?, _ counts: [UInt32: UInt64], by device: UInt32? = nil, time: Int64 = 0, created: Int64 = 0,
    state: SyncedVersion.State = .live, level: ProtectionLevel.Availability = .whenUnlocked,
    lowerings: [Lowering] = [],
    origin: [UInt8]? = nil, name: String = "mail", tag: String? = nil
) -> SyncedVersion {
    let writer = device ?? counts.keys.max() ?? 1
    var details = ItemDetails()
    if let tag { details.setTags(adding: [ItemTag(checked: tag)], removing: []) }
    return SyncedVersion(
        seen: seen(counts), dot: Dot(device: writer, count: counts[writer] ?? 1), time: time, created: created, state: state,
        level: level, lowerings: lowerings, origin: origin,
        name: state == .purged ? nil : ItemName(checked: name), details: details,
        fields: value.map { [FieldName(checked: "password"): field($0)] } ?? [:])
}

func field(_ value: UInt8, isShown: Bool = false) -> SyncedVersion.Field {
    SyncedVersion.Field(digest: [UInt8](repeating: value, count: 32), isShown: isShown)
}

/// Both orders of a merge, which must be one.
func merge(_ one: SyncedVersion, _ other: SyncedVersion, of item: [UInt8] = id(9)) -> Merge? {
    let merge = Merge(of: item, one, other)
    return merge == Merge(of: item, other, one) ? merge : nil
}

/// - Parameter bytes: 32 bytes.
func linkKey(_ bytes: [UInt8]) -> LinkKey {
    guard let key = try? Key<Deriving>(readFrom: SecretBytes(copying: bytes.span)) else { preconditionFailure("32 bytes") }
    return LinkKey(key)
}
