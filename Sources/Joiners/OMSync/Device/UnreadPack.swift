// A pack of an accepted head that is not read yet. Format: docs/formats/sync.md, "Tables" and "Waiting parcels".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMVault

/// A pack of an accepted head, of which this device has not taken the parcels yet.
struct UnreadPack: Hashable, Sendable {
    let remote: UInt8
    let signer: UInt32
    let reference: Head.PackReference

    /// remote (1) ‖ signer (4) ‖ number of the pack (8)
    private var key: [UInt8] {
        var bytes = [remote]
        bytes.append(number: signer)
        bytes.append(number: reference.number)
        return bytes
    }

    func save(_ access: inout SyncAccess) throws(VaultError) { try access.set(.unread, key, reference.digest) }

    func drop(_ access: inout SyncAccess) throws(VaultError) { try access.set(.unread, key, nil) }

    /// By falling number of each signer.
    static func all(_ access: borrowing SyncAccess) throws(VaultError) -> [UnreadPack] {
        var packs: [UnreadPack] = []
        for row in try access.rows(.unread) {
            var cursor = ByteCursor()
            do {
                let (remote, signer): (UInt8, UInt32) = (
                    try cursor.number(in: row.key.span), try cursor.number(in: row.key.span)
                )
                let reference = Head.PackReference(number: try cursor.number(in: row.key.span), digest: row.body)
                try cursor.end(in: row.key.span)
                packs.append(UnreadPack(remote: remote, signer: signer, reference: reference))
            } catch { throw .corrupt(.sync) }
        }
        return packs.reversed()
    }
}
