#if Server
// The settings of a server, in its data folder. docs/reference/server.md.

internal import Glibc
internal import OMJSON
internal import OMServer
internal import OMServerStore
internal import OMSystem

/// `settings.json`. It can hold the password of a database, so only the server's user can read it.
struct ServerSettings {
    /// The folder with the settings, and with the store unless that is elsewhere.
    let folder: String
    /// A path, or the URL of a PostgreSQL database.
    var store: String
    /// The address that clients use, without a slash at its end: `https://vault.example.org`.
    var url: String
    /// The address and port to listen at.
    var address: String
    var port: Int
    /// PEM files. Nil: plain HTTP, which is served on a loopback address only.
    var certificate: String?
    var key: String?
    var mostConnections = 20_000
    var mostConnectionsOfAddress = 256
    /// A minute. Behind a proxy all clients have one address.
    var mostLoginsOfAddress = 60
    /// How many requests that can change something are worked on at once.
    var threads: Int

    static let limit = 64 << 10
    static let fileName = "settings.json"

    static func read(_ folder: String) throws -> ServerSettings {
        let path = "\(folder)/\(fileName)"
        let bytes: [UInt8]
        do throws(StorageError) { bytes = try PrivateFile(path, O_RDONLY).read(limit) } catch {
            throw ServerFailure(error, path)
        }
        guard let members = JSON.flatObject(parsing: bytes.span), let settings = ServerSettings(folder, members) else {
            throw ServerFailure(
                .config, "\"\(path)\" is not a server's settings", hint: "compare it with docs/reference/server.md")
        }
        return settings
    }

    init(folder: String, store: String, url: String, address: String, port: Int, certificate: String?, key: String?) {
        (self.folder, self.store, self.url) = (folder, store, url)
        (self.address, self.port, self.certificate, self.key) = (address, port, certificate, key)
        // A file has one writer at a time, so more threads only wait for it and wake each other. A database has many.
        let perProcessor =
            switch StoreLocation(store) {
            case .file: 2
            case .postgres: 4
            }
        threads = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN))) * perProcessor
    }

    private init?(_ folder: String, _ members: [String: JSON]) {
        guard let store = members["store"]?.text, let url = members["url"]?.text, let address = members["address"]?.text,
            let port = Self.number(members["port"])
        else { return nil }
        self.init(
            folder: folder, store: store, url: url, address: address, port: port, certificate: members["certificate"]?.text,
            key: members["key"]?.text)
        let known = [
            "store", "url", "address", "port", "certificate", "key", "most_connections", "most_connections_of_address",
            "most_logins_of_address",
            "threads",
        ]
        // A misspelt limit must not be no limit.
        guard members.keys.allSatisfy(known.contains) else { return nil }
        for (name, path) in [
            ("most_connections", \Self.mostConnections), ("most_connections_of_address", \.mostConnectionsOfAddress),
            ("most_logins_of_address", \.mostLoginsOfAddress), ("threads", \.threads),
        ] {
            guard let value = members[name] else { continue }
            guard let number = Self.number(value), number > 0 else { return nil }
            self[keyPath: path] = number
        }
    }

    private static func number(_ value: JSON?) -> Int? { if case .number(let digits)? = value { Int(digits) } else { nil } }

    /// The file's text. The limits are in it, so that their names need not be looked up. The number of threads is not: a store
    /// that moves gets its own.
    var text: String {
        var members: [String: JSON] = [
            "store": .string(store), "url": .string(url), "address": .string(address), "port": .number(String(port)),
            "most_connections": .number(String(mostConnections)),
            "most_connections_of_address": .number(String(mostConnectionsOfAddress)),
            "most_logins_of_address": .number(String(mostLoginsOfAddress)),
        ]
        if let certificate { members["certificate"] = .string(certificate) }
        if let key { members["key"] = .string(key) }
        return JSON.object(members).serialized.replacing(",\"", with: ",\n\"") + "\n"
    }

    func save() throws {
        let path = "\(folder)/\(Self.fileName)"
        do throws(StorageError) {
            var draft = try Draft.make(for: path, .onlyNew)
            try draft.write(Array(text.utf8).span)
            try draft.finish()
        } catch { throw ServerFailure(error, path) }
    }

    /// How many GETs are worked on at once, besides.
    var readingThreads: Int { max(1, threads / 2) }

    /// The store's place. A path that is not absolute is below the data folder.
    var location: StoreLocation {
        let location = StoreLocation(store)
        if case .file(let path) = location, !FilePath.isAbsolute(path) { return .file("\(folder)/\(path)") }
        return location
    }

    func open(connections: Int = 2) throws -> any ServerStore {
        try location.open(ServerTables.schema, connections: connections)
    }
}
#endif
