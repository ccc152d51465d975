// Vaults of 10 to 100,000 items for the measurements. The library makes them, and an agent unlocks them. With the command,
// the largest vault would take an hour.

internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMVault

/// An item whose names and secrets together have 210 bytes, as in docs/internals/bench.md.
struct SampleItem {
    static let count = 210

    let name: String
    let fields: [(name: String, value: String)]

    init(_ index: Int) {
        var generator = Letters(seed: UInt64(index) &+ 1)
        let number = String(index)
        let site = "site-" + String(repeating: "0", count: max(0, 6 - number.utf8.count)) + number
        let fields = [
            ("username", "ada.lovelace@\(site).example"), ("password", generator.text(24)),
            ("notes", "opened by Ada, recovery "),
        ]
        let used = site.utf8.count + fields.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count }
        name = site
        self.fields = fields.dropLast() + [(fields[2].0, fields[2].1 + generator.text(Self.count - used))]
    }

    /// The item for programs with one file for each item: the password first.
    var text: String { fields[1].value + "\nusername: \(fields[0].value)\nnotes: \(fields[2].value)\n" }

    /// Letters that hardly compress, and that are the same in every run.
    private struct Letters {
        private var state: UInt64

        init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

        mutating func text(_ count: Int) -> String {
            String(
                decoding: (0..<count).map { _ in
                    state ^= state << 13
                    state ^= state >> 7
                    state ^= state << 17
                    return UInt8(ascii: "a") + UInt8((state >> 33) % 26)
                }, as: UTF8.self)
        }
    }
}

/// A user's home folder with the vaults, and an agent that keeps them open.
final class VaultHome {
    let omvault: Program
    let folder: TemporaryFolder
    let password: String
    private var made: [Int: Result<MadeVault, BenchError>] = [:]
    private var added = 0

    struct MadeVault {
        let name: String
        /// The bytes of its file, with the content of the write-ahead log.
        let bytes: Int
    }

    init(_ options: Options, _ folder: TemporaryFolder) throws(BenchError) {
        self.folder = try folder.subfolder("vaults")
        var omvault = try StartRows.omvault(options, home: self.folder.path)
        omvault.variables = ["XDG_RUNTIME_DIR=\(try self.folder.subfolder("run").path)"]
        self.omvault = omvault
        password = try self.folder.write("password", Array(Self.passphrase.utf8))
        for part in [".local", ".local/share", ".local/share/omvault"] { _ = try self.folder.subfolder(part) }
    }

    private static let passphrase = "correct horse battery staple"
    /// The item that the rows ask for. Every vault has it.
    static let sample = SampleItem(7)

    var unlocking: [String] { ["--no-agent", "--password-from", "file:\(password)"] }

    /// The vault with `count` items, open in the agent. It is made when the first row asks for it.
    func vault(_ count: Int) throws(BenchError) -> MadeVault {
        if let made = made[count] { return try made.get() }
        let result: Result<MadeVault, BenchError>
        do throws(BenchError) { result = .success(try make(count)) } catch { result = .failure(error) }
        made[count] = result
        return try result.get()
    }

    private func make(_ count: Int) throws(BenchError) -> MadeVault {
        let name = "v\(count)"
        let path = try create(name, .standard) { vault throws(VaultError) in
            for start in stride(from: 0, to: count, by: 10_000) {
                try Self.fill(vault, start..<min(start + 10_000, count))
            }
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw BenchError("cannot look at \(path)") }
        try unlock(name)
        let sample = Self.sample
        let read = try omvault.output(["--vault", name, "get", "\(sample.name):password"], in: folder)
        guard read == sample.fields[1].value else { throw BenchError("vault \(name) does not hold what was put in") }
        return MadeVault(name: name, bytes: Int(status.st_size))
    }

    /// The seconds for one change that adds `count` items to a new vault.
    func timeImport(_ count: Int) throws(BenchError) -> Double {
        var seconds = 0.0
        let path = try create("imported", .floor) { vault throws(VaultError) in
            let start = Clock.now
            try Self.fill(vault, 0..<count)
            seconds = Clock.now - start
        }
        for end in ["", "-wal", "-shm"] { unlink(path + end) }
        return seconds
    }

    /// The seconds in which a running process adds one item through the agent.
    func timeAdd(_ count: Int) throws(BenchError) -> Double {
        let name = newName()
        return try timeMessage(count) {
            var values = FieldValues()
            try values.put(SecretBytes(copying: Array(Self.passphrase.utf8)), at: try FieldName("password"))
            return .add(try ItemName(name), level: nil, ItemChange(set: values))
        }
    }

    /// The seconds in which a running process searches through the agent.
    func timeFind(_ count: Int, _ word: String) throws(BenchError) -> Double {
        try timeMessage(count) {
            var search = ItemSearch()
            guard search.add(word.utf8Span.span) else { throw BenchError("no word to look for") }
            return .find(search, trashed: false)
        }
    }

    private func timeMessage(_ count: Int, _ request: () throws -> ItemRequest) throws(BenchError) -> Double {
        let path = path(try vault(count).name)
        do {
            guard let place = VaultPaths(vault: path, device: device) else { throw BenchError("\(path) is too long") }
            let client = AgentClient(try AgentSocket(path: "\(folder.path)/run/omvault/agent.sock"))
            let request = try request()
            let start = Clock.now
            switch try client.perform(place, request) {
            case .reply: return Clock.now - start
            case .failure(let error): throw BenchError("the agent refuses: \(error)")
            case .locked: throw BenchError("the agent has locked")
            }
        } catch let error as BenchError {
            throw error
        } catch {
            throw BenchError("the agent does not answer: \(error)")
        }
    }

    /// The seconds for the disk writes of an add: four pages at the end of a log and a mark in its place, each synced.
    func timeSyncs() throws(BenchError) -> Double {
        let files = try ["syncs-log", "syncs-mark"].map { name throws(BenchError) in
            let file = open("\(folder.path)/\(name)", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw BenchError("cannot make a file in \(folder.path)") }
            return file
        }
        defer { for file in files { close(file) } }
        let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: added), count: 4 * 4120)
        added += 1
        let start = Clock.now
        _ = lseek(files[0], 0, SEEK_END)
        guard write(files[0], bytes, bytes.count) == bytes.count, fdatasync(files[0]) == 0,
            pwrite(files[1], bytes, 512, off_t(added % 2 * 512)) == 512, fdatasync(files[1]) == 0
        else { throw BenchError("cannot write in \(folder.path)") }
        return Clock.now - start
    }

    /// Locks the vault and opens it again, so the agent's caches are empty.
    func forget(_ count: Int) throws(BenchError) {
        let name = try vault(count).name
        try omvault.run(["--vault", name, "lock"])
        try unlock(name)
    }

    private func unlock(_ name: String) throws(BenchError) {
        try omvault.run(["--vault", name, "unlock", "--idle", "43200", "--password-from", "file:\(password)"])
    }

    private var device: String { "\(folder.path)/.local/state/omvault-device" }
    private func path(_ vault: String) -> String { "\(folder.path)/.local/share/omvault/\(vault).omv" }

    /// An item name that no vault has yet.
    func newName() -> String {
        added += 1
        return "added-\(added)"
    }

    func end() { try? omvault.run(["agent", "stop"]) }

    /// - Returns: The path of the vault, which is closed when this returns.
    private func create(
        _ name: String, _ stretch: Argon2id.Parameters, _ fill: (borrowing Vault) throws(VaultError) -> Void
    ) throws(BenchError) -> String {
        let path = path(name)
        do {
            let device = try DeviceFolder.make(device)
            let password = try Password(SecretBytes(copying: Array(Self.passphrase.utf8)))
            try VaultFile.create(
                path, device: device, policy: VaultPolicy(defaultLevel: .whenUnlocked),
                slots: [try NewSlot(password: password, stretch)])
            let file = try VaultFile.open(path, device: device)
            let slot = file.slots[0]
            let vault = try file.unlock(slot, with: try slot.key(stretching: password.bytes))
            try fill(vault)
        } catch {
            throw BenchError("cannot make vault \(name): \(error)")
        }
        return path
    }

    private static func fill(_ vault: borrowing Vault, _ indices: Range<Int>) throws(VaultError) {
        try vault.edit { edit throws(VaultError) in
            for index in indices {
                let item = SampleItem(index)
                try edit.add(try ItemName(item.name), level: nil) { draft throws(VaultError) in
                    for (name, value) in item.fields {
                        try draft.put(SecretBytes(copying: Array(value.utf8)), at: try FieldName(name))
                    }
                }
            }
        }
    }
}
