// The rows of a device's tables, against the bytes that a second implementation made: Tests/Golden/sync/README.md.

import Foundation
import OMItems
import OMParcels
import OMRecords
import OMSecrets
import OMStorage
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("The published rows of sync", .onOwnThreads) struct PublishedRowsTests {
    private let published: PublishedRows
    /// A vault whose tables have the published rows.
    private let home: SyncedHome
    private let (one, two): (UInt32, UInt32)
    private let entries: [RollEntry]
    private let heads: [Head]
    private let parcels: [Parcel]
    private let versions: [SyncedVersion]

    init() throws {
        let published = try PublishedRows.read()
        self.published = published
        (one, two) = (published.deviceNumbers[0], published.deviceNumbers[1])
        entries = try published.roll.map { try RollEntry(decoding: Hex.decode($0)) }
        heads = try published.heads.map { try Head(decoding: Hex.decode($0)) }
        parcels = try published.parcels.map { try Parcel(decoding: Hex.decode($0)) }
        versions = Self.versions(one, two)
        home = try SyncedHome("laptop")
        try home.create(id: id(0x11))
        let own = SyncSelf(device: one, founder: one, salt: id(0x44), issued: 4)
        let rows = try published.rows.map { try $0.row() }
        try home.unlock().editSync(now: home.now) { access throws(VaultError) in
            try access.begin(own)
            for row in rows { try access.set(row.kind, row.key, row.body) }
        }
    }

    /// Live, purged and in the trash.
    private static func versions(_ one: UInt32, _ two: UInt32) -> [SyncedVersion] {
        let link = linkKey(bytes(0x05))
        func field(_ value: String, isShown: Bool = false) -> SyncedVersion.Field {
            SyncedVersion.Field(digest: link.valueHash(ofDigest: PublicHash.hash(Array(value.utf8))), isShown: isShown)
        }
        let (password, user) = (FieldName(checked: "password"), FieldName(checked: "username"))
        let live = SyncedVersion(
            seen: seen([one: 3, two: 5]), dot: Dot(device: one, count: 3), time: 1_650_000_000, created: 1_600_000_000,
            level: .afterFirstUnlock, lowerings: [Lowering(from: .whenUnlocked, seen: seen([one: 2]))], origin: id(0x44),
            name: ItemName(checked: "mail"), details: ItemDetails(type: .login, tags: [], expires: nil),
            fields: [password: field("hunter2"), user: field("ann")])
        let purged = SyncedVersion(
            seen: seen([one: 3, two: 6]), dot: Dot(device: two, count: 6), time: 1_650_000_100, created: 1_600_000_000,
            state: .purged, level: .whenUnlocked, name: nil, fields: [:])
        let trashed = SyncedVersion(
            seen: seen([two: 7]), dot: Dot(device: two, count: 7), time: 1_650_000_200, created: 1_600_000_000,
            state: .trashed, level: .whenUnlocked, name: ItemName(checked: "tour à pied"),
            details: ItemDetails(
                type: .custom, tags: [ItemTag(checked: "home"), ItemTag(checked: "work")], expires: 2_114_380_800),
            fields: [user: field("ann", isShown: true)])
        return [live, purged, trashed]
    }

    // MARK: - What a test reads and writes

    private func published(_ kind: SyncRow.Kind) throws -> [SyncRow] {
        try published.rows.map { try $0.row() }.filter { $0.kind == kind }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    private func read<R>(_ body: (borrowing SyncAccess) throws(VaultError) -> R) throws -> R { try home.unlock().readSync(body) }

    /// Drops all rows of a kind, and expects that a change writes them again, byte for byte.
    private func expectAgain(_ kind: SyncRow.Kind, _ change: (inout SyncAccess) throws(VaultError) -> Void) throws {
        let rows = try home.unlock().editSync(now: home.now) { access throws(VaultError) in
            for row in try access.rows(kind) { try access.set(kind, row.key, nil) }
            try change(&access)
            return try access.rows(kind)
        }
        #expect(try rows == published(kind))
    }

    private func sum(of rows: [SyncRow]) -> [UInt8] {
        var sum = SyncRowSum(bytes(0), DeviceKey(key(0x41)), vault: id(0x11))
        for row in rows { sum.toggle(row.kind.rawValue, row.key, row.body) }
        return sum.sum
    }

    // MARK: - The row of the device

    @Test("each kind of row is published, with its MAC")
    func macs() throws {
        let rows = try published.rows.map { try $0.row() }
        #expect(Set(rows.map(\.kind)) == Set(SyncRow.Kind.allCases))
        #expect(rows.map { Hex.encode(sum(of: [$0])) } == published.rows.map(\.mac))
    }

    @Test("the row of the device itself opens with the device key, and has the sums of all rows and of the notes")
    func own() throws {
        let rows = try published.rows.map { try $0.row() }
        let notes = rows.filter { SyncNote.isSummed($0.kind, $0.key) }
        #expect(notes.count == 2)
        for (index, box) in try published.ownBoxes.map({ try Hex.decode($0) }).enumerated() {
            let own = try SyncSelf(opening: box, DeviceKey(key(0x41)), vault: id(0x11))
            #expect(own.device == one && own.founder == one && own.salt == id(0x44) && own.issued == 4)
            #expect(own.generation == UInt64(8 + index) && own.hasNotes == (index == 1))
            #expect(own.rowSum == sum(of: index == 1 ? rows : rows.filter { !notes.contains($0) }))
            #expect(own.noteSum == (index == 1 ? sum(of: notes) : bytes(0)))
            #expect(Hex.encode(own.encoded) == published.own[index])
            #expect(Hex.encode(SyncSelf.mark(own.generation, box: box)) == published.ownMarks[index])
            let again = own.sealed(DeviceKey(key(0x41)), vault: id(0x11))
            #expect(try SyncSelf(opening: again, DeviceKey(key(0x41)), vault: id(0x11)) == own)
        }
    }

    // MARK: - Keys

    @Test("the lanes, the link and a former member key open with the class keys")
    func keys() throws {
        let (maker, classes) = (entries[0].digest, SampleClassKeys())
        let (lanes, link, former) = try read { access throws(VaultError) in
            let lanes = try DeviceLanes(classes, access)
            let former = try FormerKey.signer(0x0102_0304, classes, access)
            return (lanes.lanes(ofEpoch: 1), lanes.link(ofEpoch: 1, madeBy: maker), former)
        }
        let found = try #require(lanes).map { lane in lane.withKey(exposed) }
        #expect(found == [bytes(0x61), bytes(0x62), bytes(0x63)])
        #expect(try #require(link).withKey(exposed) == bytes(0x05))
        let member = try #require(former).withKey { key in key.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } } }
        #expect(member == bytes(0x47))
        // Another place in the table opens nothing.
        let first = try published(.lane)[0]
        try home.unlock().editSync(now: home.now) { access throws(VaultError) in
            try access.set(.lane, Array(first.key.dropLast()) + [0], first.body)
        }
        #expect(throws: VaultError.corrupt(.sync)) {
            try read { access throws(VaultError) in _ = try DeviceLanes(classes, access) }
        }
    }

    @Test("the login at the server of a remote opens with the class key of always, and at no other remote")
    func serverLogin() throws {
        let classes = SampleClassKeys()
        let login = try #require(try read { access throws(VaultError) in try ServerLoginRow.read(1, classes, access) })
        let unchecked = ServerLogin(
            refresh: SecretBytes(copying: Array("refresh-token".utf8)), access: SecretBytes(copying: Array("access-token".utf8)),
            expires: 1_700_000_900, user: "añn", trusted: Array("-----".utf8))
        let made = try #require(unchecked)
        let same = made.encoded
        let isSame = login.encoded.isEqual(to: same)
        #expect(isSame && login.user == "añn" && login.trusted == made.trusted)
        #expect(login.isAlive(at: 1_700_000_869) && !login.isAlive(at: 1_700_000_870))
        let row = try published(.serverLogin)[0]
        try home.unlock().editSync(now: home.now) { access throws(VaultError) in try access.set(.serverLogin, [2], row.body) }
        #expect(throws: VaultError.corrupt(.sync)) {
            try read { access throws(VaultError) in _ = try ServerLoginRow.read(2, classes, access) }
        }
    }

    private static func login(_ name: String) throws -> ServerLogin {
        let login = ServerLogin(
            refresh: SecretBytes(copying: Array("refresh-\(name)".utf8)), access: SecretBytes(copying: Array(name.utf8)),
            expires: 1_700_000_900, user: "ann", trusted: [])
        return try #require(login)
    }

    @Test("the login of a remote that moved is neither read nor written by what speaks to its old server")
    func movedRemote() throws {
        let vault = try home.unlock()
        func add(_ path: String) throws -> VaultServerLogin {
            let row = try vault.addRemote(incarnation: id(0x23), path: path, login: try Self.login(path), now: home.now)
            return VaultServerLogin(of: row, in: vault)
        }
        func kept(_ keeper: VaultServerLogin) throws -> String? {
            let bytes = try keeper.login()?.access.withBytes { bytes in bytes.indices.map { bytes[$0] } }
            return bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        let old = try add("https://old.example")
        #expect(try kept(old) == "https://old.example")
        let new = try add("https://new.example")
        #expect(try kept(old) == nil)
        try old.keep(try Self.login("refreshed"))
        #expect(try kept(new) == "https://new.example")
        try new.keep(try Self.login("refreshed"))
        #expect(try kept(new) == "refreshed")
    }

    @Test("a login without its refresh token still has the access token")
    func withoutRefresh() throws {
        let login = try Self.login("a").withoutRefresh
        let expected = SecretBytes(copying: Array("a".utf8))
        let isSame = login.access.isEqual(to: expected)
        #expect(isSame && login.refresh.count == 0 && login.user == "ann" && login.isAlive(at: 1_700_000_000))
    }

    // MARK: - The roll, remotes and heads

    @Test("entries of the roll that count, that lost, and between which the user chooses")
    func roll() throws {
        let entries = entries
        let (roll, asked, chosen) = try read { access throws(VaultError) in
            (
                try DeviceRoll(access).roll.digests, try RollQuestion.entries(access).map(\.digest),
                try RollQuestion.chosen(access)
            )
        }
        #expect(roll == entries.map(\.digest) && asked == [entries[2].digest] && chosen == [entries[1].digest])
        let vault = try home.unlock()
        try expectAgain(.lostEntry) { access throws(VaultError) in try vault.noteLost([entries[1]], &access) }
        let choice = try rollChoice()
        try expectAgain(.rollEntry) { access throws(VaultError) in
            try access.set(.rollEntry, entries[0].digest, entries[0].encoded)
            try DeviceRoll(access).replace(by: choice, &access)
        }
    }

    private func rollChoice() throws -> Roll {
        var roll = try Roll(entries[0])
        for entry in entries.dropFirst() { try roll.append(entry) }
        return roll
    }

    @Test("a remote, the heads of it, and what is written next")
    func remote() throws {
        let packs = [
            Head.PackReference(number: 7, digest: Pack.digest(of: try Hex.decode(published.pack))),
            Head.PackReference(number: 8, digest: bytes(0xBB)),
        ]
        var remote = RemoteRow(id: 1, incarnation: id(0x22), path: "/media/Stick ü")
        (remote.lastPack, remote.packs) = (8, packs)
        remote.ownHeads = [heads[2], heads[1]].map {
            Head.Reference(device: one, number: $0.statement.number, digest: $0.digest)
        }
        #expect(try read { access throws(VaultError) in try RemoteRow.all(access) } == [remote])
        try expectAgain(.remote) { access throws(VaultError) in try remote.save(&access) }
        #expect(
            try published(.head) == heads.dropFirst().map { SyncRow(.head, RemoteView.headKey(1, $0), $0.encoded) })
        let view = try read { access throws(VaultError) in try RemoteView(remote, access) }
        #expect(view.known.newest[one] == heads[2])
        #expect(
            try published(.push) == [
                SyncRow(.push, RemoteView.pendingKey(1), heads[2].encoded),
                SyncRow(.push, RemoteView.pendingKey(1, pack: 7), try Hex.decode(published.pack)),
            ])
        let counts = try read { access throws(VaultError) in try VouchedCounts(access) }
        #expect(counts.counts == [two: 12])
        try expectAgain(.count) { access throws(VaultError) in
            var counts = counts
            try counts.keep(&access)
        }
    }

    // MARK: - Parcels

    @Test("the summary of a version, and what a device keeps of it")
    func summaries() throws {
        #expect(versions.map { Hex.encode($0.summary) } == published.summaries)
    }

    @Test("own parcels, and records that need not be pushed")
    func ownParcels() throws {
        let maker = entries[0].digest
        let (item, chunk) = (
            OwnParcel(
                pack: 7, count: UInt32(parcels[0].encoded.count), sealedBy: maker, ListedVersion(versions[0])),
            OwnParcel(pack: 7, count: UInt32(parcels[2].encoded.count), sealedBy: maker, nil)
        )
        #expect(
            try published(.own) == [
                SyncRow(.own, OwnParcel.key(1, id(0x33)), item.encoded),
                SyncRow(.own, OwnParcel.key(1, id(0x35)), chunk.encoded),
            ])
        #expect(try published(.own).map { try OwnParcel(decoding: $0.body) } == [item, chunk])
        let noted = try published(.noted)
        #expect(noted.map(\.key) == [[1] + bytes(0x55)])
        #expect(PushDraft.chunks(inNote: noted[0].body) == [id(0x35), id(0x36)])
        try home.unlock().editSync(now: home.now) { access throws(VaultError) in
            try PushNotes.drop(on: 1, of: [id(0x33)], &access)
        }
        #expect(try home.rows(.noted).isEmpty)
    }

    @Test("parcels that arrived: waiting, held by the brake, accepted by the user, and merged")
    func arrived() throws {
        let (parcels, purged) = (parcels, ListedVersion(versions[1]))
        let keys = [0x33, 0x34, 0x35, 0x37, 0x38].map { ArrivedParcel.Key(remote: 1, signer: two, id: id($0)) }
        let rows = try read { access throws(VaultError) in try ArrivedParcel.all(access) }
        #expect(Set(rows.keys) == Set(keys) && rows.values.allSatisfy { $0.pack == 9 })
        #expect(keys.map { rows[$0]?.digest } == [0, 1, 2, 1, 2].map { parcels[$0].digest })
        #expect(
            keys.map { rows[$0]?.state } == parcels.map { .waits($0.encoded.count) } + [
                .isApplied(purged.digest), .isApplied(nil),
            ])
        #expect(keys.compactMap { rows[$0]?.mark } == [.none, .isBraked, .isAgreed, .none, .none])
        try expectAgain(.arrived) { access throws(VaultError) in
            for (key, index) in zip(keys, [0, 1, 2, 1, 2]) {
                let kept = try ArrivedParcel.keep(parcels[index], of: 8, at: key, &access).moved(to: 9, at: key, &access)
                switch key.id[0] {
                case 0x34: try kept.setMark(.isBraked, at: key, &access)
                case 0x35: try kept.setMark(.isAgreed, at: key, &access)
                case 0x37: try kept.useUp(as: purged, at: key, &access)
                case 0x38: try kept.useUp(as: nil, at: key, &access)
                default: break
                }
            }
        }
        let unread = UnreadPack(remote: 1, signer: two, reference: Head.PackReference(number: 10, digest: bytes(0xBC)))
        #expect(try read { access throws(VaultError) in try UnreadPack.all(access) } == [unread])
        try expectAgain(.unread) { access throws(VaultError) in try unread.save(&access) }
    }

    // MARK: - The brake and notes

    @Test("what the brake counts, and notes about names and copies")
    func notes() throws {
        let brake = try read { access throws(VaultError) in try Brake(access) }
        try expectAgain(.brake) { access throws(VaultError) in try brake.save(&access) }
        let notes: [SyncNote] = [
            .changedMeaning(item: id(0x33), before: id(0x34), time: 1_700_000_180),
            .freed(level: 3, key: id(0x56), item: id(0x33)),
            .copy(id(0x33), of: id(0x44)),
        ]
        #expect(try published(.note).compactMap { try SyncNote($0) } == notes)
        let entries = entries
        try expectAgain(.note) { access throws(VaultError) in
            for note in notes { try access.set(.note, note.row.key, note.row.body) }
            try access.set(.note, [3] + entries[2].digest, entries[2].encoded)
            try RollQuestion.choose(entries[1], &access)
        }
    }
}

private func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

private func key(_ byte: UInt8) -> Key<Deriving> {
    guard let key = try? Key<Deriving>(readFrom: SecretBytes(copying: bytes(byte))) else { preconditionFailure("32 bytes") }
    return key
}

private func exposed(_ key: borrowing Key<Deriving>) -> [UInt8] {
    key.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
}

/// The class keys of device one.
private struct SampleClassKeys: VaultKeys {
    func withClassKey<R: ~Copyable>(
        of level: ProtectionLevel.Availability, _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        switch level {
        case .always: try body(key(0x46))
        case .afterFirstUnlock: try body(key(0x45))
        case .whenUnlocked: try body(key(0x43))
        }
    }

    func withDeviceKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R { try body(key(0x41)) }

    func withRootKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R { try body(key(0x42)) }
}

/// What `bytes.json` has of the tables.
private struct PublishedRows: Decodable {
    struct Row: Decodable {
        let kind: UInt8
        let key: String
        let body: String
        let mac: String

        func row() throws -> SyncRow {
            SyncRow(try #require(SyncRow.Kind(rawValue: kind)), try Hex.decode(key), try Hex.decode(body))
        }
    }

    enum CodingKeys: String, CodingKey {
        case deviceNumbers = "device-numbers"
        case roll, heads, parcels, pack, summaries, rows
        case own = "self"
        case ownBoxes = "self-boxes"
        case ownMarks = "self-marks"
    }

    let deviceNumbers: [UInt32]
    let roll: [String]
    let heads: [String]
    let parcels: [String]
    let pack: String
    let summaries: [String]
    let rows: [Row]
    let own: [String]
    let ownBoxes: [String]
    let ownMarks: [String]

    static func read() throws -> PublishedRows {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Golden/sync/bytes.json")
        return try JSONDecoder().decode(PublishedRows.self, from: Data(contentsOf: file.standardized))
    }
}
