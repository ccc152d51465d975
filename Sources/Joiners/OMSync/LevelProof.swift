package import OMRecords

/// The proof that the owner lowered an item's level: only a holder of the stricter level's lane can make it.
package struct LevelProof: Hashable, Sendable {
    /// The edit that lowered it.
    package let dot: Dot
    /// The edits that it knew, itself included. The proof gives power over these edits, and over no others.
    package let seen: Seen
    package let from: ProtectionLevel.Availability
    package let to: ProtectionLevel.Availability
    /// The epoch of the lane that made the code.
    package let epoch: UInt32
    /// 32 bytes.
    package let mac: [UInt8]

    package init(
        dot: Dot, seen: Seen, from: ProtectionLevel.Availability, to: ProtectionLevel.Availability, epoch: UInt32, mac: [UInt8]
    ) {
        (self.dot, self.seen, self.from, self.to, self.epoch, self.mac) = (dot, seen, from, to, epoch, mac)
    }
}

extension LevelProof {
    /// Of the proofs from each level that is stricter than this one, the one with the largest bytes, by falling level.
    package static func kept(of proofs: [LevelProof], above level: ProtectionLevel.Availability) -> [LevelProof] {
        var kept: [ProtectionLevel.Availability: LevelProof] = [:]
        for proof in proofs where proof.from > level {
            if let other = kept[proof.from], !other.bytes.lexicographicallyPrecedes(proof.bytes) { continue }
            kept[proof.from] = proof
        }
        return kept.values.sorted { $0.from > $1.from }
    }

    /// The proof as it is stored.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(dot)
        bytes += [from.rawValue, to.rawValue]
        bytes.append(number: epoch)
        bytes.append(seen)
        return bytes + mac
    }
}
