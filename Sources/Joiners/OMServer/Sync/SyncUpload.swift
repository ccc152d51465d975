#if Server
// A file that a client writes to a remote. docs/formats/sync.md, "Over HTTP", has the checks.

internal import OMParcels
internal import OMServerStore

/// A file that was parsed, and what of it was checked already. A pack, a message or a head is checked and stored in one
/// transaction. An entry or a list of heads can have many signatures. They are checked first, in a read transaction: the keys
/// never change. So a costly file never holds the lock.
protocol SyncUpload: Sendable {
    static var isCostly: Bool { get }

    /// Checks what the body itself shows.
    init(_ body: [UInt8], as file: RemoteFile, to remote: RemoteName) throws(ServerProblem)

    /// Of a costly file: checks what cannot change.
    mutating func check(in remote: Remote, _ transaction: any StoreTransaction) throws

    /// Checks what can change, and stores the file. The transaction has locked the remote.
    ///
    /// - Returns: Whether clients see a change in the list. False if these bytes are stored already.
    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool
}

extension SyncUpload {
    static var isCostly: Bool { false }
    mutating func check(in remote: Remote, _ transaction: any StoreTransaction) throws {}
}

extension RemoteFile {
    /// How this file is checked. Nil for `remote`, which makes a remote, and for copies of heads, which only sync tools make.
    var upload: (any SyncUpload.Type)? {
        switch self {
        case .entry: EntryUpload.self
        case .head: HeadUpload.self
        case .heads: HeadListUpload.self
        case .pack: PackUpload.self
        case .message: MessageUpload.self
        case .founding, .headCopy: nil
        }
    }
}
#endif
