// The files of a remote, read and written by a confined process. docs/formats/sync.md, "The folder's helper".

internal import OMAgent
internal import OMAgentProtocol
internal import OMParcels
internal import OMRemote
internal import OMShell
internal import OMSystem

/// A remote for a command. Its errors are in words.
struct RemoteFolderStore: RemoteStore {
    private let place: RemoteFolder
    private let folder: ConfinedFolder

    init(of remote: RemoteFolderName, in place: RemoteFolder) {
        self.place = place
        // Without a path the first call says that the program is missing.
        let program = (try? AgentLauncher.program()) ?? AgentProcess.programName
        folder = ConfinedFolder(in: place.path, vault: remote.vault, incarnation: remote.incarnation, helper: program)
    }

    func files() throws(Failure) -> [RemoteFile] {
        try run { () throws(ConfinedFolder.Failure) in try folder.files() }
    }

    func bytes(of file: RemoteFile) throws(Failure) -> [UInt8]? {
        try run { () throws(ConfinedFolder.Failure) in try folder.bytes(of: file) }
    }

    func write(_ bytes: [UInt8], to file: RemoteFile) throws(Failure) {
        try run { () throws(ConfinedFolder.Failure) in try folder.write(bytes, to: file) }
    }

    @discardableResult
    func remove(_ file: RemoteFile) throws(Failure) -> Bool {
        try run { () throws(ConfinedFolder.Failure) in try folder.remove(file) }
    }

    /// Makes the remote with entry 0 of the roll.
    func make(founding: RollEntry) throws(Failure) {
        try run { () throws(ConfinedFolder.Failure) in try folder.make(founding: founding.encoded) }
    }

    private func run<R>(_ body: () throws(ConfinedFolder.Failure) -> R) throws(Failure) -> R {
        do throws(ConfinedFolder.Failure) { return try body() } catch { throw place.failure(error) }
    }
}

extension RemoteFolder {
    /// What a failed reading or writing means for the user.
    func failure(_ error: ConfinedFolder.Failure) -> Failure {
        switch error {
        case .storage(let error): unreachable(error)
        case .helper(.deadline), .interrupted:
            Failure(
                .network, "the folder \"\(path.shown)\" does not answer",
                hint: "mount the stick or share again, and try again")
        case .helper(.misbehaved):
            Failure(
                .agent, "the process that reads and writes \"\(path.shown)\" ended",
                hint: "nothing is lost; run the command again")
        case .helper(let error): Failure(error)
        }
    }
}
