// The lanes that a process has. Format: docs/formats/sync.md, "Parcel".

package import OMParcels
package import OMRecords
package import OMSecrets

package struct LaneSet: Sendable {
    private var lanes: [ProtectionLevel.Availability: [UInt32: Lane]] = [:]

    package init() {}

    package mutating func insert(_ lane: Lane) { lanes[lane.level, default: [:]][lane.epoch] = lane }

    package func lane(_ level: ProtectionLevel.Availability, epoch: UInt32) -> Lane? { lanes[level]?[epoch] }

    /// Opens a parcel. Its commitment tells the lanes apart, so at most one box is opened.
    ///
    /// - Returns: nil if no lane here has sealed it: a level that is closed, or a lane that this device never had.
    /// - Throws: ``SecretsError/cannotOpen`` if a lane here has its commitment and does not open it.
    package func open(_ parcel: Parcel, vault: [UInt8]) throws(SecretsError) -> OpenedParcel? {
        var found: Lane?
        // Every lane is tried, so that the time does not tell the level.
        for level in ProtectionLevel.Availability.allCases {
            if let lane = lane(level, epoch: parcel.header.laneEpoch), lane.isOf(parcel.header) { found = lane }
        }
        guard let found else { return nil }
        return try found.open(parcel, vault: vault)
    }

    /// The lowerings of a version, each of an open level checked.
    ///
    /// Those of a closed level come unchecked. ``ArrivalRules`` gives them no power: docs/formats/sync.md, "While a level is
    /// closed".
    ///
    /// - Parameters:
    ///   - item: The id of the item: 16 bytes.
    ///   - vault: The vault's id: 16 bytes.
    ///   - openLevels: Those that the rules for arriving versions take for open.
    /// - Returns: nil if an open level lacks the lane of a lowering's epoch, so that the version waits.
    /// - Throws: ``SecretsError/cannotOpen`` for a wrong MAC.
    package func lowerings(
        _ stored: [StoredLowering], item: [UInt8], vault: [UInt8], openLevels: Set<ProtectionLevel.Availability>
    ) throws(SecretsError) -> [Lowering]? {
        for lowering in stored where openLevels.contains(lowering.claimed.from) {
            guard let lane = lane(lowering.claimed.from, epoch: lowering.laneEpoch) else { return nil }
            guard lane.proves(lowering, item: item, vault: vault) else { throw .cannotOpen }
        }
        return stored.map(\.claimed)
    }
}
