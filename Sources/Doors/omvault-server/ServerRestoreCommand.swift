#if Server
internal import ArgumentParser
internal import OMServer
internal import OMServerStore

/// `restore`: a backup into a new store.
struct ServerRestoreCommand: ParsableCommand {
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
            throw ServerBackupCommand.failure(error, file)
        }
        print("restored \(rows) rows")
    }
}
#endif
