import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite("The known policy of a server, across all users and set-up") struct KnownPolicyTests {
    private let place = MemoryLoginBackend()
    private let new = ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 2)
    private let old = ServerPolicy(epoch: 3, offlineAuthAllowed: true, maxLoginAttempts: 9)
    private var logins: Authenticator { place.authenticator() }

    private func asking(_ change: (inout ProfileSettings) -> Void = { _ in }) throws -> Profile {
        try serverProfile {
            $0.hasPolicyURL = true
            change(&$0)
        }
    }

    private func logIn(_ name: String, _ profile: Profile, _ policy: ServerPolicy?) throws -> LoginDetails {
        let provider =
            policy.map { TestProvider(knowing: "right", policy: $0) }
            ?? TestProvider { _, _ in .yesWithout(.notFetched(.unreachable(.timedOut))) }
        return try logins.login(LoginRequest(UserName(name), profile), password: Password("right"), asking: provider).details
    }

    private func held(_ name: String, _ profile: Profile) throws -> ServerPolicy? {
        try place.row(profile, UserName(name))?.server
    }

    @Test("27 a first login refuses an epoch below the one from set-up, and is cached under the policy from set-up")
    func setUp() throws {
        let profile = try asking()
        #expect(try logins.storePolicy(new, of: profile) == new)
        #expect(try logins.knownEpoch(profile) == 7)
        let context = try logIn("ada", profile, old)
        #expect(context.policyProblem == .older(epoch: 3) && context.mode == .online(notCached: nil))
        #expect(try held("ada", profile) == new)
        #expect(throws: AuthError.profile(.serverPolicyOlder(epoch: 3, known: 7))) { try logins.storePolicy(old, of: profile) }
    }

    @Test("27 a user's first login, and set-up, refuse an epoch below another user's")
    func others() throws {
        let profile = try asking()
        _ = try logIn("ada", profile, new)
        #expect(try logIn("bob", profile, old).policyProblem == .older(epoch: 3))
        #expect(try held("bob", profile) == new)
        #expect(throws: AuthError.profile(.serverPolicyOlder(epoch: 3, known: 7))) { try logins.storePolicy(old, of: profile) }
        let newest = ServerPolicy(epoch: 8)
        #expect(try logIn("eve", profile, newest).policyProblem == nil)
        #expect(try logIn("ada", profile, new).policyProblem == .older(epoch: 7))
        #expect(try held("ada", profile) == newest)
    }

    @Test("28 a first login without a policy is cached under the policy from set-up, and obeys its prohibition")
    func missing() throws {
        let profile = try asking()
        _ = try logins.storePolicy(new, of: profile)
        #expect(try logIn("ada", profile, nil).mode == .online(notCached: nil))
        #expect(try held("ada", profile) == new)
        _ = try logins.storePolicy(ServerPolicy(epoch: 8, offlineAuthAllowed: false), of: profile)
        for name in ["ada", "bob"] {
            #expect(try logIn(name, profile, nil).mode == .online(notCached: .offlineNotAllowed))
            #expect(try place.row(profile, UserName(name))?.verifier == .cleared)
        }
        #expect(logins.end("right", profile, .offline, asking: nil) == .refused(.offlineNotAllowed))
    }

    @Test("two policies of one epoch give the stricter values, whichever user saw them first")
    func sameEpoch() throws {
        let profile = try asking()
        #expect(try logins.storePolicy(new, of: profile) == new)
        let stricter = ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 1)
        _ = try logIn("ada", profile, stricter)
        #expect(try logins.storePolicy(ServerPolicy(epoch: 7, maxLoginAttempts: 9), of: profile) == stricter)
        _ = try logIn("bob", profile, ServerPolicy(epoch: 7, offlineAuthAllowed: true, maxLoginAttempts: 9))
        #expect(try held("bob", profile) == stricter)
    }

    @Test("another server and another application have their own epochs, and a profile without a policy uses no other's")
    func elsewhere() throws {
        _ = try logins.storePolicy(new, of: asking())
        let others = [try asking { $0.serverOrigin = "https://other.example:443" }, try asking { $0.applicationName = "other" }]
        for other in others {
            #expect(try logins.knownEpoch(other) == nil)
            #expect(try logIn("ada", other, old).policyProblem == nil)
            #expect(try held("ada", other) == old)
        }
        let plain = try serverProfile()
        _ = try logIn("eve", try asking(), new)
        #expect(
            try logins.login(
                LoginRequest(UserName("bob"), plain), password: Password("right"), asking: TestProvider(knowing: "right")
            )
            .details.mode == .online(notCached: nil))
        #expect(try held("bob", plain) == nil)
    }

    @Test("an unreadable row, of another user or of set-up, gives no policy and locks no user out")
    func damage() throws {
        let profile = try asking(), eve = try UserName("eve")
        _ = try logIn("eve", profile, new)
        let id = LoginKey(eve, profile).id(under: try place.makeDevice())
        place.disk.rows[id]?[60] ^= 1
        #expect(try logins.knownEpoch(profile) == nil)
        #expect(try logIn("ada", profile, old).mode == .online(notCached: nil))
        #expect(try held("ada", profile) == old)
        _ = try logins.storePolicy(new, of: profile)
        let device = try place.makeDevice(), seenID = StoredServerPolicy.id(origin: origin, application: "work", device)
        let seen = (key: seenID, value: try #require(place.disk.remembered[seenID]))
        #expect(try StoredServerPolicy(seen.value, under: seen.key, device).policy == new)
        for offset in seen.value.indices {
            var bad = seen.value
            bad[offset] ^= 1
            #expect(throws: AuthError.quarantined, "offset \(offset)") { try StoredServerPolicy(bad, under: seen.key, device) }
        }
        for bad in [[], Array(seen.value.dropLast()), seen.value + [0]] {
            #expect(throws: AuthError.quarantined) { try StoredServerPolicy(bad, under: seen.key, device) }
        }
        // The row of another application, with its own policy, in this row's place.
        #expect(throws: AuthError.quarantined) { try StoredServerPolicy(seen.value, under: id, device) }
        place.disk.remembered[seen.key]?[20] ^= 1
        #expect(try logIn("bob", profile, old).mode == .online(notCached: nil))
        #expect(try held("bob", profile) == old)
        #expect(try logins.storePolicy(new, of: profile) == new)
    }

    @Test("a row of set-up that the format does not allow counts as none, even with a valid seal")
    func malformed() throws {
        let device = try place.makeDevice(), id = StoredServerPolicy.id(origin: origin, application: "work", device)
        let good = Array(StoredServerPolicy(id: id, policy: new).encode(under: device).dropLast(MAC.count))
        func read(_ body: [UInt8]) throws(AuthError) -> StoredServerPolicy {
            try StoredServerPolicy(RowSeal.sealed(body, as: .policyMAC, at: id, under: device), under: id, device)
        }
        #expect(try read(good).policy == new)
        // Version, id, following parts, the highest bit of the epoch, flag, attempts, scheme, flag.
        let bytes: [(Int, UInt8)] = [(0, 2), (1, good[1] ^ 1), (17, 0), (17, 2), (18, 1), (26, 3), (27, 1), (31, 12), (32, 3)]
        var bad = bytes.map { offset, value in
            var body = good
            body[offset] = value
            return body
        }
        bad += (0..<good.count).map { Array(good.prefix($0)) } + [good + [0]]
        for body in bad { #expect(throws: AuthError.quarantined, "\(body)") { try read(body) } }
        #expect(bad.count >= 32)
    }

    @Test("the policy from set-up survives every login and goes with the profile, which is the way out of a wrong epoch")
    func wayOut() throws {
        let profile = try asking(), last = ServerPolicy(epoch: ServerPolicy.lastEpoch)
        _ = try logins.storePolicy(last, of: profile)
        _ = try logIn("ada", profile, old)
        try logins.end(ada, profile, after: .logoutClear)
        #expect(try logins.knownEpoch(profile) == ServerPolicy.lastEpoch)
        _ = try logIn("ada", profile, old)
        try logins.deleteStoredPolicy(of: profile)
        #expect(try logins.knownEpoch(profile) == ServerPolicy.lastEpoch)
        _ = try logins.remove(ada, profile.name, server: profile.serverIdentity)
        #expect(try logins.knownEpoch(profile) == nil)
        #expect(try logins.storePolicy(old, of: profile) == old)
    }
}
