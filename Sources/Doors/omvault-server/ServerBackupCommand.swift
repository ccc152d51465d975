#if Server
internal import ArgumentParser
internal import Glibc
internal import OMServer
internal import OMServerStore
internal import OMSystem

/// `backup`: all rows in one file.
struct ServerBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write all rows of the store into a new file.",
        discussion: """
            The file has one state of the store; the server goes on meanwhile. Only its owner can read it. It has the hashes of \
            passwords, so keep it as safe as the store. It has no settings, certificates and keys.
            """)

    @OptionGroup var data: DataOption
    @Argument var file: String

    func run() throws {
        let store = try data.store()
        let rows: Int64
        do { rows = try ServerBackup.write(store, ServerTables.schema, to: file, now: Int64(time(nil))) } catch {
            throw ServerBackupCommand.failure(error, file)
        }
        print("\(file): \(rows) rows")
    }

    static func failure(_ error: any Error, _ file: String) -> any Error {
        switch error {
        case BackupFault.notBackup:
            ServerFailure(.corrupt, "\"\(file)\" is not a backup of a server", hint: "omvault-server backup FILE makes one")
        case BackupFault.damaged:
            ServerFailure(.corrupt, "\"\(file)\" ends early or was changed; nothing was restored", hint: "take another backup")
        case BackupFault.laterVersion(let version):
            ServerFailure(
                .unsupported,
                "\"\(file)\" has tables of version \(version), this server uses version \(ServerTables.schema.version)",
                hint: "install a newer omvault-server")
        case BackupFault.storeInUse:
            ServerFailure(.exists, "the store is in use; nothing was restored", hint: "name another store in the settings")
        case StorageError.missing: ServerFailure(.notFound, "\"\(file)\" is not there", hint: "check the path")
        case StorageError.exists: ServerFailure(.exists, "\"\(file)\" is there already", hint: "choose another name")
        case let error as StorageError:
            ServerFailure(
                .io, "cannot use \"\(file)\": \(String(cString: strerror(error.code)))", hint: "check the disk and the folder")
        default: error
        }
    }
}
#endif
