// The lanes that a process has. Format: docs/formats/sync.md, "Parcel".

package import OMParcels
package import OMRecords
package import OMSecrets

package struct LaneSet: Sendable {
    /// Which of the lanes: two devices that change the roll at the same time make two of one epoch.
    private struct Name: Hashable {
        let level: ProtectionLevel.Availability
        let epoch: UInt32
        let maker: [UInt8]
    }

    private var lanes: [Name: Lane] = [:]

    package init() {}

    /// - Parameter maker: The digest of the entry of the roll that made the lane: 32 bytes.
    package mutating func insert(_ lane: Lane, madeBy maker: [UInt8]) {
        lanes[Name(level: lane.level, epoch: lane.epoch, maker: maker)] = lane
    }

    package func lane(_ level: ProtectionLevel.Availability, epoch: UInt32, madeBy maker: [UInt8]) -> Lane? {
        lanes[Name(level: level, epoch: epoch, maker: maker)]
    }

    private func lanes(ofEpoch epoch: UInt32) -> [Lane] { lanes.filter { $0.key.epoch == epoch }.map(\.value) }

    /// Opens a parcel. Its commitment tells the lanes apart, so at most one box is opened.
    ///
    /// - Returns: nil if no lane here has sealed it: a level that is closed, or a lane that this device never had.
    /// - Throws: ``SecretsError/cannotOpen`` if a lane here has its commitment and does not open it.
    package func open(_ parcel: Parcel, vault: [UInt8]) throws(SecretsError) -> OpenedParcel? {
        var found: Lane?
        // Every lane is tried, so that the time does not tell the level.
        for lane in lanes(ofEpoch: parcel.header.laneEpoch) where lane.isOf(parcel.header) { found = lane }
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
            let possible = lanes(ofEpoch: lowering.laneEpoch).filter { $0.level == lowering.claimed.from }
            guard !possible.isEmpty else { return nil }
            guard possible.contains(where: { $0.proves(lowering, item: item, vault: vault) }) else { throw .cannotOpen }
        }
        return stored.map(\.claimed)
    }
}
