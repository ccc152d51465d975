import OMOnlineModel
import OMSecrets
import Synchronization
import Testing

@testable import OMAuth

/// A server's yes that is stored late, and the other answers in the meantime.
@Suite struct OvertakenTests {
    /// An authenticator that runs another step during its first stretch, or before its server's yes.
    private final class Meanwhile: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>
        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        func happen() {
            let body = body.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
        }
    }

    private func slow(_ place: any LoginBackend, _ body: @escaping @Sendable () -> Void) -> Authenticator {
        let meanwhile = Meanwhile(body)
        return Authenticator(
            place, .floor,
            stretch: { (derivation, password) throws(AuthError) in
                meanwhile.happen()
                return try derivation.stretch(password)
            })
    }

    private func server(_ epoch: Int64, allowed: Bool? = nil, attempts: Int? = nil) -> TestProvider {
        TestProvider { _, _ in
            .yes(ServerPolicy(epoch: epoch, offlineAuthAllowed: allowed, maxLoginAttempts: attempts), nil)
        }
    }

    private let yes = TestProvider { _, _ in .yes(nil, nil) }

    @Test("R27 a slow login does not bring back a policy that a quicker login has replaced")
    func policy() throws {
        let home = try Home(), profile = try serverProfile(3)
        for place: any LoginBackend in [MemoryLoginBackend(), home.backend] {
            let others = Authenticator(place, .floor)
            #expect(others.end("right", profile, asking: server(5, allowed: true)) == .online(notCached: nil))
            let late = slow(place) {
                #expect(
                    others.end("right", profile, asking: server(6, allowed: false)) == .online(notCached: .offlineNotAllowed))
            }
            #expect(late.end("right", profile, asking: server(5, allowed: true)) == .online(notCached: .offlineNotAllowed))
            #expect(others.end("right", profile, .offline, asking: nil) == .refused(.offlineNotAllowed))
            #expect(try others.policy(of: ada, profile).sources[.offlineAuthAllowed] == .server)
            #expect(try others.knownEpoch(profile) == 6)
            #expect(try others.log().entries.map(\.event).contains(.policyRefused(epoch: 5)))
            // A policy that is only stricter.
            #expect(others.end("right", profile, asking: server(7, allowed: true)) == .online(notCached: nil))
            let again = slow(place) { _ = others.end("right", profile, asking: server(8, allowed: true, attempts: 1)) }
            #expect(again.end("right", profile, asking: server(7, allowed: true)) == .online(notCached: nil))
            #expect(try others.policy(of: ada, profile).maxLoginAttempts == 1)
            #expect(others.end("right", profile, .offline, asking: nil) == .offline(nil))
        }
    }

    @Test("R27 a slow login that forbids offline logins under a replaced policy changes nothing")
    func barred() throws {
        let place = MemoryLoginBackend(), logins = place.authenticator(), profile = try serverProfile(3)
        #expect(logins.end("right", profile, asking: server(5)) == .online(notCached: nil))
        let id = try #require(place.disk.rows.keys.first)
        place.prelude = (id, { _ = logins.end("right", profile, asking: server(7, allowed: true)) })
        #expect(logins.end("right", profile, asking: server(6, allowed: false)) == .online(notCached: nil))
        #expect(try place.row(profile)?.server?.epoch == 7)
        #expect(logins.end("right", profile, .offline, asking: nil) == .offline(nil))
    }

    @Test("an enrolment does not overwrite a server's newer policy")
    func enrolment() throws {
        let place = MemoryLoginBackend(), others = place.authenticator(), profile = try serverProfile(3)
        #expect(others.end("right", profile, asking: server(5)) == .online(notCached: nil))
        try others.end(ada, profile, after: .logoutClear)
        let late = slow(place) { _ = others.end("right", profile, asking: server(6, allowed: false)) }
        #expect(
            refusal { () throws(AuthError) in _ = try late.enroll(ada, profile, password: Password("mine")) }
                == .offlineNotAllowed)
        #expect(try place.row(profile)?.server?.epoch == 6)
    }

    @Test("a password that the server refused after its yes is not cached, at any moment in between")
    func refusedMeanwhile() throws {
        let home = try Home(), profile = try serverProfile(3)
        for place: any LoginBackend in [MemoryLoginBackend(), home.backend] {
            let others = Authenticator(place, .floor)
            let refuse: @Sendable () -> Void = {
                #expect(others.end("old", profile, asking: TestProvider(.rejected)) == .refused(.online(.rejected)))
            }
            #expect(others.end("old", profile, asking: yes) == .online(notCached: nil))
            let late = slow(place, refuse)
            #expect(late.end("old", profile, asking: yes) == .online(notCached: .overtaken))
            #expect(others.end("old", profile, .offline, asking: nil) == .refused(.noCredential))
            // The same, while the yes is on its way.
            #expect(others.end("old", profile, asking: yes) == .online(notCached: nil))
            let distant = TestProvider { _, _ in
                refuse()
                return .yes(nil, nil)
            }
            #expect(others.end("old", profile, asking: distant) == .online(notCached: .overtaken))
            #expect(others.end("old", profile, .offline, asking: nil) == .refused(.noCredential))
            #expect(others.end("new", profile, asking: yes) == .online(notCached: nil))
            #expect(others.end("new", profile, .offline, asking: nil) == .offline(nil))
        }
    }

    @Test("a slow login does not replace the cached password after the server refused a password that may be its own")
    func comparedMeanwhile() throws {
        let place = MemoryLoginBackend(), others = place.authenticator(), profile = try serverProfile(3)
        #expect(others.end("first", profile, asking: yes) == .online(notCached: nil))
        let late = slow(place) { _ = others.end("second", profile, asking: TestProvider(.rejected)) }
        #expect(late.end("second", profile, asking: yes) == .online(notCached: .overtaken))
        #expect(others.end("first", profile, .offline, asking: nil) == .offline(nil))
        // If the slow login has the cached password, the refused password was a different one.
        let same = slow(place) { _ = others.end("rubbish", profile, asking: TestProvider(.rejected)) }
        let first = Authenticator(place, .floor)
        #expect(first.end("first", profile, asking: yes) == .online(notCached: nil))
        #expect(same.end("first", profile, asking: yes) == .online(notCached: nil))
    }

    @Test("if the server accepts two passwords one after the other, the first stored one stays")
    func replacedMeanwhile() throws {
        let place = MemoryLoginBackend(), others = place.authenticator(), profile = try serverProfile(3)
        for isFirst in [true, false] {
            if !isFirst { #expect(others.end("old", profile, asking: yes) == .online(notCached: nil)) }
            let late = slow(place) {
                #expect(others.end("new", profile, asking: self.yes) == .online(notCached: nil))
            }
            #expect(late.end("old", profile, asking: yes) == .online(notCached: .overtaken))
            #expect(others.end("new", profile, .offline, asking: nil) == .offline(nil))
            #expect(
                others.end("old", profile, .offline, asking: nil)
                    == .refused(.wrongPassword(attemptsLeft: 2, consequence: .wipe)))
        }
    }

    @Test("two simultaneous logins with one password are both cached, around one unlocking key")
    func both() throws {
        let home = try Home(), profile = try serverProfile(3)
        let quick = Mutex<[UInt8]>([])
        @Sendable func key(_ logins: Authenticator) -> [UInt8] {
            let receipt = try? logins.login(LoginRequest(ada, profile), password: Password("right"), asking: yes)
            guard let login = receipt?.takeLogin() else { return [] }
            return login.unlock.fingerprint(Context(.loginID))
        }
        let late = slow(home.backend) {
            let known = key(home.authenticator())
            quick.withLock { $0 = known }
        }
        let known = key(late)
        #expect(!known.isEmpty && quick.withLock { $0 } == known)
        let row = try home.row(profile)
        #expect(row.charged == 0 && row.failed == 0)
    }
}
