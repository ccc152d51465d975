// Which packs a device writes. Format: docs/formats/sync.md, "Pack".

package import OMParcels

/// The packs of a device on a remote, and which of them are joined.
package struct PackPlan: Hashable, Sendable {
    /// A pack without its parcels.
    package struct Pack: Hashable, Sendable {
        package let number: UInt64
        /// The bytes of those parcels that still count.
        package var count: Int

        package init(number: UInt64, count: Int) { (self.number, self.count) = (number, count) }
    }

    /// So many packs of about one size become one.
    static let joined = 8
    /// Packs of one class differ in size by less than this factor.
    static let factor = 8
    /// Less than ``Head/maximumPacks``, so that a push of several packs has room.
    static let most = 900
    /// What a joined pack has at most. The rest of 4 MiB is for the lengths and the head of the pack.
    static let maximumCount = (4 << 20) - (64 << 10)

    /// The numbers of the packs whose parcels go into new packs. Each list becomes one pack, or none if nothing of it counts.
    package let joins: [[UInt64]]

    /// - Parameters:
    ///   - packs: In any order, those with nothing that counts too.
    package init(_ packs: [Pack]) {
        var joins: [[UInt64]] = []
        // Packs of which nothing counts cost a file only.
        let empty = packs.filter { $0.count == 0 }.map(\.number).sorted()
        if !empty.isEmpty { joins.append(empty) }
        var classes: [Int: [Pack]] = [:]
        for pack in packs where pack.count > 0 { classes[Self.sizeClass(pack.count), default: []].append(pack) }
        // Of too many packs the smallest are joined, whatever their classes.
        let isCrowded = packs.count - empty.count > Self.most
        let groups =
            isCrowded ? [classes.values.joined().sorted { $0.count < $1.count }] : classes.keys.sorted().map { classes[$0] ?? [] }
        for group in groups {
            var (list, count): ([UInt64], Int) = ([], 0)
            for pack in group.sorted(by: { ($0.count, $0.number) < ($1.count, $1.number) }) {
                guard count + pack.count <= Self.maximumCount else { break }
                list.append(pack.number)
                count += pack.count
            }
            if list.count >= Self.joined { joins.append(list.sorted()) }
        }
        self.joins = joins
    }

    /// Whether packs can be joined: all of them were read, unless nothing of them counts. A pack that cannot be read stays:
    /// nothing of it may be lost.
    ///
    /// - Parameters:
    ///   - read: Those of `numbers` that could be read.
    ///   - own: Of each own parcel that counts, the number of its pack.
    package static func canJoin(_ numbers: [UInt64], _ read: [OMParcels.Pack], having own: [[UInt8]: UInt64]) -> Bool {
        let there = Set(read.flatMap { pack in pack.parcels.map(\.header.id) })
        let counting = own.filter { numbers.contains($0.value) }
        return (read.count == numbers.count || counting.isEmpty) && counting.allSatisfy { there.contains($0.key) }
    }

    private static func sizeClass(_ count: Int) -> Int {
        var (size, rest) = (0, count)
        while rest >= factor { (size, rest) = (size + 1, rest / factor) }
        return size
    }
}
