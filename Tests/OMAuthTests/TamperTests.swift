import Foundation
import OMSecrets
import OMStorage
import Testing

@testable import OMAuth

@Suite struct TamperTests {
    @Test("R9 an old ledger that was put back is refused as a rollback, without a check")
    func oldLedger() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        try home.copy(home.backend.ledger, home.path + "/old")
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
        try home.copy(home.path + "/old", home.backend.ledger)
        let before = try home.rowBytes(profile)
        #expect(home.check("right", profile) == .rolledBack)
        #expect(home.check("wrong", profile) == .rolledBack)
        #expect(try home.rowBytes(profile) == before)
        #expect(try home.authenticator().status(ada, profile).refusal == .rolledBack)
        #expect(try home.authenticator().status([profile]).map(\.refusal) == [.rolledBack])
    }

    @Test("R9 a ledger without its -wal is refused as a rollback")
    func lostLog() throws {
        let home = try Home(), profile = try policy(3)
        try home.enroll(profile)
        // While this connection is open, no process closes the ledger last, so the charges stay in the -wal.
        let open = try home.database()
        _ = home.check("wrong", profile)
        _ = home.check("wrong", profile)
        #expect(FileManager.default.fileExists(atPath: home.backend.ledger + "-wal"))
        // The state after a kill -9 and an rm: the file without its log.
        try home.copy(home.backend.ledger, home.path + "/alone")
        withExtendedLifetime(try open.number("SELECT 1")) {}
        _ = consume open
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: home.backend.ledger + suffix) }
        try home.copy(home.path + "/alone", home.backend.ledger)
        #expect(home.check("right", profile) == .rolledBack)
    }

    @Test("R7 a deleted ledger, row or mark is a rollback, but a mark of generation 0 is not")
    func deleted() throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        try home.copy(home.backend.ledger, home.path + "/kept")
        try FileManager.default.removeItem(atPath: home.backend.ledger)
        #expect(home.check("right", profile) == .rolledBack)
        #expect(try home.authenticator().status(ada, profile).refusal == .rolledBack)
        #expect(
            refusal { () throws(AuthError) in
                _ = try home.authenticator().enroll(ada, profile, password: Password("mine"))
            } == .rolledBack)
        try home.copy(home.path + "/kept", home.backend.ledger)
        #expect(home.check("right", profile) == nil)
        try home.database().execute("DELETE FROM logins")
        #expect(home.check("right", profile) == .rolledBack)
        try home.copy(home.path + "/kept", home.backend.ledger)
        try FileManager.default.removeItem(atPath: home.markPath(profile))
        #expect(home.check("right", profile) == .rolledBack)
        #expect(home.check("right", profile, user: try UserName("bob")) == .noCredential)
    }

    @Test("a row newer than its mark, as a crash leaves it, is accepted and the mark follows")
    func newerRow() throws {
        let home = try Home(), profile = try policy(5)
        try home.enroll(profile)
        let mark = try home.markPath(profile)
        try home.copy(mark, home.path + "/old")
        _ = home.check("wrong", profile)
        try home.copy(home.path + "/old", mark)
        #expect(home.check("right", profile) == nil)
        try home.copy(home.backend.ledger, home.path + "/ledger")
        _ = home.check("wrong", profile)
        try home.copy(home.path + "/ledger", home.backend.ledger)
        #expect(home.check("right", profile) == .rolledBack)
    }

    @Test("another row of the same generation is refused as a rollback")
    func forked() throws {
        let home = try Home(), profile = try policy(5)
        try home.enroll(profile)
        let paths = [home.backend.ledger, try home.markPath(profile)]
        for (number, path) in paths.enumerated() { try home.copy(path, home.path + "/\(number)") }
        _ = home.check("wrong", profile)
        try home.copy(paths[0], home.path + "/fork")
        for (number, path) in paths.enumerated() { try home.copy(home.path + "/\(number)", path) }
        _ = home.check("right", profile)
        _ = home.check("wrong", profile)
        try home.copy(home.path + "/fork", paths[0])
        #expect(home.check("right", profile) == .rolledBack)
    }

    @Test("R32 a row moved to another id is quarantined, so knowing one password gives no other login")
    func movedRow() throws {
        let home = try Home(), profile = try policy(), bob = try UserName("bob")
        try home.enroll(profile)
        try home.enroll(profile, user: bob, password: "bob's")
        try home.setRowBytes(try home.rowBytes(profile, bob), profile)
        #expect(home.check("bob's", profile) == .quarantined)
        #expect(home.check("bob's", profile, user: bob) == nil)
    }

    @Test("R8 a row with any byte changed is refused, charges nothing and stays as it is")
    func flippedBytes() throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        let good = try home.rowBytes(profile)
        for offset in good.indices {
            var bad = good
            bad[offset] ^= 1 << UInt8(offset % 8)
            try home.setRowBytes(bad, profile)
            #expect(home.check("right", profile) == .quarantined, "offset \(offset)")
            #expect(try home.rowBytes(profile) == bad, "offset \(offset)")
        }
        #expect(try home.authenticator().status([profile]).map(\.refusal) == [.quarantined])
        try home.setRowBytes(good, profile)
        #expect(home.check("right", profile) == nil)
    }

    @Test("R8 a truncated ledger is an error, or has lost nothing but its log")
    func truncated() throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        let whole = try #require(FileManager.default.contents(atPath: home.backend.ledger))
        for count in stride(from: 0, to: whole.count, by: 509) {
            let path = home.backend.ledger
            try FileManager.default.removeItem(atPath: path)
            try home.write(Array(whole.prefix(count)), to: path)
            // A file cut inside the page of the rows reads as a file whose row is gone.
            let refusal = home.check("right", profile)
            // A file cut after the pages of the rows loses only the log. Every row is still the last that this device wrote. So
            // the attempt is charged, and the missing log stops no login.
            let isLogOnly = count > 3 * 4_096 && refusal == nil
            #expect(refusal == .quarantined || refusal == .rolledBack || isLogOnly, "\(count) bytes")
        }
    }

    @Test("R44 without the device key, or with another, every row is refused with the reason and left unchanged")
    func deviceKey() throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        let before = try home.rowBytes(profile)
        let id = try home.id(profile)
        let key = home.backend.device + "/device.key"
        try home.copy(key, home.path + "/key")
        try FileManager.default.removeItem(atPath: key)
        #expect(home.check("right", profile) == .deviceKeyMissing)
        #expect(try home.authenticator().status([profile]).map(\.refusal) == [.deviceKeyMissing])
        #expect(
            refusal { () throws(AuthError) in
                _ = try home.authenticator().enroll(ada, profile, password: Password("mine"))
            } == .deviceKeyMissing)
        #expect(!FileManager.default.fileExists(atPath: key))

        try Data(Random.bytes(32)).write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        #expect(home.check("right", profile) == .otherDeviceKey)
        #expect(try home.authenticator().status([profile]).map(\.refusal) == [.otherDeviceKey])
        #expect(
            refusal { () throws(AuthError) in
                _ = try home.authenticator().enroll(ada, profile, password: Password("mine"))
            } == .otherDeviceKey)

        try home.copy(home.path + "/key", key)
        #expect(try home.id(profile) == id)
        #expect(try home.rowBytes(profile) == before)
        #expect(home.check("right", profile) == nil)
    }

    @Test("removal sets an unreadable ledger aside", arguments: [0, 1, 100, 5000])
    func unreadableLedger(count: Int) throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        try Data(Random.bytes(count)).write(to: URL(filePath: home.backend.ledger))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: home.backend.ledger)
        #expect(home.check("right", profile) == .quarantined)
        let removal = try home.authenticator().remove(ada, profile.name)
        let aside = try #require(try home.asideLedgers().first)
        #expect(removal == .ledgerRenamed(DamagedFile(path: aside, removed: [])))
        #expect(try Data(contentsOf: URL(filePath: aside)).count == count)
        #expect(home.check("right", profile) == .noCredential)
        try home.enroll(profile)
        #expect(home.check("right", profile) == nil)
    }

    @Test("an invalid device key has its own error")
    func damagedDeviceKey() throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        let key = home.backend.device + "/device.key"
        try Data([1]).write(to: URL(filePath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
        #expect(home.check("right", profile) == .deviceKeyDamaged)
    }

    @Test("removal works in every state, and a copy of a removed login stays refused")
    func removal() throws {
        let home = try Home(), profile = try policy()
        func remove() -> AuthError? {
            refusal { () throws(AuthError) in
                let isFinished = try home.authenticator().remove(ada, profile.name) != .pending
                #expect(isFinished)
            }
        }
        #expect(remove() == .noCredential)
        try home.enroll(profile)
        try home.copy(home.backend.ledger, home.path + "/old")
        #expect(remove() == nil)
        #expect(home.check("right", profile) == .noCredential)
        #expect(remove() == .noCredential)
        // Attack: bring the removed credential back.
        try home.copy(home.path + "/old", home.backend.ledger)
        #expect(home.check("right", profile) == .rolledBack)
        #expect(remove() == nil)
        try home.enroll(profile, password: "new")
        #expect(home.check("new", profile) == nil)
        try home.copy(home.path + "/old", home.backend.ledger)
        #expect(home.check("right", profile) == .rolledBack)

        // A damaged row, a damaged mark, a deleted ledger, a lost device key.
        #expect(remove() == nil)
        try home.enroll(profile)
        try home.setRowBytes([1, 2, 3], profile)
        #expect(remove() == nil)
        try home.enroll(profile)
        try home.write([UInt8](repeating: 0, count: 1024), to: home.markPath(profile))
        #expect(home.check("right", profile) == .quarantined)
        #expect(remove() == nil)
        try home.enroll(profile)
        try FileManager.default.removeItem(atPath: home.backend.ledger)
        #expect(remove() == nil)
        try home.enroll(profile)
        try FileManager.default.removeItem(atPath: home.backend.device)
        #expect(remove() == nil)
        #expect(home.check("right", profile) == .noCredential)
        try home.enroll(profile)
        #expect(home.check("right", profile) == nil)
    }

    @Test("R61 a living credential is replaced only after a check of its old password, which is charged")
    func replacement() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        let old = try home.row(profile)
        func replace(_ oldPassword: String?) -> AuthError? {
            refusal { () throws(AuthError) in
                guard let oldPassword else {
                    _ = try home.authenticator().enroll(ada, profile, password: Password("new"))
                    return
                }
                _ = try home.authenticator().enroll(
                    ada, profile, password: Password("new"), oldPassword: Password(oldPassword))
            }
        }
        #expect(replace(nil) == .oldPasswordRequired)
        #expect(try home.row(profile).charged == 0)
        #expect(replace("wrong") == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
        #expect(try home.row(profile).charged == 1)
        #expect(replace("right") == nil)
        let new = try home.row(profile)
        #expect(new.generation > old.generation && new.charged == 0 && new.verifier != old.verifier)
        #expect(home.check("right", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
        #expect(home.check("new", profile) == nil)
        guard case .live(let slot) = old.verifier else { Issue.record("no slot"); return }
        #expect(try home.files(holding: slot.box.bytes).isEmpty)
    }
}
