// A row of `sync_rows`. What is in it is the matter of the rooms above. Format: docs/formats/sync.md, "Tables".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

package struct SyncRow: Hashable, Sendable {
    /// What a row is about.
    package enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        case lane = 1
        case link = 2
        case rollEntry = 3
        case remote = 4
        case head = 5
        case noted = 6
        case own = 7
        case arrived = 8
        case push = 9
        case brake = 10
        case count = 11
        case note = 12
        case formerKey = 13
        case lostEntry = 14
        case serverLogin = 15
        case unread = 16
    }

    /// A row can hold a pack.
    package static let maximumCount = (4 << 20) + 4096
    package static let maximumKeyCount = 64

    /// The first bytes of a row.
    package struct Start: Hashable, Sendable {
        package let key: [UInt8]
        package let bytes: [UInt8]
        /// The number of bytes of the whole row.
        package let count: Int
    }

    package let kind: Kind
    package let key: [UInt8]
    package let body: [UInt8]

    package init(_ kind: Kind, _ key: [UInt8], _ body: [UInt8]) {
        precondition((1...Self.maximumKeyCount).contains(key.count) && (1...Self.maximumCount).contains(body.count), "limits")
        (self.kind, self.key, self.body) = (kind, key, body)
    }
}

/// Computes the MACs of rows. Their sum is in ``SyncSelf``.
///
/// Attack: an attacker without the device key drops, changes or repeats a row. The sum is sealed, so he cannot learn the MAC of a
/// row, and cannot look for rows whose MACs have the same sum.
struct SyncRowSum: ~Copyable {
    private let key: Key<Authenticating>
    private(set) var sum: [UInt8]

    init(_ sum: [UInt8], _ device: borrowing DeviceKey, vault: [UInt8]) {
        key = device.key.derive(Context(.syncRowKey, .bytes(vault)))
        self.sum = sum
    }

    /// Adds a row, or takes it away if it was added before.
    mutating func toggle(_ kind: UInt8, _ rowKey: [UInt8], _ body: [UInt8]) {
        let mac = MAC.tag(of: body, using: key, context: Context(.syncRow, .number(UInt64(kind)), .bytes(rowKey)))
        for index in sum.indices { sum[index] ^= mac[index] }
    }
}
