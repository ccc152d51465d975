#if Server
internal import ArgumentParser
internal import OMServer
internal import OMServerStore

/// `migrate`: tables of an older version.
struct ServerMigrateCommand: ParsableCommand {
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
