import Foundation
import OMSecrets
import Testing

@testable import OMAuth

@Suite("A logout that clears everything") struct ClearedLoginTests {
    private let zelda = known("zelda77")

    private func logIn(_ logins: Authenticator, _ profile: Profile, _ policy: ServerPolicy? = nil) -> Ending {
        logins.end("right", profile, user: zelda, asking: TestProvider { _, _ in .yes(policy, nil) })
    }

    private func gone(_ logins: Authenticator, _ key: LoginKey, _ before: [[UInt8]]) throws -> Set<[UInt8]> {
        Set(try logins.idsWithoutCredential(naming: key, before: before))
    }

    @Test("it leaves the user's name in no file, and keeps the mark that refuses a copy of the ledger")
    func name() async throws {
        let home = try Home(), logins = home.authenticator(), profile = try serverProfile(3)
        #expect(logIn(logins, profile) == .online(notCached: nil))
        _ = logins.end("wrong", profile, .offline, user: zelda, asking: nil)
        let ledger = try #require(FileManager.default.contents(atPath: home.backend.ledger))
        #expect(try !home.files(holding: Array("zelda77".utf8)).isEmpty)
        _ = try blocking { () throws(AuthError) in try logins.end(zelda, profile, after: .logoutClear) }
        #expect(try home.files(holding: Array("zelda77".utf8)) == [])
        #expect(try blocking { () throws(AuthError) in try logins.status([profile]) }.isEmpty)
        #expect(logins.end("right", profile, .offline, user: zelda, asking: nil) == .refused(.noCredential))
        let log = try blocking { () throws(AuthError) in try logins.log() }
        #expect(log.fault == nil && log.entries.contains { $0.event == .cleared(.logoutClear) })
        // Attack: put the ledger back with its slot, and continue to guess.
        try home.write(Array(ledger), to: home.backend.ledger)
        #expect(logins.end("right", profile, .offline, user: zelda, asking: nil) == .refused(.rolledBack))
    }

    @Test("it keeps the server's policy without the name, so that the next login takes no older policy")
    func policy() async throws {
        let place = MemoryLoginBackend(), logins = place.authenticator()
        let profile = try serverProfile(3)
        let (strict, lax) = (ServerPolicy(epoch: 7, maxLoginAttempts: 1), ServerPolicy(epoch: 3, maxLoginAttempts: 9))
        #expect(logIn(logins, profile, strict) == .online(notCached: nil))
        _ = try blocking { () throws(AuthError) in try logins.end(zelda, profile, after: .logoutClear) }
        #expect(place.disk.rows.isEmpty)
        let name = Array("zelda77".utf8)
        for row in place.disk.remembered.values {
            #expect(!row.indices.contains { row[$0...].starts(with: name) })
        }
        #expect(logIn(logins, profile, lax) == .online(notCached: nil))
        #expect(try place.row(profile, zelda)?.server == strict)
    }

    @Test("it reports the cleared logins at every server that the profile named, so that the caller locks what they opened")
    func opened() async throws {
        let place = MemoryLoginBackend(), logins = place.authenticator()
        let first = try serverProfile(3), second = try serverProfile(3) { $0.serverOrigin = "https://other.example:443" }
        for profile in [first, second] { #expect(logIn(logins, profile) == .online(notCached: nil)) }
        let key = LoginKey(zelda, second), ids = try blocking { () throws(AuthError) in try logins.ids(naming: key) }
        #expect(ids.count == 2)
        #expect(try gone(logins, key, ids) == [])
        _ = try blocking { () throws(AuthError) in try logins.end(key, after: .logoutClear) }
        #expect(try gone(logins, key, ids) == Set(ids))
    }
}
