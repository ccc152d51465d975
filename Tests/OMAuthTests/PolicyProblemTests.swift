import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

/// A profile that asks its server for the policy.
private func asking(_ attempts: Int = 3) throws -> Profile { try serverProfile(attempts) { $0.hasPolicyURL = true } }

private let gaps: [PolicyProblem] = [
    .notFetched(.unreachable(.timedOut)), .notFetched(.failed(.brokenAnswer)), .notFetched(.untrusted(.certificate)),
    .notUnderstood, .otherApplication,
]

@Suite("A login whose server's policy is missing") struct PolicyProblemTests {
    private func without(_ gap: PolicyProblem) -> TestProvider { TestProvider { _, _ in .yesWithout(gap) } }

    private func end(_ place: MemoryLoginBackend, _ profile: Profile, _ provider: TestProvider, _ password: String = "right")
        throws
        -> (Ending, PolicyProblem?)
    {
        let receipt = try place.authenticator().login(
            LoginRequest(ada, profile), password: Password(password), asking: provider)
        guard case .online(let reason) = receipt.details.mode else { throw Missing() }
        return (.online(notCached: reason), receipt.details.policyProblem)
    }

    @Test(
        "a login before any policy is valid but not cached, so a dropped connection hides no prohibition",
        arguments: gaps)
    func neverSeen(_ gap: PolicyProblem) throws {
        let place = MemoryLoginBackend(), profile = try asking()
        // Twice: without a ledger, and with a ledger that knows another user.
        for round in 0..<2 {
            let (ending, told) = try end(place, profile, without(gap))
            #expect(ending == .online(notCached: .policyMissing(gap)) && told == gap, "round \(round)")
            #expect(try place.row(profile) == nil)
            #expect(
                place.authenticator().end("right", profile, asking: TestProvider(.unreachable(.refused)))
                    == .refused(.neither(online: .unreachable(.refused), offline: .noCredential)))
            if round == 0 { _ = try place.authenticator().enroll(UserName("eve"), policy(), password: Password("x")) }
        }
        let events = try place.authenticator().log().entries.map(\.event)
        #expect(events.contains(.policyMissing(LoginEvent.Refusal(gap))) && events.contains(.grantedOnline(isCached: false)))
    }

    @Test("a provider that did not ask for the profile's policy counts as an unanswered one")
    func notAsked() throws {
        let place = MemoryLoginBackend()
        let (ending, _) = try end(place, try asking(), TestProvider(knowing: "right"))
        #expect(ending == .online(notCached: .policyMissing(.notAsked)))
        let (plain, gap) = try end(place, try serverProfile(), TestProvider(knowing: "right"))
        #expect(plain == .online(notCached: nil) && gap == nil)
    }

    @Test(
        "a known policy stays in force; the login is cached under it, and the gap is reported and logged", arguments: gaps)
    func known(_ gap: PolicyProblem) throws {
        let place = MemoryLoginBackend(), profile = try asking(9)
        let said = ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 2)
        let ended1 = try end(place, profile, TestProvider(knowing: "right", policy: said))
        #expect(ended1.0 == .online(notCached: nil) && ended1.1 == nil)
        let ended2 = try end(place, profile, without(gap), "new")
        #expect(ended2.0 == .online(notCached: nil) && ended2.1 == gap)
        #expect(try place.row(profile)?.server == said)
        #expect(place.authenticator().end("new", profile, .offline, asking: nil) == .offline(nil))
        #expect(try place.authenticator().log().entries.map(\.event).contains(.policyMissing(LoginEvent.Refusal(gap))))
    }

    @Test("a known prohibition stays in force, whatever stops the next policy from coming", arguments: gaps)
    func prohibited(_ gap: PolicyProblem) throws {
        let place = MemoryLoginBackend(), profile = try asking()
        let said = ServerPolicy(epoch: 7, offlineAuthAllowed: false)
        _ = try end(place, profile, TestProvider(knowing: "right", policy: said))
        let ended3 = try end(place, profile, without(gap))
        #expect(ended3.0 == .online(notCached: .offlineNotAllowed) && ended3.1 == gap)
        #expect(place.authenticator().end("right", profile, .offline, asking: nil) == .refused(.offlineNotAllowed))
    }

    @Test("a gap neither renews nor deletes a credential that was cached before the profile had a ProfileURL")
    func cachedBefore() throws {
        let place = MemoryLoginBackend()
        _ = try end(place, try serverProfile(), TestProvider(knowing: "right"))
        let profile = try asking(), before = try #require(try place.row(profile))
        let ended = try end(place, profile, without(gaps[0]))
        #expect(ended.0 == .online(notCached: .policyMissing(gaps[0])))
        #expect(try place.row(profile) == before)
    }

    @Test("R27 a policy of a lower epoch is reported and logged, and the known policy and highest epoch stay")
    func older() throws {
        let place = MemoryLoginBackend(), profile = try asking()
        let new = ServerPolicy(epoch: 7, maxLoginAttempts: 2), old = ServerPolicy(epoch: 6, maxLoginAttempts: 9)
        #expect(try place.authenticator().knownEpoch(profile) == nil)
        _ = try end(place, profile, TestProvider(knowing: "right", policy: new))
        let ended4 = try end(place, profile, TestProvider(knowing: "right", policy: old))
        #expect(ended4.0 == .online(notCached: nil) && ended4.1 == .older(epoch: 6))
        #expect(try place.row(profile)?.server == new)
        #expect(try place.authenticator().knownEpoch(profile) == 7)
        let other = try serverProfile { $0.serverOrigin = "https://other.example:443" }
        #expect(try place.authenticator().knownEpoch(other) == nil)
    }
}
