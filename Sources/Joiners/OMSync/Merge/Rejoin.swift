// The edits of a device that got a new number. Format: docs/formats/sync.md, "Removal, rekey, rejoin, recovery".

package import OMParcels

extension SyncedVersion {
    /// The counts of a device above a limit that this version names.
    package func counts(of device: UInt32, above limit: UInt64) -> Set<UInt64> {
        Set((seen.dots + lowerings.flatMap(\.seen.dots) + [dot]).filter { $0.device == device && $0.count > limit }.map(\.count))
    }

    /// This version with the later edits of an old number under the new one.
    ///
    /// Attack: a disk that was put back gives out counts a second time. Other devices would take the new edits for old ones, and
    /// drop them.
    ///
    /// - Parameters:
    ///   - device: The old number.
    ///   - limit: The count of the newest own head that this file remembers. Edits up to it keep their number.
    ///   - renamed: The new dot of each later count.
    package func renaming(_ device: UInt32, above limit: UInt64, to renamed: [UInt64: Dot]) -> SyncedVersion {
        var version = self
        if dot.device == device, let new = renamed[dot.count] { version.dot = new }
        guard let new = renamed[seen[device]] else { return version }
        version.seen = seen.renaming(device, above: limit, to: new)
        version.lowerings = lowerings.map { lowering in
            guard let new = renamed[lowering.seen[device]] else { return lowering }
            return Lowering(from: lowering.from, seen: lowering.seen.renaming(device, above: limit, to: new))
        }
        return version
    }
}

extension Seen {
    /// The old number keeps what the newest remembered head covers. The new one has the rest.
    fileprivate func renaming(_ device: UInt32, above limit: UInt64, to new: Dot) -> Seen {
        guard self[device] > limit else { return self }
        var renamed = Seen()
        for dot in dots where dot.device != device { renamed.insert(dot) }
        renamed.insert(new)
        if limit > 0 { renamed.insert(Dot(device: device, count: limit)) }
        return renamed
    }
}
