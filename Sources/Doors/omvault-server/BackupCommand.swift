#if Server
internal import ArgumentParser
internal import Glibc
internal import OMServer
internal import OMServerStore
internal import OMSystem

/// `backup`: all rows in one file.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write all rows of the store into a new file.",
        discussion: """
            The file has one state of the store; the server goes on meanwhile. Only its owner can read it. It has the hashes of \
            passwords, so keep it as safe as the store. It has no settings, certificates and keys.
            """)

    @OptionGroup var data: DataOption
    @Argument var file: String

    func run() throws {
        let store = try data.settings().open()
        let rows: Int64
        do { rows = try ServerBackup.write(store, ServerTables.schema, to: file, now: Int64(time(nil))) } catch {
            throw BackupCommand.failure(error, file)
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
                .unsupported, "\"\(file)\" has tables of version \(version), this server uses version \(ServerTables.schema.version)",
                hint: "install a newer omvault-server")
        case BackupFault.storeInUse:
            ServerFailure(.exists, "the store is in use; nothing was restored", hint: "name another store in the settings")
        case StorageError.missing: ServerFailure(.notFound, "\"\(file)\" is not there", hint: "check the path")
        case StorageError.exists: ServerFailure(.exists, "\"\(file)\" is there already", hint: "choose another name")
        case let error as StorageError:
            ServerFailure(.io, "cannot use \"\(file)\": \(String(cString: strerror(error.code)))", hint: "check the disk and the folder")
        default: error
        }
    }
}

/// `restore`: a backup into a new store.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Fill a new store from a backup.",
        discussion: """
            The store that the settings name must have no rows. It can be of the other kind: so a server moves from SQLite to \
            PostgreSQL, and back. A file that ends early or was changed is refused, and the store stays empty.
            """)

    @OptionGroup var data: DataOption
    @Argument var file: String

    func run() throws {
        let location = try data.settings().location
        let rows: Int64
        do { rows = try ServerBackup.restore(file, to: location, ServerTables.schema) } catch {
            throw BackupCommand.failure(error, file)
        }
        print("restored \(rows) rows")
    }
}

/// `migrate`: tables of an older version.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Take the tables of an older version to this one.",
        discussion: "Stop the servers and take a backup first. It does all or nothing; a store of this version stays as it is.")

    @OptionGroup var data: DataOption

    func run() throws {
        let version = try data.settings().location.migrate(ServerTables.schema)
        let now = ServerTables.schema.version
        print(version == now ? "the tables have version \(now) already" : "the tables went from version \(version) to \(now)")
    }
}
#endif
