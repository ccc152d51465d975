#if Server
// The list of a remote's files, as bytes.

internal import OMRecords
internal import OMServerStore

enum FileList {
    private static let version: UInt8 = 1

    /// The list as it is in this transaction.
    static func encoded(_ remote: Remote, _ transaction: any StoreTransaction) throws(StoreError) -> [UInt8] {
        var files: [[UInt8]] = []
        for entry in try EntryTable.all(of: remote.id, transaction) {
            files.append(file(1, entry.number, entry.digest))
        }
        for head in try HeadTable.all(of: remote.id, transaction) {
            files.append(file(2, head.device, [head.number % 2 == 0 ? 1 : 0] + head.digest))
        }
        for list in try HeadTable.lists(of: remote.id, transaction) { files.append(file(3, list.device, list.digest)) }
        for pack in try PackTable.inList(of: remote.id, transaction) {
            var number: [UInt8] = []
            number.append(number: pack.number)
            files.append(file(4, pack.device, number))
        }
        for message in try MessageTable.all(of: remote.id, transaction) {
            files.append([5] + message.mailbox + [message.number])
        }
        files.sort { $0.lexicographicallyPrecedes($1) }
        var bytes = [version]
        bytes.append(number: remote.change)
        bytes.append(number: UInt32(files.count))
        bytes += files.joined()
        return bytes
    }

    private static func file(_ kind: UInt8, _ number: UInt32, _ rest: [UInt8]) -> [UInt8] {
        var bytes = [kind]
        bytes.append(number: number)
        return bytes + rest
    }
}
#endif
