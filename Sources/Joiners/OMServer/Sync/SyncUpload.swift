#if Server
// A file that a client writes to a remote. docs/formats/sync.md, "Over HTTP", has the checks.

internal import OMParcels
internal import OMServerStore

/// What of a file was checked already. Bodies and signatures are checked in a read transaction: what they are checked with never
/// changes. So a file that costs much keeps no writer waiting.
protocol SyncUpload: Sendable {
    /// - Throws: ``ServerProblem``; ``StoreError``.
    init(_ body: [UInt8], as file: RemoteFile, to remote: Remote, _ transaction: any StoreTransaction) throws

    /// Checks what can change, and stores the file. The transaction has locked the remote.
    ///
    /// - Returns: Whether clients see a change in the list. False if these bytes are stored already.
    func store(
        in remote: Remote, within limits: SyncLimits, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Bool
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
