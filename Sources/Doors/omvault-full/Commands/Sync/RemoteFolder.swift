// The one place where a command reaches the folder of a remote.

internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSystem

/// The folder in which the user keeps remotes: on a stick, on a share, or for a tool that syncs it.
///
/// Every access to it starts here, so that another process can do it instead.
struct RemoteFolder {
    /// What reads and writes one remote.
    typealias Store = RemoteFolderStore

    /// Absolute.
    let path: String

    /// - Parameter path: As the user gave it.
    init(given path: String) { self.path = AbsolutePath.absolute(path) }

    init(of remote: RemoteRow) { path = remote.path }

    /// The remotes of all vaults in this folder.
    func remotes() throws(Failure) -> [RemoteFolderName] {
        do throws(StorageError) { return try RemoteFolderName.all(in: path) } catch { throw unreachable(error) }
    }

    /// The remotes that the user means: those in this folder, or the one whose own folder this is.
    func namedRemotes() throws(Failure) -> (place: RemoteFolder, names: [RemoteFolderName]) {
        guard let own = RemoteFolderName(FilePath.name(of: path)) else { return (self, try remotes()) }
        let above = RemoteFolder(given: FilePath.folder(of: path))
        return (above, try above.remotes().filter { $0 == own })
    }

    func store(_ remote: RemoteFolderName) -> Store {
        RemoteFolderStore(of: remote, in: self)
    }

    /// Makes a remote with entry 0 of the roll.
    func make(_ remote: RemoteFolderName, founding: RollEntry) throws(Failure) {
        try store(remote).make(founding: founding)
    }

    /// Runs `body` on files of this folder.
    func run<R>(_ body: () throws -> R) throws(Failure) -> R {
        do { return try body() } catch let failure as Failure { throw failure } catch let error as StorageError {
            throw unreachable(error)
        } catch { throw Failure(anyError: error) }
    }

    /// A missing folder is "not mounted" and never "empty".
    func unreachable(_ error: StorageError) -> Failure {
        guard error == .missing || error == .io(20) else { return Failure(error).about(path) }
        return notMounted
    }

    var notMounted: Failure {
        Failure(
            .network, "the folder \"\(path.shown)\" is not there, or has no remote of this vault",
            hint: "mount the stick or share and try again; omvault sync remote ls shows the folders")
    }
}
