// Counts of members that write to another remote only. Format: docs/formats/sync.md, "Counts".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMVault

/// The counts that the heads in the lists `heads` prove. A head of any remote is signed by its device, and so proves its count.
struct VouchedCounts {
    /// Of each device the highest one.
    private(set) var counts: [UInt32: UInt64] = [:]
    /// The heads that prove them.
    private var provers: [Head] = []

    /// Attack: someone fills the lists with heads that no one signed. So few of each device are looked at.
    private static let mostOfOneDevice = 4

    init(_ contents: RemoteContents, _ roll: Roll) {
        for (device, heads) in Dictionary(grouping: contents.kept, by: \.statement.device) {
            guard let member = roll.formerOrPresent(device) else { continue }
            let highest = heads.sorted { $0.statement.count > $1.statement.count }.prefix(Self.mostOfOneDevice)
            let proven = highest.first { $0.statement.vault == roll.vault && $0.isSigned(by: member.keys.head) }
            guard let proven else { continue }
            counts[device] = proven.statement.count
            provers.append(proven)
        }
    }

    init(_ access: borrowing SyncAccess) throws(VaultError) {
        for row in try access.rows(.count) {
            var (key, body) = (ByteCursor(), ByteCursor())
            do { counts[try key.number(in: row.key.span)] = try body.number(in: row.body.span) } catch { throw .corrupt(.sync) }
        }
        for (device, head) in try KeptHeads.all(access) { counts[device] = max(counts[device] ?? 0, head.statement.count) }
    }

    /// Keeps those that are higher than before, and their heads.
    func keep(_ access: inout SyncAccess) throws(VaultError) {
        let before = try VouchedCounts(access).counts
        for (device, count) in counts where count > before[device] ?? 0 {
            var (key, body): ([UInt8], [UInt8]) = ([], [])
            key.append(number: device)
            body.append(number: count)
            try access.set(.count, key, body)
        }
        try KeptHeads.keep(provers.filter { $0.statement.count > before[$0.statement.device] ?? 0 }, &access)
    }
}
