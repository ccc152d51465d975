import Foundation
import OMSecrets
import Synchronization
import Testing

@testable import OMAuth

@Suite struct AttemptTests {
    @Test("the charge is on the disk, in the row and in the mark, before the password is checked")
    func chargeIsOnDisk() throws {
        let home = try Home(), profile = try policy(3)
        try home.enroll(profile)
        let seen = Checks()
        let authenticator = home.authenticator(onCheck: { row in
            let stored = try? home.row(profile)
            let mark = (try? Data(contentsOf: URL(filePath: (try? home.markPath(profile)) ?? ""))) ?? Data()
            let generation = withUnsafeBytes(of: row.generation.bigEndian) { Data($0) }
            // The mark's slots hold the generation 32 bytes from their start.
            let isMarked = [0, 512].contains { mark.count == 1024 && mark[$0 + 32..<$0 + 40] == generation }
            if stored == row, isMarked { seen.add(row.charged) }
        })
        for _ in 0..<2 { _ = try? authenticator.check(ada, profile, password: Password("wrong")) }
        _ = try authenticator.check(ada, profile, password: Password("right"))
        _ = try authenticator.check(ada, profile, password: Password("right"))
        #expect(seen.charges == [1, 2, 3, 1])
    }

    @Test("no password is checked if the mark cannot be written")
    func noMarkNoCheck() throws {
        let home = try Home(), profile = try policy(3)
        try home.enroll(profile)
        let checks = Checks()
        let path = try home.markPath(profile)
        let authenticator = home.authenticator { point in
            switch point {
            case .committed: try? FileManager.default.removeItem(atPath: path)
            case .checking: checks.add(0)
            case .found, .checked: break
            }
        }
        #expect(throws: AuthError.self) { _ = try authenticator.check(ada, profile, password: Password("right")) }
        #expect(!FileManager.default.fileExists(atPath: path) && checks.charges.isEmpty)
    }

    @Test("a success under a scheme other than the policy's makes a new credential around the same key")
    func schemeChanged() throws {
        let home = try Home()
        let name = try ProfileName("work")
        func profile(_ scheme: String) throws -> Profile {
            try Profile(name, values: ["OfflineAuthAllowed": .bool(true), "CryptoScheme": .text(scheme)])
        }
        func unlocking(_ login: borrowing VerifiedLogin) -> [UInt8] {
            login.unlock.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
        }
        let before = unlocking(
            try home.authenticator().enroll(ada, try profile("PlainText"), password: Password("right")))
        let now = try profile("SaltedSHA-512")
        _ = try? home.authenticator().check(ada, now, password: Password("wrong"))
        #expect(try home.authenticator().status(ada, now).details?.scheme == .plainText)
        #expect(unlocking(try home.authenticator().check(ada, now, password: Password("right"))) == before)
        #expect(try home.authenticator().status(ada, now).details?.scheme == .saltedSHA512)
        #expect(unlocking(try home.authenticator().check(ada, now, password: Password("right"))) == before)
    }

    @Test(
        "N wrong passwords are tolerated, and the next wrong password exceeds the limit",
        arguments: [1, 3, 5], OnAttemptsExceeded.allCases
    )
    func table(_ limit: Int, _ consequence: OnAttemptsExceeded) throws {
        let home = try Home(), profile = try policy(limit, consequence)
        try home.enroll(profile)
        for attempt in 1...limit {
            let expected = AuthError.wrongPassword(attemptsLeft: limit - attempt, consequence: consequence)
            #expect(home.check("wrong", profile) == expected)
        }
        let exceeded: AuthError = consequence == .wipe ? .attemptsExceeded(isFinished: true) : .lockedOut
        let after: AuthError = consequence == .wipe ? .wiped(isFinished: true) : .lockedOut
        #expect(home.check("wrong", profile) == exceeded)
        #expect(home.check("right", profile) == after)
        #expect(home.check("wrong", profile) == after)
        let row = try home.row(profile)
        #expect(row.charged == UInt32(limit + 1) && row.failed == UInt32(limit + 1))
        #expect((row.verifier == .wiped) == (consequence == .wipe))
        // Only a new enrolment makes a login usable after a wipe.
        let again = refusal { () throws(AuthError) in
            _ = try home.authenticator().enroll(ada, profile, password: Password("new"))
        }
        #expect(again == (consequence == .wipe ? nil : .lockedOut))
        if consequence == .wipe {
            #expect(home.check("right", profile) != nil)
            #expect(home.check("new", profile) == nil)
        }
    }

    @Test("a right password takes all charges back")
    func reset() throws {
        let home = try Home(), profile = try policy(2)
        try home.enroll(profile)
        for _ in 0..<3 {
            #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 1, consequence: .wipe))
            #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
            #expect(home.check("right", profile) == nil)
            let row = try home.row(profile)
            #expect(row.charged == 0 && row.failed == 0)
        }
    }

    @Test("R5 a charge whose mark cannot be written ends the attempt before the check, even with the right password")
    func chargeBeforeCheck() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        let mark = try home.markPath(profile)
        let spoiling = home.authenticator { point in
            guard case .committed = point else { return }
            try? FileManager.default.moveItem(atPath: mark, toPath: mark + ".kept")
            try? FileManager.default.createDirectory(atPath: mark, withIntermediateDirectories: false)
        }
        let error = refusal { () throws(AuthError) in
            _ = try spoiling.check(ada, profile, password: Password("right"))
        }
        guard case .storage = error else { Issue.record("\(String(describing: error))"); return }
        try FileManager.default.removeItem(atPath: mark)
        try FileManager.default.moveItem(atPath: mark + ".kept", toPath: mark)
        #expect(try home.row(profile).charged == 1)
        #expect(try home.row(profile).failed == 0)
    }

    @Test("a success whose settlement cannot be written is a degraded success, and its charge stays")
    func degraded() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        let mark = try home.markPath(profile)
        let spoiling = home.authenticator { point in
            if case .checked = point { try? FileManager.default.moveItem(atPath: mark, toPath: mark + ".kept") }
        }
        let login = try spoiling.check(ada, profile, password: Password("right"))
        let isDegraded = login.isDegraded
        #expect(isDegraded)
        try FileManager.default.moveItem(atPath: mark + ".kept", toPath: mark)
        #expect(try home.row(profile).charged == 1)
        let next = try home.authenticator().check(ada, profile, password: Password("right"))
        let isStillDegraded = next.isDegraded
        #expect(!isStillDegraded)
        #expect(try home.row(profile).charged == 0)
    }

    @Test("a power cut that reverts a success's marks leaves a working login and a whole log")
    func lostMarks() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        let marks = try FileManager.default.contentsOfDirectory(atPath: home.backend.device)
            .filter { $0.hasSuffix(".mark") }.map { "\(home.backend.device)/\($0)" }
        #expect(marks.count == 2)
        let synced = Mutex<[String: Data]>([:])
        let watching = home.authenticator { point in
            guard case .checked = point else { return }
            synced.withLock { files in for path in marks { files[path] = FileManager.default.contents(atPath: path) } }
        }
        let login = try watching.check(ada, profile, password: Password("right"))
        let isDegraded = login.isDegraded
        #expect(!isDegraded)
        let settled = try home.row(profile)
        for (path, bytes) in synced.withLock({ $0 }) { try home.write(Array(bytes), to: path) }
        #expect(try home.row(profile) == settled && settled.charged == 0)
        #expect(try home.authenticator().log().fault == nil)
        #expect(try home.authenticator().log().entries.last?.event == .grantedOffline)
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
        #expect(home.check("right", profile) == nil)
        #expect(try home.authenticator().log().fault == nil)
    }

    @Test("R59 crashed attempts lock the login beyond N and destroy nothing")
    func crashes() throws {
        let home = try Home(), profile = try policy(2)
        try home.enroll(profile)
        for _ in 0..<3 { try crashAfterCharge(home, profile) }
        #expect(home.check("right", profile) == .lockedOut)
        guard case .live = try home.row(profile).verifier else { Issue.record("destroyed"); return }
        #expect(try home.row(profile).failed == 0)
    }

    @Test("a running attempt does not lock out another attempt that sees its charge")
    func running() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        for _ in 0..<2 { try crashAfterCharge(home, profile) }
        // The check has read one charge too many. Before it takes the lock, the other attempt succeeds.
        let late = home.authenticator { point in
            if case .found = point { try? settle(home, profile) }
        }
        let login = try late.check(ada, profile, password: Password("right"))
        let isDegraded = login.isDegraded
        #expect(!isDegraded)
    }

    private func crashAfterCharge(_ home: Home, _ profile: Profile) throws {
        try change(home, profile) { $0.charged += 1 }
    }

    private func settle(_ home: Home, _ profile: Profile) throws {
        try change(home, profile) { $0.charged = 0 }
    }

    private func change(_ home: Home, _ profile: Profile, _ body: (inout LoginRow) -> Void) throws {
        let key = LoginKey(profile: profile.name, user: ada)
        let store = try home.authenticator().open(key)
        let id = key.id(under: store.device)
        try store.exclusively(id, wait: 60_000) { () throws(AuthError) in
            _ = try store.change(id) { (row) throws(AuthError) in body(&row) }
        }
    }

    @Test("R15 an attempt on a held lock is busy after the wait, and charges nothing")
    func busy() throws {
        let home = try Home(), profile = try policy()
        try home.enroll(profile)
        let before = try home.rowBytes(profile)
        let store = try home.authenticator().open(LoginKey(profile: profile.name, user: ada))
        try store.exclusively(home.id(profile), wait: 60_000) { () throws(AuthError) in
            let error = refusal { () throws(AuthError) in
                _ = try home.authenticator(lockWait: 20).check(ada, profile, password: Password("right"))
            }
            #expect(error == .busy)
        }
        #expect(try home.rowBytes(profile) == before)
    }

    @Test("an attempt on a credential that was replaced during the stretch starts again and charges only the new credential")
    func reenrolledMeanwhile() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile, password: "old")
        let late = home.authenticator { point in
            // Only once: the second attempt finds the new credential, which has another password.
            guard case .found = point else { return }
            _ = try? home.authenticator().enroll(ada, profile, password: Password("new"), oldPassword: Password("old"))
        }
        _ = try late.check(ada, profile, password: Password("new"))
        let row = try home.row(profile)
        #expect(row.charged == 0 && row.failed == 0)
        #expect(home.check("old", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
    }

    @Test("a limit lowered below the failed attempts wipes at the next attempt, and a raised limit revives no wiped credential")
    func changedLimit() throws {
        let home = try Home(), five = try policy(5), one = try policy(1)
        try home.enroll(five)
        for _ in 0..<3 { _ = home.check("wrong", five) }
        let status = try home.authenticator().status(ada, one)
        #expect(status.refusal == .wiped(isFinished: false))
        guard case .live = try home.row(one).verifier else { Issue.record("status wiped"); return }
        #expect(home.check("right", one) == .wiped(isFinished: true))
        #expect(home.check("right", five) == .wiped(isFinished: true))
    }

    @Test("without OfflineAuthAllowed nothing is opened, charged or made")
    func notAllowed() throws {
        let home = try Home(), allowed = try policy(), denied = try Profile(ProfileName("work"), values: [:])
        #expect(home.check("right", denied) == .offlineNotAllowed)
        #expect(
            refusal { () throws(AuthError) in
                _ = try home.authenticator().enroll(ada, denied, password: Password("right"))
            } == .offlineNotAllowed)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
        try home.enroll(allowed)
        let before = try home.rowBytes(allowed)
        #expect(home.check("right", denied) == .offlineNotAllowed)
        #expect(try home.rowBytes(allowed) == before)
    }

    @Test("each result has the SDK's number")
    func numbers() {
        #expect(AuthError.wrongPassword(attemptsLeft: 1, consequence: .wipe).sdkCode == 10003)
        #expect(AuthError.attemptsExceeded(isFinished: true).sdkCode == 10418)
        #expect(AuthError.lockedOut.sdkCode == 10418)
        #expect(AuthError.noCredential.sdkCode == 10408)
        #expect(AuthError.profile(.value(.cryptoScheme)).sdkCode == 10503)
        #expect(AuthError.profile(.value(.maxLoginAttempts)).sdkCode == 10106)
    }
}

/// What a test's checks observed.
private final class Checks: Sendable {
    private let seen = Mutex<[UInt32]>([])

    var charges: [UInt32] { seen.withLock { $0 } }

    func add(_ charged: UInt32) { seen.withLock { $0.append(charged) } }
}
