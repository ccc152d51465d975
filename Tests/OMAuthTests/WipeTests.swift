import Foundation
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMAuth

@Suite struct WipeTests {
    @Test("R4 after a wipe no file has the slot, commitment, salts or salted hash")
    func scan() throws {
        let home = try Home(), profile = try policy(1)
        // There are enough rows that SQLite splits pages and moves rows. Their old places must be wiped too.
        let others = try (0..<40).map { try UserName("user \(String(repeating: "x", count: $0 * 5 % 60)) \($0)") }
        for (number, user) in others.enumerated() {
            if number == 3 { try home.enroll(profile) }
            try home.enroll(profile, user: user)
        }
        let traces = try traces(home, profile)
        for trace in traces.stored { #expect(try !home.files(holding: trace).isEmpty) }
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
        #expect(home.check("wrong", profile) == .attemptsExceeded(isFinished: true))
        for trace in traces.stored + [traces.inner] { #expect(try home.files(holding: trace) == []) }
        #expect(try home.row(profile).verifier == .wiped)
        for user in others { #expect(home.check("right", profile, user: user) == nil) }
    }

    @Test(
        "R4 a reader of an old state delays the wipe; the result is still 23, and the next operation finishes it",
        arguments: ["status", "check", "another user's check"])
    func reader(_ next: String) throws {
        let home = try Home(), profile = try policy(1), bob = try UserName("bob")
        try home.enroll(profile)
        try home.enroll(profile, user: bob)
        let traces = try traces(home, profile)
        let reader = try home.database()
        #expect(home.check("wrong", profile) == .wrongPassword(attemptsLeft: 0, consequence: .wipe))
        try reader.transaction(.read) { () throws(StorageError) in
            _ = try reader.number("SELECT count(*) FROM logins")
            #expect(home.check("wrong", profile) == .attemptsExceeded(isFinished: false))
            #expect(home.check("right", profile) == .wiped(isFinished: false))
            #expect((try? home.row(profile).verifier) == .wipePending)
        }
        switch next {
        case "status":
            #expect(try home.authenticator().status([profile]).first?.refusal == .wiped(isFinished: true))
        case "check": #expect(home.check("right", profile) == .wiped(isFinished: true))
        default: #expect(home.check("right", profile, user: bob) == nil)
        }
        #expect(try home.row(profile).verifier == .wiped)
        for trace in traces.stored + [traces.inner] { #expect(try home.files(holding: trace) == []) }
        _ = consume reader
    }

    @Test("R4 the next operation finishes a wipe that crashed before it emptied the log")
    func crashed() throws {
        let home = try Home(), profile = try policy(1)
        try home.enroll(profile)
        let traces = try traces(home, profile)
        let key = LoginKey(profile: profile.name, user: ada)
        let store = try home.authenticator().open(key)
        let id = try home.id(profile)
        _ = try store.change(id) { (row) throws(AuthError) in
            (row.charged, row.failed, row.verifier) = (2, 2, .wipePending)
        }
        #expect(home.check("right", profile) == .wiped(isFinished: true))
        for trace in traces.stored { #expect(try home.files(holding: trace) == []) }
    }

    /// Everything that a wipe must delete. `inner` must never have been there.
    private func traces(_ home: Home, _ profile: Profile) throws -> (stored: [[UInt8]], inner: [UInt8]) {
        guard case .live(let slot) = try home.row(profile).verifier else { throw Missing() }
        let derivation = slot.derivation
        let inner = try derivation.scheme.inner(of: Password("right"), salt: derivation.schemeSalt)
        let text = inner.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        #expect(try home.files(holding: text).isEmpty)
        return ([slot.box.bytes, slot.commitment, derivation.schemeSalt, derivation.stretchSalt], text)
    }
}
