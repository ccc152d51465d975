import Foundation
import OMOnlineModel
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@testable import OMAuth

/// An unreadable ledger, and a missing device key, at an online success.
@Suite struct LedgerReplacementTests {
    private static let bob = known("bob"), carol = known("carol"), dave = known("dave")
    private static let server = TestProvider { _, _ in .yes(nil, nil) }

    /// Ada and bob have a credential, dave had one, and carol never had one.
    private func people(_ profile: Profile) throws -> Home {
        let home = try Home()
        for user in [ada, Self.bob, Self.dave] { try home.enroll(profile, user: user) }
        _ = home.check("wrong", profile, user: Self.bob)
        _ = try home.authenticator().remove(Self.dave, profile.name, server: profile.serverOrigin)
        return home
    }

    private enum Damage: String, CaseIterable {
        case empty, oneByte, rubbish, cut, otherProgram, otherTables, page
    }

    private func spoil(_ home: Home, _ damage: Damage) throws {
        let path = home.backend.ledger
        let whole = try #require(FileManager.default.contents(atPath: path))
        func write(_ bytes: Data) throws { try home.write(Array(bytes), to: path) }
        switch damage {
        case .empty: try write(Data())
        case .oneByte: try write(Data([0]))
        case .rubbish: try write(Data(Random.bytes(9_000)))
        case .cut: try write(whole.prefix(4_096 + 700))
        case .otherProgram: try home.database().execute("PRAGMA application_id = 5")
        case .otherTables: try home.database().execute("CREATE TABLE more (id)")
        // The file opens, but the bytes after the first page do not read.
        case .page: try write(whole.prefix(4_096) + Data(repeating: 0xAA, count: whole.count - 4_096))
        }
    }

    @Test(
        "R8 an online success replaces an unreadable ledger, but the other logins stay refused and get no fresh counter",
        arguments: Damage.allCases.map(\.rawValue))
    func unreadable(name: String) throws {
        let profile = try serverProfile(3), damage = try #require(Damage(rawValue: name))
        let home = try people(profile), authenticator = home.authenticator()
        let entries = try authenticator.log().entries
        try spoil(home, damage)
        let spoiled = try Data(contentsOf: URL(filePath: home.backend.ledger))
        #expect(home.check("right", profile) == .quarantined)
        // A server's refusal does not replace the ledger.
        _ = authenticator.end("wrong", profile, .online, asking: TestProvider(.rejected))
        #expect(try Data(contentsOf: URL(filePath: home.backend.ledger)) == spoiled)

        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: Self.server)
        let (mode, told) = (receipt.details.mode, receipt.details.damagedLedger)
        #expect(mode == .online(notCached: nil))
        let aside = try #require(told)
        #expect(try home.asideLedgers() == [aside.path] && aside.removed == [])
        #expect(try Data(contentsOf: URL(filePath: aside.path)) == spoiled)
        #expect(home.check("right", profile) == nil)
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 2, consequence: .wipe))

        #expect(home.check("right", profile, user: Self.bob) == .rolledBack)
        #expect(
            refusal { () throws(AuthError) in
                _ = try authenticator.enroll(Self.bob, profile, password: Password("mine"))
            } == .rolledBack)
        #expect(home.check("right", profile, user: Self.carol) == .noCredential)
        #expect(home.check("right", profile, user: Self.dave) == .noCredential)

        let report = try authenticator.log()
        #expect(report.fault == nil && report.entries.first?.event == .ledgerReplaced)
        #expect(try #require(report.entries.first?.sequence) > UInt64(entries.count))

        let again = try authenticator.login(
            LoginRequest(Self.bob, profile), password: Password("right"), asking: Self.server)
        let second = again.details.damagedLedger
        #expect(second == nil)
        #expect(home.check("right", profile, user: Self.bob) == nil)
        #expect(try home.asideLedgers().count == 1)
        // Attack: put the old ledger back after the marks have moved on.
        if damage == .otherTables {
            try home.copy(aside.path, home.backend.ledger)
            try home.database(with: Ledger.schema.statements + ["CREATE TABLE more (id)"]).execute("DROP TABLE more")
            #expect(home.check("right", profile) == .rolledBack)
        }
    }

    @Test("R8 an online success sets the log of a ledger aside whose file is gone, and takes nothing from it")
    func logWithoutFile() throws {
        let profile = try serverProfile(3), home = try people(profile), path = home.backend.ledger, log = path + "-wal"
        do {
            let reader = try home.database()
            try reader.execute("PRAGMA user_version = 2")
            try home.copy(log, home.path + "/log")
        }
        try FileManager.default.removeItem(atPath: path)
        try home.copy(home.path + "/log", log)
        let kept = try Data(contentsOf: URL(filePath: log))
        #expect(!kept.isEmpty)
        #expect(home.authenticator().end("right", profile, asking: Self.server) == .online(notCached: nil))
        let aside = try home.authenticator().damagedLedgers()
        #expect(aside.count == 1)
        #expect(try Data(contentsOf: URL(filePath: aside[0] + "-wal")) == kept)
        #expect(home.check("right", profile) == nil)
        #expect(home.check("right", profile, user: Self.bob) == .rolledBack)
    }

    @Test("a later format, an unsafe file and a disk error do not replace the ledger")
    func notDamaged() throws {
        let profile = try serverProfile(3), home = try people(profile), path = home.backend.ledger
        func end() -> Ending { home.authenticator().end("right", profile, asking: Self.server) }
        try home.database().execute("PRAGMA user_version = 3")
        #expect(end() == .online(notCached: .storage(.laterFormat(3))))
        try Database.open(
            path, Schema(applicationID: Ledger.schema.applicationID, version: 3, statements: Ledger.schema.statements)
        ).execute("PRAGMA user_version = 2")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        guard case .online(.storage(.hazardous)?) = end() else { return #expect(Bool(false), "\(end())") }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try home.asideLedgers() == [])
        #expect(end() == .online(notCached: nil))
    }

    @Test("four replaced ledgers are kept, and the deleted one is named")
    func bounded() throws {
        let profile = try serverProfile(3), home = try people(profile), clock = TestClock()
        let authenticator = home.authenticator(clock: clock.read)
        var told: [DamagedFile] = []
        for _ in 0..<6 {
            try spoil(home, .rubbish)
            // Two of them within one second.
            if told.count != 1 { clock.advance(wall: 1, boot: 1) }
            let receipt = try authenticator.login(
                LoginRequest(ada, profile), password: Password("right"), asking: Self.server)
            let aside = receipt.details.damagedLedger
            told.append(try #require(aside))
        }
        #expect(Set(told.map(\.path)).count == 6)
        #expect(told.map(\.removed) == [[], [], [], [], [told[0].path], [told[1].path]])
        #expect(try home.asideLedgers() == told.suffix(4).map(\.path))
        #expect(home.check("right", profile) == nil)
    }

    /// Without a second look at the file after it was opened, about one round of twenty fails. If a thread may open the file
    /// while another one replaces it, about one of a thousand does.
    @Test(
        "if many logins find a damaged ledger at once, one sets it aside and all are cached",
        arguments: 0..<Sweep.count(100, sample: 3))
    func manyAtOnce(round: Int) async throws {
        let profile = try serverProfile(3), home = try people(profile)
        try spoil(home, .rubbish)
        let users = try (0..<16).map { try UserName("user \($0)") }
        let failures = Counter()
        _ = try await atOnce(users.count) { number in
            let ending = home.authenticator().end("right", profile, user: users[number], asking: Self.server)
            if ending != .online(notCached: nil) { failures.add() }
        }
        #expect(failures.count == 0)
        #expect(try home.asideLedgers().count == 1)
        for user in users { #expect(home.check("right", profile, user: user) == nil) }
        #expect(home.check("right", profile, user: Self.bob) == .rolledBack)
        let fault = try { try home.authenticator().log().fault }()
        #expect(fault == nil)
    }

    @Test(
        "R44 an online success makes no device key if the key is lost or damaged",
        arguments: [false, true])
    func lostKey(isDamaged: Bool) throws {
        let profile = try serverProfile(3), home = try people(profile)
        let key = home.backend.device + "/device.key", before = try home.rowBytes(profile)
        try home.copy(key, home.path + "/key")
        try FileManager.default.removeItem(atPath: key)
        if isDamaged { try home.write([1], to: key) }
        let reason: AuthError = isDamaged ? .deviceKeyDamaged : .deviceKeyMissing
        func end() -> Ending { home.authenticator().end("right", profile, .online, asking: Self.server) }
        #expect(end() == .online(notCached: reason))
        // A spoiled ledger changes nothing: the marks say that there was a key.
        try home.copy(home.backend.ledger, home.path + "/kept")
        try spoil(home, .rubbish)
        #expect(end() == .online(notCached: reason))
        #expect(try home.asideLedgers() == [])
        try home.copy(home.path + "/kept", home.backend.ledger)
        try home.copy(home.path + "/key", key)
        #expect(try home.rowBytes(profile) == before)
        #expect(home.check("right", profile) == nil)
    }

    @Test("R44 an online success under another device key caches only its own login again")
    func otherKey() throws {
        let profile = try serverProfile(3), home = try people(profile)
        guard case .live(let slot) = try home.row(profile).verifier else { throw Missing() }
        try home.write(Random.bytes(32), to: home.backend.device + "/device.key")
        #expect(home.check("right", profile) == .otherDeviceKey)
        let authenticator = home.authenticator()
        #expect(authenticator.end("right", profile, asking: Self.server) == .online(notCached: nil))
        #expect(home.check("right", profile) == nil)
        #expect(home.check("right", profile, user: Self.bob) == .otherDeviceKey)
        #expect(try authenticator.status([profile]).map(\.refusal) == [nil, .otherDeviceKey])
        #expect(try home.files(holding: slot.box.bytes) == [])
    }
}
