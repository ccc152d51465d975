import OMSecrets
import Testing

@testable import OMAuth

@Suite("A changed password without a server") struct PasswordChangeTests {
    private func opened(_ home: Home, _ profile: Profile, _ password: String) throws -> [UInt8] {
        try home.authenticator().check(ada, profile, password: Password(password)).unlock
            .fingerprint(Context(.commit))
    }

    @Test("the new password opens with the same unlocking key, the old one is wrong, and its slot is in no file")
    func change() throws {
        let home = try Home(), profile = try policy(3, .lockout)
        try home.enroll(profile)
        let (unlock, row) = (try opened(home, profile, "right"), try home.row(profile))
        guard case .live(let slot) = row.verifier else { throw Missing() }
        let old = slot.box.bytes
        #expect(try !home.files(holding: old).isEmpty)
        _ = try home.authenticator().changePassword(ada, profile, from: Password("right"), to: Password("new"))
        #expect(try opened(home, profile, "new") == unlock)
        #expect(try home.files(holding: old) == [])
        #expect(try home.row(profile).enrolledAt == row.enrolledAt)
        #expect(home.check("right", profile) == .wrongPassword(attemptsLeft: 2, consequence: .lockout))
    }

    @Test("a wrong old password is an ordinary attempt, and changes nothing")
    func wrongOld() throws {
        let home = try Home(), profile = try policy(1, .lockout)
        try home.enroll(profile)
        func change(_ old: String) -> AuthError? {
            refusal { () throws(AuthError) in
                _ = try home.authenticator().changePassword(ada, profile, from: Password(old), to: Password("new"))
            }
        }
        #expect(change("wrong") == .wrongPassword(attemptsLeft: 0, consequence: .lockout))
        #expect(home.check("right", profile) == nil)
        #expect(change("wrong") == .wrongPassword(attemptsLeft: 0, consequence: .lockout))
        #expect(change("wrong") == .lockedOut)
        #expect(change("right") == .lockedOut)
    }

    @Test("a profile of another scheme makes a new slot during the check, and the change still succeeds")
    func otherScheme() throws {
        let home = try Home(), profile = try policy(3, .lockout)
        try home.enroll(profile)
        let other = try Profile(
            profile.name,
            values: profile.values.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }
                .merging(["CryptoScheme": .text("SHA-256")]) { $1 })
        _ = try home.authenticator().changePassword(ada, other, from: Password("right"), to: Password("new"))
        #expect(home.check("new", other) == nil)
        #expect(try home.row(other).charged == 0)
    }
}
