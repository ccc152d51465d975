#if Server
internal import ArgumentParser
internal import Glibc
internal import OMServer
internal import OMServerStore
internal import OMSystem

/// `init`: settings and a new store.
struct ServerInitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make the settings and an empty store.",
        discussion: """
            Without a certificate the server listens on a loopback address only, for a test or behind a proxy with TLS.
            """)

    @OptionGroup var data: DataOption
    @Option(help: ArgumentHelp("The address that clients use.", valueName: "url"))
    var url: String
    @Option(help: ArgumentHelp("Listen at this address.", valueName: "address:port"))
    var listen: String?
    @Option(help: ArgumentHelp("The certificate with its chain, as PEM.", valueName: "file"))
    var certificate: String?
    @Option(help: ArgumentHelp("The certificate's key, as PEM.", valueName: "file"))
    var key: String?
    @Option(
        help: ArgumentHelp("A file, or postgres://…; \"-\" reads the URL from standard input.", valueName: "store"))
    var store = "store.db"

    func run() throws {
        guard (certificate == nil) == (key == nil) else { throw ValidationError("--certificate and --key go together") }
        let address = try ListenAddress(listen ?? (certificate == nil ? "127.0.0.1:8080" : "0.0.0.0:8443"))
        guard certificate != nil || address.isLoopback else {
            throw ServerFailure(
                .usage, "without a certificate the server listens on a loopback address only",
                hint: "--certificate and --key, or --listen 127.0.0.1:8080")
        }
        let url = try ServerAddress(url)
        let place = store == "-" ? try PasswordInput.line() : store
        do throws(StorageError) { _ = try PrivateFolder.make(data.path) } catch { throw ServerFailure(error, data.path) }
        let settings = ServerSettings(
            folder: data.path, store: place, url: url.text, address: address.host, port: address.port,
            certificate: certificate, key: key)
        // The settings come last: a server without a store does not start.
        guard try !FilePath.exists("\(data.path)/\(ServerSettings.fileName)") else {
            throw ServerFailure(StorageError.exists, "\(data.path)/\(ServerSettings.fileName)")
        }
        try settings.location.create(ServerTables.schema)
        try settings.save()
        print("The server's folder is \(data.path).\nNext: omvault-server user add NAME, then omvault-server serve.")
    }
}
#endif
