import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite("The cost of a refusal") struct StrangerTests {
    /// The number of stretches of `answer`, from a place with the login of ada.
    private func stretches(
        _ change: (MemoryLoginBackend, Authenticator, Profile) throws -> Void = { _, _, _ in },
        _ answer: (Authenticator, Profile) throws -> Void
    ) throws -> Int {
        let place = MemoryLoginBackend(), count = Counter(), profile = try serverProfile(1)
        let logins = Authenticator(
            place, .floor, clock: TestClock().read,
            stretch: { (derivation, password) throws(AuthError) in
                count.add()
                return try StretchCache.shared.stretch(derivation, password)
            })
        #expect(logins.end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        try change(place, logins, profile)
        let before = count.count
        try answer(logins, profile)
        return count.count - before
    }

    private static let eve = known("eve")

    @Test("an unknown name costs the same stretch as a wrong password, and leaves no row")
    func unknown() async throws {
        let count1 = try stretches { logins, profile in
            #expect(
                logins.end("guess", profile, .offline, asking: nil)
                    == .refused(.wrongPassword(attemptsLeft: 0, consequence: .wipe)))
        }
        #expect(count1 == 1)
        let count2 = try stretches { logins, profile in
            #expect(logins.end("guess", profile, .offline, user: Self.eve, asking: nil) == .refused(.noCredential))
            let known = try logins.status([profile]).map(\.user)
            #expect(known == [ada])
        }
        #expect(count2 == 1)
    }

    @Test("a name with a missing, wiped or cleared credential costs the same stretch")
    func gone() async throws {
        let count3 = try stretches({ _, logins, profile in
            for _ in 0..<2 { _ = logins.end("wrong", profile, .offline, asking: nil) }
        }) { logins, profile in
            #expect(logins.end("guess", profile, .offline, asking: nil) == .refused(.wiped(isFinished: true)))
        }
        #expect(count3 == 1)
        let count4 = try stretches({ _, logins, profile in
            _ = logins.end("right", profile, asking: TestProvider(.blocked))
        }) { logins, profile in
            #expect(logins.end("guess", profile, .offline, asking: nil) == .refused(.noCredential))
        }
        #expect(count4 == 1)
    }

    @Test("a server's 401 costs the same with and without a cached credential")
    func rejected() async throws {
        for user in [ada, Self.eve] {
            let count5 = try stretches { logins, profile in
                #expect(
                    logins.end("guess", profile, user: user, asking: TestProvider(.rejected))
                        == .refused(.online(.rejected)))
            }
            #expect(count5 == 1)
        }
    }

    @Test("a refusal by this machine costs nothing more")
    func machine() async throws {
        let count6 = try stretches({ place, _, _ in place.power = 0 }) { logins, profile in
            _ = logins.end("guess", profile, .offline, user: Self.eve, asking: nil)
        }
        #expect(count6 == 0)
    }
}
