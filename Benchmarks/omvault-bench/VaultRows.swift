// Vault operations as a user runs them: mostly whole processes, from start to exit, with 10 to 100,000 items.

internal import Glibc

enum VaultRows {
    static func all(_ options: Options, _ folder: TemporaryFolder) -> [Row] {
        let world = World(options, folder)
        let sizes = [10, 1000, 10_000, 100_000].filter { $0 <= options.mostItems }
        let shared = sizes.filter { $0 <= 1000 }
        return sizes.map { get(world, $0) } + growth(world, sizes) + shared.flatMap { getElsewhere(world, $0) }
            + sizes.map { getByPassphrase(world, $0) } + sizes.flatMap { add(world, $0) }
            + shared.flatMap { addElsewhere(world, $0) }
            + (options.mostItems >= 10_000 ? atTenThousand(options, world) : [])
    }

    /// Ends the processes that were started for these rows.
    static func end() { World.shared?.end() }

    // MARK: - Reading

    private static func get(_ world: World, _ count: Int) -> Row {
        Row(
            name: "get through the agent, \(text(count)) items", unit: .time, asked: .ratio(1.0),
            ours: world.get(count),
            peer: .init(label: "age -d, key file") { () throws(BenchError) in try world.age().time() })
    }

    private static func growth(_ world: World, _ sizes: [Int]) -> [Row] {
        guard let least = sizes.first, let most = sizes.last, least < most else { return [] }
        return [
            Row(
                name: "get through the agent, \(text(most)) items beside \(text(least))", unit: .time,
                asked: .ratio(1.1), ours: world.get(most), peer: world.get(least))
        ]
    }

    private static func getElsewhere(_ world: World, _ count: Int) -> [Row] {
        [
            Row(
                name: "get through the agent, \(text(count)) items, beside pass", unit: .time, asked: .nothing,
                ours: world.get(count),
                peer: .init(label: "pass show") { () throws(BenchError) in try world.pass(count).timeShow() }),
            Row(
                name: "get through the agent, \(text(count)) items, beside keepassxc-cli", unit: .time, asked: .nothing,
                ours: world.get(count),
                peer: .init(label: "keepassxc-cli show") { () throws(BenchError) in
                    try world.keepassxc(count).timeShow()
                }),
        ]
    }

    private static func getByPassphrase(_ world: World, _ count: Int) -> Row {
        Row(
            name: "get from the passphrase, \(text(count)) items", unit: .time, asked: .plus(0.008),
            ours: .init(label: "omvault get --no-agent") { () throws(BenchError) in
                let (home, vault) = (try world.home(), try world.home().vault(count))
                return try home.omvault.time(
                    ["--vault", vault.name, "get", "\(VaultHome.sample.name):password"] + home.unlocking)
            },
            peer: .init(label: "Argon2id, in process") { () throws(BenchError) in try StretchRows.stretch() })
    }

    // MARK: - Writing

    private static func add(_ world: World, _ count: Int) -> [Row] {
        [
            Row(
                name: "durable add through the agent, \(text(count)) items", unit: .time, asked: .atMost(0.005),
                ours: .init(label: "AgentClient") { () throws(BenchError) in try world.home().timeAdd(count) },
                peer: .init(label: "its two fdatasync alone") { () throws(BenchError) in
                    try world.home().timeSyncs()
                }),
            Row(
                name: "durable add, the whole command, \(text(count)) items", unit: .time, asked: .atMost(0.005),
                ours: world.add(count), peer: nil),
        ]
    }

    private static func addElsewhere(_ world: World, _ count: Int) -> [Row] {
        [
            Row(
                name: "durable add, \(text(count)) items, beside pass", unit: .time, asked: .nothing,
                ours: world.add(count),
                peer: .init(label: "pass insert") { () throws(BenchError) in
                    try world.pass(count).timeInsert(try world.home().newName())
                }),
            Row(
                name: "durable add, \(text(count)) items, beside keepassxc-cli", unit: .time, asked: .nothing,
                ours: world.add(count),
                peer: .init(label: "keepassxc-cli add") { () throws(BenchError) in
                    try world.keepassxc(count).timeAdd(try world.home().newName())
                }),
        ]
    }

    // MARK: - Ten thousand items

    private static func atTenThousand(_ options: Options, _ world: World) -> [Row] {
        let count = 10_000
        return [
            search(world, count, "one item", atMost: 0.010, [VaultHome.sample.fields[1].value]),
            search(world, count, "every item", atMost: 0.020, ["ada.lovelace"]),
            Row(
                name: "search of every field, 10,000 items, one item, the message alone", unit: .time,
                asked: .atMost(0.010),
                ours: .init(label: "AgentClient") { () throws(BenchError) in
                    try world.home().timeFind(count, VaultHome.sample.fields[1].value)
                }, peer: nil),
            Row(
                name: "search of every field, 10,000 items, beside keepassxc-cli", unit: .time, asked: .nothing,
                ours: world.run(count, "omvault find", ["find", "ada.lovelace"]),
                peer: .init(label: "keepassxc-cli search") { () throws(BenchError) in
                    try world.keepassxc(count).timeSearch()
                }),
            Row(
                name: "list of 10,000 items through the agent", unit: .time, asked: .atMost(0.020),
                ours: world.run(count, "omvault ls", ["ls", "site"]),
                peer: .init(label: "pass find, 1,000 names") { () throws(BenchError) in
                    try world.pass(1000).timeFind()
                }),
            Row(
                name: "the first list of 10,000 items after an unlock, each opened", unit: .time, asked: .atMost(0.120),
                ours: .init(label: "omvault ls") { () throws(BenchError) in
                    try world.home().forget(count)
                    return try world.run(count, "omvault ls", ["ls", "site"]).measure()
                }, peer: nil),
            Row(
                name: "import of 10,000 items", unit: .time, asked: .atMost(0.25),
                ours: .init(label: "one Vault.edit") { () throws(BenchError) in try world.home().timeImport(count) },
                peer: .init(label: "keepassxc-cli import") { () throws(BenchError) in
                    try world.keepassxc(count).timeImport()
                }),
            Row(
                name: "file bytes per item of \(SampleItem.count), 10,000 items", unit: .bytes, asked: .atMost(550),
                ours: .init(label: "vault") { () throws(BenchError) in
                    Double(try world.home().vault(count).bytes) / Double(count)
                },
                peer: .init(label: "KDBX 4") { () throws(BenchError) in
                    Double(try world.keepassxc(count).bytes) / Double(count)
                }),
            memory(options, world, count, "get", ["get", "\(VaultHome.sample.name):password"]),
            memory(options, world, count, "ls", ["ls"]),
            Row(
                name: "peak memory of get, 10,000 items, beside keepassxc-cli", unit: .bytes, asked: .nothing,
                ours: world.memory(options, count, ["get", "\(VaultHome.sample.name):password"]),
                peer: .init(label: "keepassxc-cli show") { () throws(BenchError) in
                    try world.keepassxc(count).peakMemory(options)
                }),
        ]
    }

    private static func search(
        _ world: World, _ count: Int, _ what: String, atMost seconds: Double, _ words: [String]
    ) -> Row {
        Row(
            name: "search of every field, 10,000 items, finds \(what)", unit: .time, asked: .atMost(seconds),
            ours: world.run(count, "omvault find", ["find"] + words),
            peer: .init(label: "pass find, 1,000 names") { () throws(BenchError) in try world.pass(1000).timeFind() })
    }

    private static func memory(
        _ options: Options, _ world: World, _ count: Int, _ verb: String, _ words: [String]
    ) -> Row {
        Row(
            name: "peak memory of \(verb), \(text(count)) items", unit: .bytes, asked: .plus(15 * 1_048_576),
            ours: world.memory(options, count, words),
            peer: .init(label: "argon2, 64 MiB") { () throws(BenchError) in
                let input = try world.folder.write("argon2-memory", Array("correct horse".utf8))
                return try Program(path: options.argon2, input: input).peakMemory(
                    ["0123456789abcdef", "-id", "-t", "3", "-k", "65536", "-p", "1", "-l", "32", "-r"],
                    python: options.python, in: world.folder)
            })
    }

    private static func text(_ count: Int) -> String {
        count < 1000 ? String(count) : "\(count / 1000),000"
    }
}

/// The homes and files that the rows share. Each is made when the first row asks for it.
private final class World {
    /// For ``VaultRows/end()``: an agent that kept running would keep the folder's keys.
    nonisolated(unsafe) static var shared: World?

    let options: Options
    let folder: TemporaryFolder
    private var ours: Result<VaultHome, BenchError>?
    private var ages: Result<AgeFile, BenchError>?
    private var stores: [Int: Result<PasswordStore, BenchError>] = [:]
    private var files: [Int: Result<KeePassFile, BenchError>] = [:]

    init(_ options: Options, _ folder: TemporaryFolder) {
        (self.options, self.folder) = (options, folder)
        World.shared = self
    }

    func end() {
        try? ours?.get().end()
        for store in stores.values { try? store.get().end() }
    }

    func home() throws(BenchError) -> VaultHome {
        try once(&ours) { () throws(BenchError) in try VaultHome(options, folder) }
    }

    func age() throws(BenchError) -> AgeFile {
        try once(&ages) { () throws(BenchError) in try AgeFile(options, folder) }
    }

    func pass(_ count: Int) throws(BenchError) -> PasswordStore {
        try once(&stores[count]) { () throws(BenchError) in try PasswordStore(options, folder, count: count) }
    }

    func keepassxc(_ count: Int) throws(BenchError) -> KeePassFile {
        try once(&files[count]) { () throws(BenchError) in try KeePassFile(options, folder, count: count) }
    }

    private func once<Made>(
        _ made: inout Result<Made, BenchError>?, _ make: () throws(BenchError) -> Made
    ) throws(BenchError) -> Made {
        if let made { return try made.get() }
        let result: Result<Made, BenchError>
        do throws(BenchError) { result = .success(try make()) } catch { result = .failure(error) }
        made = result
        return try result.get()
    }

    func get(_ count: Int) -> Row.Side {
        .init(label: "omvault get, \(count)") { () throws(BenchError) in
            let (home, vault) = (try self.home(), try self.home().vault(count))
            return try home.omvault.time(["--vault", vault.name, "get", "\(VaultHome.sample.name):password"])
        }
    }

    /// The whole command through the agent.
    func run(_ count: Int, _ label: String, _ words: [String]) -> Row.Side {
        .init(label: label) { () throws(BenchError) in
            let (home, vault) = (try self.home(), try self.home().vault(count))
            return try home.omvault.time(["--vault", vault.name] + words)
        }
    }

    func add(_ count: Int) -> Row.Side {
        .init(label: "omvault add") { () throws(BenchError) in
            let (home, vault) = (try self.home(), try self.home().vault(count))
            return try home.omvault.time(
                ["--vault", vault.name, "add", home.newName(), "--field", "password=file:\(home.password)"])
        }
    }

    func memory(_ options: Options, _ count: Int, _ words: [String]) -> Row.Side {
        .init(label: "omvault \(words[0]) --no-agent") { () throws(BenchError) in
            let (home, vault) = (try self.home(), try self.home().vault(count))
            return try home.omvault.peakMemory(
                ["--vault", vault.name] + words + home.unlocking, python: options.python, in: home.folder)
        }
    }
}
