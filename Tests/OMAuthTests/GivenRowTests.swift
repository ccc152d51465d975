// When a server gave its policy and its endpoints.

import OMOnlineModel
import OMSecrets
import OMSystem
import Testing

@testable import OMAuth

@Suite("The age of a policy and of endpoints") struct GivenRowTests {
    private let place = MemoryLoginBackend()
    private let clock = TestClock()
    private let new = ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 2)
    private let token = ServerEndpoint(.token, "https://login.example/token")
    private var logins: Authenticator { place.authenticator(clock: clock) }

    private func asking(_ change: (inout ProfileSettings) -> Void = { _ in }) throws -> Profile {
        try serverProfile {
            $0.hasPolicyURL = true
            change(&$0)
        }
    }

    private func logIn(_ policy: ServerPolicy?, _ profile: Profile) throws {
        let provider =
            policy.map { TestProvider(knowing: "right", policy: $0) }
            ?? TestProvider { _, _ in .yesWithout(.notFetched(.unreachable(.timedOut))) }
        _ = try logins.login(LoginRequest(ada, profile), password: Password("right"), asking: provider)
    }

    @Test("set-up, a refresh and each online login note the time; the age grows with the clock")
    func grows() throws {
        let profile = try asking()
        #expect(try logins.known(of: profile) == ServerDocument())
        _ = try logins.storePolicy(new, of: profile)
        try logins.storeEndpoints([token], of: profile)
        clock.advance(wall: 12, boot: 12)
        let known = try logins.known(of: profile)
        #expect(known.policy == new && known.policyAge == 12)
        #expect(known.endpoints == [token] && known.endpointsAge == 12)
        try logIn(new, profile)
        clock.advance(wall: 3 * 86_400, boot: 3 * 86_400)
        #expect(try logins.known(of: profile).policyAge == 3 * 86_400)
        // A login does not read the document of the endpoints for this.
        #expect(try logins.known(of: profile).endpointsAge == 3 * 86_400 + 12)
        // A login without a policy makes it no younger.
        try logIn(nil, profile)
        #expect(try logins.known(of: profile).policyAge == 3 * 86_400)
    }

    @Test("a clock that was put back makes the ages unknown, never negative; the right clock shows them again")
    func clockBack() throws {
        let profile = try asking()
        _ = try logins.storePolicy(new, of: profile)
        try logins.storeEndpoints([token], of: profile)
        clock.advance(wall: -1)
        let back = try logins.known(of: profile)
        #expect(back.policy == new && back.policyAge == nil)
        #expect(back.endpoints == [token] && back.endpointsAge == nil)
        clock.advance(wall: 6)
        #expect(try logins.known(of: profile).policyAge == 5)
        clock.advance(wall: -100)
        _ = try logins.storePolicy(new, of: profile)
        #expect(try logins.known(of: profile).policyAge == 0)
    }

    @Test("a ledger without times, and a row of another policy, give an unknown age and the same policy")
    func older() throws {
        let profile = try asking(), device = try place.makeDevice()
        _ = try logins.storePolicy(new, of: profile)
        let id = GivenRow.policyID(origin: origin, application: "work", device)
        let row = try #require(place.disk.remembered[id])
        place.disk.remembered[id] = nil
        #expect(try logins.known(of: profile) == known(new))
        // An earlier version stores a later policy and knows no times: the old time is not that of the new policy.
        place.disk.remembered[id] = row
        let later = ServerPolicy(epoch: 8, maxLoginAttempts: 1)
        let seen = StoredServerPolicy.id(origin: origin, application: "work", device)
        place.disk.remembered[seen] = StoredServerPolicy(id: seen, policy: later).encode(under: device)
        #expect(try logins.known(of: profile) == known(later))
        // A bit of the row that changed.
        _ = try logins.storePolicy(later, of: profile)
        #expect(try logins.known(of: profile).policyAge == 0)
        place.disk.remembered[id]?[20] ^= 1
        #expect(try logins.known(of: profile) == known(later))
    }

    private func known(_ policy: ServerPolicy) -> ServerDocument {
        var document = ServerDocument()
        document.policy = policy
        return document
    }

    @Test("a policy that is refused, and one of which only a part counts, leave the time as it was")
    func refused() throws {
        let profile = try asking()
        _ = try logins.storePolicy(new, of: profile)
        clock.advance(wall: 50, boot: 50)
        let old = ServerPolicy(epoch: 3, maxLoginAttempts: 9), other = ServerPolicy(epoch: 7, maxLoginAttempts: 9)
        #expect(throws: AuthError.profile(.serverPolicyOlder(epoch: 3, known: 7))) { try logins.storePolicy(old, of: profile) }
        #expect(try logins.storePolicy(other, of: profile) == new)
        try logIn(old, profile)
        try logIn(other, profile)
        let known = try logins.known(of: profile)
        #expect(known.policy == new && known.policyAge == 50)
    }

    @Test("the times go with the profile, and stay after a logout; another profile has its own")
    func scope() throws {
        let profile = try asking(), other = try asking { $0.applicationName = "other" }
        try logIn(new, profile)
        try logins.storeEndpoints([token], of: profile)
        #expect(try logins.known(of: other) == ServerDocument())
        try logins.end(ada, profile, after: .logoutClear)
        clock.advance(wall: 9, boot: 9)
        let kept = try logins.known(of: profile)
        #expect(kept.policyAge == 9 && kept.endpointsAge == 9)
        try logins.deleteStoredPolicy(of: profile)
        #expect(try logins.known(of: profile) == ServerDocument())
        #expect(place.disk.remembered.isEmpty)
    }

    @Test("a row that the format does not allow is read as none, even with a valid seal")
    func malformed() throws {
        let device = try place.makeDevice(), id = LoginID([UInt8](repeating: 5, count: 16))
        let all = ServerEndpoint.Kind.allCases.map { ServerEndpoint($0, "https://a.example/\($0.rawValue)") }
        let longest = ServerEndpoint.Kind.allCases.map {
            ServerEndpoint($0, "https://a.example/" + String(repeating: "a", count: ServerEndpoint.longest - 18))
        }
        for endpoints in [[], [token], all, longest] {
            let row = GivenRow(id, .endpoints(endpoints), at: 1_800_000_000), bytes = row.encode(under: device)
            #expect(try GivenRow(bytes, .endpoints, under: id, device) == row)
            #expect(throws: AuthError.quarantined) { try GivenRow(bytes, .policy, under: id, device) }
            #expect(throws: AuthError.quarantined) {
                try GivenRow(bytes, .endpoints, under: LoginID([UInt8](repeating: 6, count: 16)), device)
            }
        }
        #expect(GivenRow(id, .policy(new), at: .min).time == 0)
        let good = Array(GivenRow(id, .endpoints([token]), at: 1).encode(under: device).dropLast(MAC.count))
        let address = Array(token.address.utf8)
        let start = Array(good.prefix(25)), one = [1, 0, UInt8(address.count)] + address
        var bad = (0..<good.count).map { Array(good.prefix($0)) } + [good + [0]]
        bad += [
            [2] + good.dropFirst(), [1, 9] + good.dropFirst(2), start.prefix(17) + [1] + start.dropFirst(18) + [0],
            start + [16], start + [2] + one + one, start + [1, 0] + one.dropFirst(), start + [1, 16] + one.dropFirst(),
            start + [1, 1, 0, 0], start + [1, 1, 8, 1] + [UInt8](repeating: 0x61, count: 2049),
            start + [1, 1, 0, 1, 0xFF], start + [1, 1, 0, 3] + Array("a\nb".utf8),
            start + [2] + one.map { $0 == 1 ? 2 : $0 } + one,
        ]
        for body in bad {
            let sealed = RowSeal.sealed(body, as: .givenMAC, at: id, under: device)
            #expect(throws: AuthError.quarantined, "\(body)") { try GivenRow(sealed, .endpoints, under: id, device) }
        }
        #expect(bad.count >= 32)
    }
}
