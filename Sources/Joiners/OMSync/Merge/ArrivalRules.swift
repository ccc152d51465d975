// Whether a version that arrives is applied now. Format: docs/formats/sync.md, "Applying".

internal import OMParcels
package import OMRecords

/// What a device knows when versions arrive.
package struct ArrivalRules {
    package enum Decision: Hashable, Sendable {
        /// It is merged with the version here.
        case applies
        /// It is kept, and looked at again later.
        case waits
        /// It has no power over the item here. It is kept, and looked at again when the item changes; the user can settle it.
        case isHeld
        /// It names an edit of this device that this device never made. The remote is stopped.
        case isForged
        /// Its parts do not fit each other.
        case isMalformed
    }

    /// The number of this device.
    package let device: UInt32
    /// The highest count that this device ever gave out.
    package let issued: UInt64
    /// For each other device, the highest count in a verified head of it.
    package let counts: [UInt32: UInt64]
    /// The portable levels whose keys are at hand.
    package let openLevels: Set<ProtectionLevel.Availability>

    package init(
        device: UInt32, issued: UInt64, counts: [UInt32: UInt64], openLevels: Set<ProtectionLevel.Availability>
    ) {
        (self.device, self.issued, self.counts, self.openLevels) = (device, issued, counts, openLevels)
    }

    package var isAllOpen: Bool { openLevels.count == ProtectionLevel.Availability.allCases.count }

    /// - Parameters:
    ///   - version: Its lowerings from open levels have right MACs.
    ///   - id: The item's id: 16 bytes.
    ///   - here: The version on this device, or nil.
    package func decision(on version: SyncedVersion, of id: [UInt8], here: SyncedVersion?) -> Decision {
        guard version.isSound else { return .isMalformed }
        // Attack: a member claims edits that a device has not made yet. Its later edits would then vanish everywhere.
        guard version.seen[device] <= issued else { return .isForged }
        guard awaited(by: version).isEmpty else { return .waits }
        guard openLevels.contains(version.level), here.map({ openLevels.contains($0.level) }) ?? true else { return .waits }
        guard let here else { return isAllOpen ? .applies : .waits }
        guard version.mayChange(here) || here.seen.includes(version.seen) else { return .isHeld }
        return isAllOpen || isPlain(Merge(of: id, here, version), version, here) ? .applies : .waits
    }

    /// The other devices that have not said yet that they made all edits which the version includes.
    package func awaited(by version: SyncedVersion) -> [UInt32] {
        version.seen.dots.filter { $0.device != device && $0.count > counts[$0.device] ?? 0 }.map(\.device)
    }

    /// Whether the item stays live, keeps name and level, and gets no copy; and no lowering is new that cannot be checked. Two
    /// versions of which none includes the other are merged with the link, which a locked device has not.
    ///
    /// Attack: a name must not change its secret on a locked device, because no one can compare the names of closed levels.
    private func isPlain(_ merge: Merge, _ version: SyncedVersion, _ here: SyncedVersion) -> Bool {
        let closed = version.lowerings.filter { !openLevels.contains($0.from) }
        return (version.seen.includes(here.seen) || here.seen.includes(version.seen))
            && here.state == .live && merge.version.state == .live && merge.copy == nil && here.name == merge.version.name
            && here.level == merge.version.level && closed.allSatisfy { here.lowerings.contains($0) }
    }
}
