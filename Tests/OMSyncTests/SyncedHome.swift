import Foundation
import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import OMStorage
import OMSyncKeys
import OMSystem
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

/// A device with one vault. Several threads may use it as if they were processes, while none changes the clock.
final class SyncedHome: @unchecked Sendable {
    let name: String
    private let folder: TestFolder
    private var path: String { folder.path + "/data/a.omv" }
    /// The folder that has all of it.
    var place: String { folder.path }
    /// Seconds since 1970.
    var now: Int64 = 1_800_000_000

    init(_ name: String) throws {
        self.name = name
        folder = try TestFolder(containing: ["data"])
    }

    private func device() throws -> DeviceFolder { try DeviceFolder.make(folder.path + "/device") }

    func create(id: [UInt8] = Random.bytes(16)) throws {
        try VaultFile.create(
            path, id: id, device: device(), policy: VaultPolicy(defaultLevel: .whenUnlocked, stretch: .floor),
            slots: [NewSlot(keyFile: key)], now: now)
    }

    private let key = VaultKeyFile.random()

    func unlock() throws -> Vault {
        let file = try VaultFile.open(path, device: device())
        let slot = file.slots[0]
        return try file.unlock(slot, with: key.key())
    }

    func edit(_ body: (inout VaultEdit) throws(VaultError) -> Void) throws { try unlock().edit(now: now, body) }

    func add(_ item: String, _ value: String, level: ProtectionLevel? = nil) throws {
        try edit { edit throws(VaultError) in
            try edit.add(ItemName(item), level: level) { draft throws(VaultError) in
                try draft.put(SecretBytes(copying: Array(value.utf8)), at: FieldName("password"))
            }
        }
    }

    func put(_ item: String, _ value: String) throws {
        try edit { edit throws(VaultError) in
            try edit.put(SecretBytes(copying: Array(value.utf8)), at: FieldPath(ItemName(item), FieldName("password")))
        }
    }

    func putSecond(_ item: String, _ value: String) throws {
        try edit { edit throws(VaultError) in
            try edit.put(SecretBytes(copying: Array(value.utf8)), at: FieldPath(ItemName(item), FieldName("note")))
        }
    }

    /// Adds an item with a value above 1 MiB.
    func addLarge(_ item: String, _ value: String) throws {
        try edit { edit throws(VaultError) in
            try edit.add(ItemName(item), level: nil) { draft throws(VaultError) in
                try draft.put(try spooled(value), at: FieldName("password"))
            }
        }
    }

    func putLarge(_ item: String, _ value: String) throws {
        try edit { edit throws(VaultError) in
            var change = ItemChange()
            try change.set.put(try spooled(value), at: FieldName("password"))
            try edit.update(ItemName(item), change)
        }
    }

    private func spooled(_ value: String) throws(VaultError) -> SpooledValue {
        var spool = try ValueSpool(besideVault: path)
        try spool.append(Array(value.utf8).span)
        return try spool.finish()
    }

    func large(_ item: String) throws -> String {
        let vault = try unlock()
        let path = FieldPath(try ItemName(item), try FieldName("password"))
        let found = try vault.item(try ItemName(item))
        let count = try #require(found.fields.first { $0.name == path.field }?.count)
        var bytes: [UInt8] = []
        for index in 0..<(count + Vault.chunkCount - 1) / Vault.chunkCount {
            bytes += try vault.chunk(index, of: path).withBytes { chunk in chunk.indices.map { chunk[$0] } }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func value(_ item: String, revision: UInt64) throws -> String {
        let path = FieldPath(try ItemName(item), try FieldName("password"))
        return try unlock().secret(path, revision: revision).withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    /// The password of each live item, by its name, without the items whose names begin with a prefix.
    func values(except prefix: String? = nil) throws -> [String: String] {
        let vault = try unlock()
        var values: [String: String] = [:]
        for item in try vault.items() where prefix.map({ !item.name.text.hasPrefix($0) }) ?? true {
            // Also of a name that changed its meaning, which no read by name answers.
            let secret = try vault.read { snapshot throws(VaultError) in
                guard let (level, entry) = try snapshot.find(item.name) else { throw .noItem(item.name) }
                let opened = try snapshot.open(entry, level, revision: nil)
                return try snapshot.value(of: try opened.field(FieldPath(item.name, FieldName("password"))), in: opened)
            }
            values[item.name.text] = secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
            }
        }
        return values
    }

    /// Adds a device with an entry whose digest is smaller than another one.
    func addDevice(_ keys: RollMember.Keys, named name: String, before digest: [UInt8]) throws {
        let vault = try unlock()
        while true {
            do throws(VaultError) {
                return try vault.editSync(now: now) { access throws(VaultError) in
                    let change = try RollChange(vault, access, now: now)
                    guard let name = DeviceName(name) else { throw .corrupt(.sync) }
                    let entry = try change.add(change.member(keys, named: name), signedBy: vault.signer(access), &access)
                    guard entry.digest.lexicographicallyPrecedes(digest) else { throw .tooLarge }
                }
            } catch .tooLarge { continue }
        }
    }

    // MARK: - Other lives of the file

    /// The file and all that the device knows of it: what a disk has that is put back later.
    func snapshot() throws -> TestFolder {
        let copy = try TestFolder()
        for part in ["data", "device"] {
            try FileManager.default.copyItem(atPath: "\(folder.path)/\(part)", toPath: "\(copy.path)/\(part)")
        }
        return copy
    }

    func putBack(_ snapshot: TestFolder) throws {
        for part in ["data", "device"] {
            try FileManager.default.removeItem(atPath: "\(folder.path)/\(part)")
            try FileManager.default.copyItem(atPath: "\(snapshot.path)/\(part)", toPath: "\(folder.path)/\(part)")
        }
    }

    func rekey(recovery: consuming RecoveryMember? = nil) throws {
        let vault = try unlock()
        let (slots, _) = try vault.settings()
        let shared = try slots.compactMap { slot in try NewSlot(sharing: slot).map { Vault.RekeyedSlot(id: slot.id, $0) } }
        _ = try vault.rekey(
            slots: [Vault.RekeyedSlot(id: slots[0].id, NewSlot(keyFile: key))] + shared, expecting: slots,
            with: RollRekey(recovery: recovery, now: now), now: now)
    }

    /// The edits that the items here include, or those of one item.
    func dots(of name: String? = nil) throws -> Set<Dot> {
        try unlock().readSync { access throws(VaultError) in
            var dots: Set<Dot> = []
            for place in try access.places() {
                let content = try access.version(at: place).content
                if name == nil || content.name?.text == name { dots.formUnion(content.parts?.seen.dots ?? []) }
            }
            return dots
        }
    }

    /// A digest of the link of now.
    func link() throws -> [UInt8]? {
        let vault = try unlock()
        return try vault.readSync { access throws(VaultError) in
            try DeviceLanes(vault, access).link?.valueHash(ofDigest: [UInt8](repeating: 0, count: 32))
        }
    }

    /// The device's number in the roll.
    func number() throws -> UInt32 {
        try #require(try unlock().readSync { access throws(VaultError) in access.own?.device })
    }

    /// An exchange that is killed at a call of the folder.
    ///
    /// - Returns: Whether it came to its end before that.
    func syncKilled(behind count: Int) throws -> Bool {
        let vault = try unlock()
        let row = try vault.remotes()[0]
        let folder = FolderRemote(in: row.path, vault: vault.id, incarnation: row.incarnation)
        do {
            _ = try vault.synchronise(with: row, KilledStore(folder, behind: count), now: now)
            return true
        } catch is KilledStore.Killed { return false }
    }

    /// One exchange with the only remote or that of a number, in its folder or in another one with a copy of it.
    @discardableResult
    func sync(in path: String? = nil, number: Int = 0, within limit: WaitingLimit = .standard) throws -> SyncReport {
        let vault = try unlock()
        let row = try vault.remotes()[number]
        return try vault.synchronise(
            with: row, FolderRemote(in: path ?? row.path, vault: vault.id, incarnation: row.incarnation), within: limit,
            now: now)
    }

    /// Writes a version that includes all edits of the item, at a level without power over it: what the thief of a lane does.
    func plant(_ item: String, _ value: String, at level: ProtectionLevel.Availability) throws {
        let vault = try unlock()
        try vault.editSync(now: now) { access throws(VaultError) in
            var found: SyncAccess.LocalVersion?
            for place in try access.places() {
                let version = try access.version(at: place)
                if version.content.state == .live, version.content.name?.text == item { found = version }
            }
            guard let found, let own = access.own, let name = found.content.name else { throw .unchanged }
            var draft = ItemDraft(name: name, created: found.content.created, modified: now)
            try draft.put(SecretBytes(copying: Array(value.utf8)), at: FieldName("password"))
            let parts = found.content.parts(founder: own.founder)
            var seen = parts.seen
            let dot = try access.nextDot()
            seen.insert(dot)
            draft.synced = SyncedParts(dot: dot, seen: seen)
            let padded = try draft.finish(kept: 0) { _, _ throws(VaultError) in throw .tooLarge }
            let content = VersionContent(try ItemContent(opened: padded, format: VaultSchema.thirdSchema.version))
            try access.write(
                SyncAccess.NewVersion(
                    id: found.id, level: level, state: .live, name: name, created: content.created, time: now,
                    parts: SyncedParts(dot: dot, seen: seen)),
                SyncAccess.Source(content, beside: nil, chunkID: { $0 }) { _ in nil }, over: found)
        }
    }

    // MARK: - The file, for an attacker who can write it

    func saved() throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in ["a.omv", "a.omv-wal"] {
            files[name] = try? [UInt8](Data(contentsOf: URL(filePath: folder.path + "/data/" + name)))
        }
        return files
    }

    func restore(_ files: [String: [UInt8]]) throws {
        for name in ["a.omv", "a.omv-wal", "a.omv-shm"] {
            try? FileManager.default.removeItem(atPath: folder.path + "/data/" + name)
        }
        for (name, bytes) in files {
            let path = folder.path + "/data/" + name
            guard FileManager.default.createFile(atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            else { throw VaultError.unchanged }
        }
    }

    func change(_ sql: String) throws {
        let database = try VaultSchema.open(path)
        try database.execute(sql)
    }

    /// What sync leaves to the user.
    func questions() throws -> [OpenQuestion] { try unlock().openQuestions(now: now).questions }

    /// The questions about what the brake holds.
    func braked() throws -> [OpenQuestion] {
        try questions().filter { if case .braked = $0.subject { true } else { false } }
    }

    func settle(_ questions: [OpenQuestion], _ answer: SyncAnswer) throws {
        try unlock().settle(questions.map(\.number), answer, now: now)
    }
}

/// A folder whose reader or writer is killed at a call.
final class KilledStore: RemoteStore {
    struct Killed: Error {}

    private let store: FolderRemote
    private var left: Int

    /// - Parameter count: The number of calls before the kill.
    init(_ store: FolderRemote, behind count: Int) { (self.store, left) = (store, count) }

    private func call<R>(_ body: () throws -> R) throws -> R {
        guard left > 0 else { throw Killed() }
        left -= 1
        return try body()
    }

    func files() throws -> [RemoteFile] { try call { try store.files() } }
    func bytes(of file: RemoteFile) throws -> [UInt8]? { try call { try store.bytes(of: file) } }
    func write(_ bytes: [UInt8], to file: RemoteFile) throws { try call { try store.write(bytes, to: file) } }
    func remove(_ file: RemoteFile) throws -> Bool { try call { try store.remove(file) } }
}

/// Devices that sync through a folder.
struct SyncedHomes {
    let remote: TestFolder
    let homes: [SyncedHome]

    /// - Parameter prepare: Fills the first device before it begins to sync.
    init(_ count: Int, prepare: (SyncedHome) throws -> Void = { _ in }) throws {
        remote = try TestFolder()
        var homes: [SyncedHome] = []
        for index in 0..<count { homes.append(try SyncedHome("device \(index)")) }
        self.homes = homes
        let first = homes[0]
        try first.create()
        try prepare(first)
        let vault = try first.unlock()
        try vault.foundSync(named: #require(DeviceName(first.name)), now: first.now)
        let row = try vault.addRemote(incarnation: Random.bytes(16), path: remote.path, now: first.now)
        let store = FolderRemote(in: remote.path, vault: vault.id, incarnation: row.incarnation)
        try store.make(founding: try vault.roll().entries[0].encoded)
        try first.sync()
        for home in homes.dropFirst() {
            try add(home) { try first.sync() }
            try home.sync()
        }
    }

    /// The name of a device's folder.
    static func name(of device: UInt32) -> String {
        Hex.encode(withUnsafeBytes(of: device.bigEndian) { bytes in Array(bytes) })
    }

    /// Makes a home another device of the vault.
    ///
    /// - Parameter announce: What the first device does before the new one reads the roll.
    func add(_ home: SyncedHome, announcing announce: () throws -> Void) throws {
        let first = homes[0]
        let vault = try first.unlock()
        try home.create(id: vault.id)
        let joining = try home.unlock()
        let new = try NewDevice(of: joining)
        _ = try vault.addDevice(new.keys, named: #require(DeviceName(home.name)), now: first.now)
        try announce()
        try joining.joinSync(try vault.roll(), salt: new.salt, now: home.now)
        _ = try joining.addRemote(incarnation: try vault.remotes()[0].incarnation, path: remote.path, now: home.now)
    }

    func store() throws -> FolderRemote {
        let vault = try homes[0].unlock()
        return FolderRemote(in: remote.path, vault: vault.id, incarnation: try vault.remotes()[0].incarnation)
    }

    /// Puts the files of one device there, as a sync tool does, from a copy of the folder.
    func take(deviceFolder device: UInt32, from copy: String) throws {
        let vault = try homes[0].unlock()
        let name = RemoteFolderName(vault: vault.id, incarnation: try vault.remotes()[0].incarnation).text
        let digits = String(device, radix: 16)
        let part = "\(name)/\(String(repeating: "0", count: 8 - digits.count) + digits)"
        try FileManager.default.removeItem(atPath: "\(remote.path)/\(part)")
        try FileManager.default.copyItem(atPath: "\(copy)/\(part)", toPath: "\(remote.path)/\(part)")
    }

    /// All parcels of the packs on the remote.
    func parcels() throws -> [(device: UInt32, parcel: Parcel)] {
        let store = try store()
        var parcels: [(UInt32, Parcel)] = []
        for file in try store.files() {
            guard case .pack(let device, _) = file else { continue }
            let pack = try Pack(decoding: try #require(try store.bytes(of: file)))
            parcels += pack.parcels.map { (device, $0) }
        }
        return parcels
    }
}
