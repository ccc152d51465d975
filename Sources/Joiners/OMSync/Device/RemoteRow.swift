// What a device keeps of one remote. Format: docs/formats/sync.md, "Tables".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMVault

/// The row of a remote.
package struct RemoteRow: Hashable, Sendable {
    static let version: UInt8 = 1
    package static let maximumPath = 1024
    package static let maximumRemotes: UInt8 = 8

    /// 1 to 8. The keys of the remote's other rows begin with it.
    package let id: UInt8
    /// 16 bytes.
    package let incarnation: [UInt8]
    /// The folder in which the remote's folder is, or the address of its server.
    package internal(set) var path: String
    /// Nil for a folder.
    package var url: String? { path.hasPrefix("/") ? nil : path }
    /// The number of the newest own pack, or 0.
    package var lastPack: UInt64 = 0
    /// The packs that the newest own head lists.
    package var packs: [Head.PackReference] = []
    /// The own heads to which the next one may refer, by falling number.
    package var ownHeads: [Head.Reference] = []

    package init(id: UInt8, incarnation: [UInt8], path: String) {
        (self.id, self.incarnation, self.path) = (id, incarnation, path)
    }

    /// version ‖ incarnation (16) ‖ length (2) ‖ path ‖ last pack (8) ‖ number (2) ‖ per pack: number (8) ‖ digest (32)
    /// ‖ number (1) ‖ per own head: device (4) ‖ number (8) ‖ digest (32)
    private var encoded: [UInt8] {
        var bytes = [Self.version] + incarnation
        bytes.append(number: UInt16(path.utf8.count))
        bytes += path.utf8
        bytes.append(number: lastPack)
        bytes.append(number: UInt16(packs.count))
        for pack in packs {
            bytes.append(number: pack.number)
            bytes += pack.digest
        }
        bytes.append(UInt8(ownHeads.count))
        for head in ownHeads { bytes += head.encoded }
        return bytes
    }

    private init(_ id: UInt8, decoding bytes: [UInt8]) throws {
        let span = bytes.span
        var cursor = ByteCursor()
        guard try cursor.number(UInt8.self, in: span) == Self.version else { throw MalformedBytes() }
        self.id = id
        incarnation = try cursor.take(16, in: span)
        path = try cursor.text(Int(try cursor.number(UInt16.self, in: span)), in: span)
        lastPack = try cursor.number(in: span)
        for _ in 0..<(try cursor.number(UInt16.self, in: span)) {
            packs.append(.init(number: try cursor.number(in: span), digest: try cursor.take(32, in: span)))
        }
        for _ in 0..<(try cursor.number(UInt8.self, in: span)) {
            ownHeads.append(
                .init(
                    device: try cursor.number(in: span), number: try cursor.number(in: span),
                    digest: try cursor.take(32, in: span)))
        }
        try cursor.end(in: span)
    }

    func save(_ access: inout SyncAccess) throws(VaultError) { try access.set(.remote, [id], encoded) }

    package static func all(_ access: borrowing SyncAccess) throws(VaultError) -> [RemoteRow] {
        var rows: [RemoteRow] = []
        for row in try access.rows(.remote) {
            guard let remote = try? RemoteRow(row.key[0], decoding: row.body), row.key.count == 1 else { throw .corrupt(.sync) }
            rows.append(remote)
        }
        return rows
    }
}
