// Clearing a login of several rows while another process holds the lock of one.

import Foundation
import OMSecrets
import TestSupport
import Testing

@testable import OMAuth

@Suite("A row that another process locks") struct HeldRowTests {
    private let zelda = known("zelda77")

    /// Runs `body` while another process holds the row of a login.
    private func holding(_ key: LoginKey, _ home: Home, _ body: () throws -> Void) async throws {
        let id = key.id(under: try home.device())
        let lock = "\(home.backend.device)/login-\(Hex.encode(id.bytes)).lock"
        let holder = try Companion(
            ["/usr/bin/flock", "--exclusive", lock, "/bin/sh", "-c", "echo held; read -r line"], in: try TestFolder())
        try #require(await holder.line() == "held")
        let result = Result { try body() }
        holder.say("end")
        #expect(await holder.line() == nil)
        try result.get()
    }

    /// A login at two servers, and the keys of its two rows.
    private func twoRows(_ home: Home) throws -> [LoginKey] {
        let profiles = [try serverProfile(3), try serverProfile(3) { $0.serverOrigin = "https://other.example:443" }]
        for profile in profiles {
            #expect(
                home.authenticator().end("right", profile, user: zelda, asking: TestProvider(knowing: "right"))
                    == .online(notCached: nil))
        }
        return profiles.map { LoginKey(zelda, $0) }
    }

    /// Whether the row of a login still holds its user's name.
    private func isThere(_ key: LoginKey, _ home: Home) throws -> Bool {
        let store = try home.authenticator().open(key)
        do throws(AuthError) { _ = try store.find(key) } catch { return error != .noCredential }
        return true
    }

    /// Removes the rows of a login while another process holds one of them, and again when it is free.
    private func check(_ held: Int, _ remove: (Authenticator, LoginKey) throws(AuthError) -> Void) async throws -> Home {
        let home = try Home(), keys = try twoRows(home)
        try await holding(keys[held], home) { () throws in
            // The call does not wait, because the other process holds the lock until `body` ends.
            let error = refusal { () throws(AuthError) in try remove(home.authenticator(lockWait: 0), keys[0]) }
            #expect(error == .busy)
            #expect(try isThere(keys[held], home))
            #expect(try !isThere(keys[1 - held], home))
        }
        try remove(home.authenticator(), keys[0])
        #expect(try !isThere(keys[held], home))
        return home
    }

    @Test("logout --clear clears the other row, reports busy, and clears the locked row once it is free", arguments: [0, 1])
    func logoutClear(_ held: Int) async throws {
        let home = try await check(held) { (logins, key) throws(AuthError) in try logins.end(key, after: .logoutClear) }
        #expect(try home.files(holding: Array("zelda77".utf8)) == [])
    }

    @Test("login rm removes the other row, reports busy, and removes the locked row once it is free", arguments: [0, 1])
    func remove(_ held: Int) async throws {
        _ = try await check(held) { (logins, key) throws(AuthError) in _ = try logins.remove(key.user, key.profile) }
    }
}
