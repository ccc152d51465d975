import Foundation
import OMOnlineModel
import OMRecords
import OMSecrets
import OMSystem
import Testing

@testable import OMAuth

@Suite struct OnlineCredentialTests {
    private static let gone = TestProvider(.unreachable(.timedOut))

    @Test("after a first online login the same password works offline, on real files")
    func firstLogin() throws {
        let home = try Home(), profile = try serverProfile(3), server = TestProvider(knowing: "right")
        let authenticator = home.authenticator()
        #expect(authenticator.end("right", profile, .offline, asking: server) == .refused(.noCredential))
        #expect(
            authenticator.end("right", profile, asking: Self.gone)
                == .refused(.neither(online: .unreachable(.timedOut), offline: .noCredential)))
        #expect(authenticator.end("right", profile, asking: server) == .online(notCached: nil))
        #expect(authenticator.end("right", profile, asking: Self.gone) == .offline(.unreachable(.timedOut)))
        #expect(
            authenticator.end("wrong", profile, asking: Self.gone)
                == .refused(.wrongPassword(attemptsLeft: 2, consequence: .wipe)))
        let status = try authenticator.status(ada, profile)
        #expect(status.refusal == nil && status.details?.lastOnline != nil && status.details?.attemptsLeft == 2)
    }

    @Test("an online success with the cached password keeps the unlocking key, and with another password it does not")
    func unlockingKey() throws {
        let home = try Home(), profile = try serverProfile(3), authenticator = home.authenticator()
        let server = TestProvider { _, _ in .yes(nil, nil) }
        func key(_ password: String, _ mode: ConnectivityMode) throws -> [UInt8] {
            let receipt = try authenticator.login(
                LoginRequest(ada, profile, mode: mode), password: Password(password), asking: server)
            guard let login = receipt.takeLogin() else { throw Missing() }
            return login.unlock.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
        }
        let first = try key("right", .online)
        let slot = try home.row(profile).verifier
        #expect(try key("right", .offline) == first)
        #expect(try key("right", .online) == first)
        #expect(try home.row(profile).verifier != slot, "a fresh slot, around the same key")
        // After an earlier wrong password offline the charge is still taken back.
        _ = home.check("wrong", profile)
        #expect(try key("right", .online) == first)
        let row = try home.row(profile)
        #expect(row.charged == 0 && row.failed == 0 && row.onlineCompares == 0)
        let changed = try key("new", .online)
        #expect(changed != first)
        #expect(try key("new", .offline) == changed)
        #expect(home.check("right", profile) == .wrongPassword(attemptsLeft: 2, consequence: .wipe))
        guard case .live(let old) = slot else { throw Missing() }
        #expect(try home.files(holding: old.box.bytes) == [])
    }

    @Test("the life of a session's access token counts from the question to the server, however late the answer is")
    func lateAnswer() throws {
        let home = try Home(), clock = TestClock(), before = clock.read().sinceBoot
        let late = LateProvider { clock.advance(wall: 30, boot: 30) }
        let receipt = try home.authenticator(clock: clock.read).login(
            LoginRequest(ada, try serverProfile(3)), password: Password("right"), asking: late)
        #expect(receipt.sessionExpires == before + 100)
    }

    @Test("a server that accepts every password gives no check beyond the limit")
    func lyingServer() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(2, .lockout), checks = Counter()
        let authenticator = place.authenticator(onCheck: { _ in checks.add() })
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        for _ in 0..<3 { _ = try? authenticator.check(ada, profile, password: Password("wrong")) }
        #expect(checks.count == 3)
        let liar = TestProvider { _, _ in .yes(nil, nil) }
        #expect(authenticator.end("guess", profile, .online, asking: liar) == .online(notCached: nil))
        #expect(checks.count == 3)
        #expect(authenticator.end("guess", profile, .offline, asking: nil) == .offline(nil))
    }

    @Test("R24 a 401 to the cached password deletes the credential and the remembered data, and the offline result is 24")
    func changedOnServer() throws {
        let home = try Home()
        let profile = try serverProfile(3) {
            $0.remember.credentials = RememberOption(isAllowed: true, isDefault: true)
        }
        let authenticator = home.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("old"), asking: TestProvider(knowing: "old"))
        let key = try #require(try authenticator.deviceRememberingKey())
        try authenticator.remember(receipt, profile, password: Password("old"), key: key)
        guard case .live(let slot) = try home.row(profile).verifier else { throw Missing() }
        #expect(try authenticator.remembered(profile)?.hasPassword == true)
        #expect(
            authenticator.end("old", profile, asking: TestProvider(knowing: "new")) == .refused(.online(.rejected)))
        #expect(home.check("old", profile) == .noCredential)
        #expect(try authenticator.remembered(profile)?.hasPassword == false)
        #expect(try authenticator.remembered(profile)?.user == ada)
        for trace in [slot.box.bytes, slot.commitment, slot.derivation.stretchSalt, slot.derivation.schemeSalt] {
            #expect(try home.files(holding: trace) == [])
        }
        #expect(authenticator.end("new", profile, asking: TestProvider(knowing: "new")) == .online(notCached: nil))
        #expect(home.check("new", profile) == nil)
    }

    @Test("R25 a 401 to another password leaves the credential")
    func rubbish() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        let server = TestProvider(.rejected)
        for _ in 0..<2 {
            #expect(authenticator.end("rubbish", profile, asking: server) == .refused(.online(.rejected)))
        }
        #expect(authenticator.end("right", profile, .offline, asking: server) == .offline(nil))
        let row = try #require(try place.row(profile))
        #expect(row.onlineCompares == 2 && row.charged == 0, "an offline success gives no comparison back")
    }

    @Test("R25b a server that answers 401 to 1000 guesses causes only N + 1 comparisons, each charged first")
    func blockedAccount() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3)
        let seen = Seen()
        let authenticator = place.authenticator(onCheck: { row in
            if (try? place.row(profile)) == row { seen.add(row.onlineCompares) }
        })
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        let server = TestProvider(.rejected)
        for _ in 0..<1000 { _ = authenticator.end("guess", profile, .online, asking: server) }
        #expect(seen.numbers == [1, 2, 3, 4])
        // The limit is reached: not even the right password is compared, so the credential stays.
        #expect(authenticator.end("right", profile, .online, asking: server) == .refused(.online(.rejected)))
        #expect(authenticator.end("right", profile, .offline, asking: server) == .offline(nil))
        #expect(seen.numbers == [1, 2, 3, 4, 4], "the fifth is the offline check")
        #expect(
            authenticator.end("right", profile, .online, asking: TestProvider(knowing: "right"))
                == .online(notCached: nil))
        #expect(try place.row(profile)?.onlineCompares == 0)
    }

    @Test("R23 a year of offline logins changes no byte of the slot, and makes the credential no younger")
    func renewals() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), profile = try serverProfile(3)
        let authenticator = place.authenticator(clock: clock)
        #expect(authenticator.end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        let before = try #require(try place.row(profile))
        for _ in 0..<365 {
            clock.advance(wall: 86_400, boot: 86_400)
            #expect(authenticator.end("right", profile, asking: Self.gone) == .offline(.unreachable(.timedOut)))
        }
        let after = try #require(try place.row(profile))
        #expect(after.verifier == before.verifier && after.lastOnline == before.lastOnline)
    }

    @Test("R31 one user has one counter in every spelling of the name, and domains and servers keep users apart")
    func names() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        let profile = try serverProfile(3)
        let sales = try IdentityDomain("sales"), other = try IdentityDomain("other")
        let server = TestProvider(knowing: "right")
        #expect(authenticator.end("right", profile, domain: sales, asking: server) == .online(notCached: nil))
        func offline(_ user: UserName, _ profile: Profile, _ domain: IdentityDomain) -> Ending {
            authenticator.end("right", profile, .offline, user: user, domain: domain, asking: nil)
        }
        #expect(offline(ada, profile, sales) == .offline(nil))
        #expect(offline(ada, profile, other) == .refused(.noCredential))
        #expect(offline(ada, profile, .none) == .refused(.noCredential))
        let elsewhere = try serverProfile(3) { $0.serverOrigin = "https://other.example:443" }
        #expect(offline(ada, elsewhere, sales) == .refused(.noCredential))
        for name in ["Ada", "ada ", "аda", "../ada", "ada/../ada"] {
            #expect(offline(try UserName(name), profile, sales) == .refused(.noCredential), "\(name)")
        }
        for name in ["ada\u{0}", "", String(repeating: "a", count: 10_000_000)] {
            #expect(throws: AuthError.invalidUserName) { try UserName(name) }
        }
        #expect(throws: AuthError.invalidDomain) { try IdentityDomain("a\u{0}") }
        #expect(throws: AuthError.invalidDomain) { try IdentityDomain(String(repeating: "d", count: 256)) }
        // Name and domain must stay apart.
        let one = LoginKey(try UserName("b"), profile, try IdentityDomain("a"))
        let two = LoginKey(try UserName("ab"), profile, .none)
        let device = try place.makeDevice()
        let (first, second) = (one.id(under: device), two.id(under: device))
        #expect(first != second)
    }

    @Test("a server's yes is a login even if the credential cannot be stored, and says that nothing is cached")
    func fullDisk() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), authenticator = place.authenticator()
        place.power = 0
        #expect(
            authenticator.end("right", profile, asking: TestProvider(knowing: "right"))
                == .online(notCached: .storage(.io(5))))
        place.power = nil
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.noCredential))
    }

    @Test("a cancellation during the server's answer drops an undecided result, but finishes after a yes or a no")
    func cancelled() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), authenticator = place.authenticator()
        func end(_ answer: TestProvider.Answer, _ profile: Profile, _ password: String = "right") -> Ending {
            let cancellation = Cancellation()
            let server = TestProvider { _, _ in
                cancellation.cancel()
                return answer
            }
            return authenticator.end(password, profile, asking: server, cancellation)
        }
        #expect(end(.yes(nil, nil), profile) == .online(notCached: nil))
        for answer: OnlineRefusal in [.unreachable(.timedOut), .untrusted(.name), .failed(.cancelled)] {
            let before = place.disk.rows
            #expect(end(.no(answer), profile) == .refused(.cancelled))
            #expect(place.disk.rows == before)
        }
        #expect(end(.no(.forbidden(.status)), profile) == .refused(.online(.forbidden(.status))))
        #expect(try place.row(profile)?.isLive == true)
        #expect(end(.no(.rejected), profile) == .refused(.online(.rejected)))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.noCredential))
        #expect(end(.yes(nil, nil), profile) == .online(notCached: nil))
        #expect(end(.no(.blocked), profile) == .refused(.online(.blocked)))
        #expect(authenticator.end("right", profile, .offline, asking: nil) == .refused(.noCredential))
    }

    @Test("a cancellation after the wipe, before or during the question to the server, reports the wipe")
    func cancelledAfterWipe() throws {
        let profile = try serverProfile(1)
        for (isBefore, answer, told) in [
            (true, TestProvider.Answer.yes(nil, nil), OnlineRefusal.failed(.cancelled)),
            (false, .no(.failed(.cancelled)), .failed(.cancelled)), (false, .no(.rejected), .rejected),
        ] {
            let place = MemoryLoginBackend(), cancellation = Cancellation()
            _ = try place.authenticator().enroll(ada, profile, password: Password("right"))
            _ = place.authenticator().end("wrong", profile, .offline, asking: nil)
            let server = TestProvider { _, _ in
                cancellation.cancel()
                return answer
            }
            let logins = place.authenticator(onCheck: { _ in if isBefore { cancellation.cancel() } })
            let ending = logins.end("wrong", profile, .offline, asking: server, cancellation)
            #expect(ending == .refused(.attemptsExceeded(isFinished: true, online: told)))
            #expect(server.asked == (isBefore ? 0 : 1))
        }
    }

    @Test("another offline failure does not hide why the server did not help")
    func neither() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), authenticator = place.authenticator()
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        place.held = place.disk.rows.keys.first
        #expect(
            authenticator.end("right", profile, asking: Self.gone)
                == .refused(.neither(online: .unreachable(.timedOut), offline: .busy)))
        place.held = nil
        for error in [AuthError.outOfMemory, .schemeUnavailable, .storage(.io(5))] {
            let failing = Authenticator(place, .floor, stretch: { (_, _) throws(AuthError) in throw error })
            #expect(
                failing.end("right", profile, asking: Self.gone)
                    == .refused(.neither(online: .unreachable(.timedOut), offline: error)))
            #expect(failing.end("right", profile, .offline, asking: nil) == .refused(error))
        }
    }
}

private final class Seen: @unchecked Sendable {
    var numbers: [UInt32] = []
    func add(_ number: UInt32) { numbers.append(number) }
}

/// A server whose answer takes a while, with a token that lives for 100 seconds.
private final class LateProvider: Provider {
    private let passes: @Sendable () -> Void

    init(_ passes: @escaping @Sendable () -> Void) { self.passes = passes }

    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any LoginPrompter, cancellation: Cancellation
    ) -> ProviderAnswer {
        passes()
        return .accepted(policy: nil, serverTime: nil, session: nil, lifetime: 100)
    }
}
