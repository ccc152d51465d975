internal import OMItems
internal import OMShell
internal import OMSystem
internal import OMVault

/// A backup's path, and the messages for errors there.
struct BackupPath {
    let path: String

    /// A backup must be a file: it is read twice, and it gets its name when it is complete.
    init(_ path: String) throws(Failure) {
        guard path != "-", !path.isEmpty else {
            throw Failure(.usage, "a backup is a file, not a stream", hint: "give the name of a file")
        }
        self.path = path
    }

    func refuseExisting() throws(Failure) {
        guard try run({ () throws(VaultError) in try VaultFile.exists(path) }) else { return }
        throw Failure(.exists, "\"\(path)\" already exists", hint: "choose another name; a backup never replaces a file")
    }

    func open(_ context: CommandContext) throws(Failure) -> BackupFile {
        let progress = Progress(total: try run { () throws(VaultError) in try BackupFile.count(path) }, context)
        defer { progress.end() }
        return try run { () throws(VaultError) in try BackupFile.open(path, progress: progress.add) }
    }

    /// - Parameters:
    ///   - vault: The vault's name, for errors that are about the vault and not about the backup.
    ///   - isNew: Whether the backup is being made. Then its folder is what may be missing.
    func run<R: ~Copyable>(
        vault: String? = nil, isNew: Bool = false, _ body: () throws(VaultError) -> R
    ) throws(Failure) -> R {
        do throws(VaultError) { return try body() } catch { throw failure(error, vault: vault, isNew: isNew) }
    }

    func failure(_ error: VaultError) -> Failure { failure(error, vault: nil, isNew: false) }

    private func failure(_ error: VaultError, vault: String?, isNew: Bool) -> Failure {
        switch error {
        case .storage(.missing) where isNew:
            Failure(
                .io, "there is no folder \"\(FilePath.folder(of: path))\"",
                hint: "make it with mkdir, or give a path in another folder")
        case .storage(.missing):
            Failure(
                .io, "there is no file or folder \"\(path)\"",
                hint: "check the path; omvault backup create FILE makes a backup")
        case .storage(.exists):
            Failure(.exists, "\"\(path)\" already exists", hint: "choose another name; a backup never replaces a file")
        case .corrupt where vault == nil:
            Failure(
                .corrupt, "\"\(path)\" is not a backup of omvault, or it was damaged or changed",
                hint: "nothing of it was used; use another copy of the backup")
        case .rolledBack where vault == nil:
            Failure(
                .rollback, "the backup is older than the last state of the vault that this device saw",
                hint: "--accept-rollback restores it; this device then refuses every newer copy")
        default: Failure(error, vault: vault)
        }
    }
}
