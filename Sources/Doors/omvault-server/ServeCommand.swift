#if Server
internal import ArgumentParser
internal import COMSystem
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import OMJSON
internal import OMServer
internal import OMServerStore
internal import ServiceLifecycle
internal import UnixSignals

/// `serve`: runs until SIGTERM or SIGINT. Requests that run are answered, then it ends.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Answer requests until SIGTERM.",
        discussion: """
            The log is JSON on standard error: one line for each request, without queries, names and secrets. With --listen and \
            port 0 the system chooses a port; the log says which.
            """)

    @OptionGroup var data: DataOption
    @Option(help: ArgumentHelp("Listen here, and not where the settings say.", valueName: "address:port"))
    var listen: String?

    func run() async throws {
        guard om_harden_process() == 0 else {
            throw ServerFailure(.general, "this system refuses to protect the process", hint: "run it on Linux 4 or later")
        }
        var settings = try data.settings()
        if let listen {
            let address = try ListenAddress(listen)
            (settings.address, settings.port) = (address.host, address.port)
        }
        guard settings.certificate != nil || ListenAddress.isLoopback(settings.address) else {
            throw ServerFailure(
                .config, "without a certificate the server listens on a loopback address only",
                hint: "add \"certificate\" and \"key\" to \(settings.folder)/\(ServerSettings.fileName)")
        }
        let store = try settings.open(connections: settings.threads + settings.readingThreads)
        let threads = RequestThreads(reading: settings.readingThreads, working: settings.threads)
        let polls = LongPolls(store, threads: threads.reading)
        let responder = ServerResponder(try services(store, settings), threads: threads, polls: polls)
        let counts = AddressCounts(most: settings.mostConnectionsOfAddress)
        let channel = HTTPServerBuilder.http1(
            configuration: .init(
                additionalChannelHandlers: [ConnectionBounds(counts)], idleTimeout: .seconds(75),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 16 << 10, maxHeaderFieldCount: 100)))
        let app = Application(
            responder: responder, server: try tls(settings).map { try .tls(channel, tlsConfiguration: $0) } ?? channel,
            configuration: .init(
                address: .hostname(settings.address, port: settings.port), serverName: nil,
                availableConnectionsDelegate: MaximumAvailableConnections(settings.mostConnections)),
            onServerRunning: { channel in
                ServerLog.write("listening", ["port": .number(String(channel.localAddress?.port ?? 0))])
            },
            logger: Logger(label: "omvault-server") { _ in SwiftLogNoOpLogHandler() })
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: app), .init(service: Collector(store: store, threads: threads.working)),
                    .init(service: PollEnd(polls: polls)),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "omvault-server") { _ in SwiftLogNoOpLogHandler() }))
        do { try await group.run() } catch let error as IOError {
            throw ServerFailure(
                .io, "cannot listen at \(settings.address):\(settings.port): \(String(cString: strerror(error.errnoCode)))",
                hint: "is another server running? --listen names another address")
        }
        try await threads.shutDown()
        ServerLog.write("stopped")
    }

    private func services(_ store: any ServerStore, _ settings: ServerSettings) throws -> ServerRoutes {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        // Logins leave one thread of several to pushes.
        let parallel = min(processors, max(1, settings.threads / 2))
        let waiting = min(max(1, settings.threads / 2 - processors), settings.threads - parallel - 1)
        let passwords = try PasswordCheck(parallel: parallel, waiting: max(0, waiting))
        let attempts = AttemptLimit(most: settings.mostLoginsOfAddress)
        return ServerRoutes(
            [
                HealthService(store),
                GrantService(store, passwords: passwords, attempts: attempts, issuer: settings.url, clock: .system),
                PolicyService(store, issuer: settings.url),
                SDKService(store, passwords: passwords, attempts: attempts, clock: .system),
                SyncService(store, clock: .system),
            ],
            note: { error in ServerLog.write("error", ["error": .string("\(error)")]) })
    }

    private func tls(_ settings: ServerSettings) throws -> TLSConfiguration? {
        guard let certificate = settings.certificate, let key = settings.key else { return nil }
        do {
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            tls.minimumTLSVersion = .tlsv12
            tls.applicationProtocols = ["http/1.1"]
            return tls
        } catch {
            throw ServerFailure(
                .config, "cannot use the certificate \"\(certificate)\" with its key \"\(key)\"", hint: "both are PEM files")
        }
    }
}

/// Removes what has ended, once an hour.
private struct Collector: Service {
    let store: any ServerStore
    let threads: BoundedThreads

    func run() async throws {
        let store = store
        try? await cancelWhenGracefulShutdown {
            while true {
                do {
                    try await threads.runUnbounded {
                        let now = Int64(time(nil))
                        try store.transaction(.write) { transaction in
                            try GrantTable.collect(now: now, transaction)
                            try SDKTokenTable.collect(now: now, transaction)
                        }
                        try SyncCollection.run(store, now: now)
                    }
                } catch let error as StoreError { ServerLog.write("error", ["error": .string("\(error)")]) }
                try await Task.sleep(for: .seconds(3600))
            }
        }
    }
}

/// Ends the waits of clients when the server stops.
private struct PollEnd: Service {
    let polls: LongPolls

    func run() async throws {
        try? await gracefulShutdown()
        await polls.stop()
    }
}
#endif
