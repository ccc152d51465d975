// The files of a remote, read and written by a confined process. docs/formats/sync.md, "The folder's helper" and "The server's
// helper".

internal import OMAgent
internal import OMParcels
internal import OMShell

/// A remote for a command. Its errors are in words.
struct RemotePlaceStore: RemoteStore {
    private let place: RemotePlace
    private let remote: ConfinedRemote

    init(of remote: ConfinedRemote, in place: RemotePlace) { (self.remote, self.place) = (remote, place) }

    func files() throws(Failure) -> [RemoteFile] {
        try run { () throws(RemoteFailure) in try remote.files() }
    }

    func bytes(of file: RemoteFile) throws(Failure) -> [UInt8]? {
        try run { () throws(RemoteFailure) in try remote.bytes(of: file) }
    }

    func write(_ bytes: [UInt8], to file: RemoteFile) throws(Failure) {
        try run { () throws(RemoteFailure) in try remote.write(bytes, to: file) }
    }

    @discardableResult
    func remove(_ file: RemoteFile) throws(Failure) -> Bool {
        try run { () throws(RemoteFailure) in try remote.remove(file) }
    }

    /// Makes the remote with entry 0 of the roll.
    func make(founding: RollEntry) throws(Failure) {
        try run { () throws(RemoteFailure) in try remote.make(founding: founding.encoded) }
    }

    private func run<R>(_ body: () throws(RemoteFailure) -> R) throws(Failure) -> R {
        do throws(RemoteFailure) { return try body() } catch { throw place.failure(error) }
    }
}
