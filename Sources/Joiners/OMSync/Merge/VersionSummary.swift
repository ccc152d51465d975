// The bytes that order versions and name conflict copies. Format: docs/formats/sync.md, "Summary".

internal import OMItems
internal import OMParcels
internal import OMRecords

extension SyncedVersion {
    /// State, time, dot, name, details and fields, without what a merge may change: seen, created, level and lowerings.
    package var summary: [UInt8] {
        var bytes: [UInt8] = [state.rawValue]
        bytes.append(number: time)
        bytes.append(dot)
        bytes.append(counted: name?.bytes ?? [])
        bytes.append(counted: origin ?? [])
        bytes.append(details.type?.code ?? 0)
        bytes.append(number: details.expires ?? 0)
        bytes.append(UInt8(details.tags.count))
        for tag in details.tags { bytes.append(counted: tag.bytes) }
        bytes.append(number: UInt16(fields.count))
        for (name, field) in fields.sorted(by: { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }) {
            bytes.append(field.isShown ? 1 : 0)
            bytes.append(counted: name.bytes)
            bytes += field.digest
        }
        return bytes
    }

    /// What a conflict copy's id is made of: `seen` and the summary.
    package var causes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(seen)
        return bytes + summary
    }
}

extension [UInt8] {
    fileprivate mutating func append(counted bytes: [UInt8]) {
        append(number: UInt16(bytes.count))
        self += bytes
    }
}
