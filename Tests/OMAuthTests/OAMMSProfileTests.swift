// Profiles of the Mobile and Social service. docs/reference/profiles.md.

import Testing

@testable import OMAuth

@Suite("Profiles of the Mobile and Social service") struct OAMMSProfileTests {
    private func profile(_ more: [String: ProfileValue] = [:], url: String = "https://h.example:14100") throws -> Profile {
        let values: [String: ProfileValue] = [
            "AuthServerType": .text("OAMMSAuthentication"), "OAMMSURL": .text(url), "OAMMSServiceDomain": .text("Mobile Domain"),
            "ApplicationName": .text("White Pages"),
        ]
        return try Profile(ProfileName("p"), values: values.merging(more) { $1 })
    }

    @Test("a login belongs to the server, the service domain and the application")
    func identity() throws {
        let identity = try profile().serverIdentity
        #expect(identity == "OAMMSAuthentication https://h.example:14100/?serviceDomain=Mobile%20Domain White Pages")
        let other = try profile(["OAMMSServiceDomain": .text("Mobile%20Domain")]).serverIdentity
        #expect(other == "OAMMSAuthentication https://h.example:14100/?serviceDomain=Mobile%2520Domain White Pages")
        #expect(try profile().serverKind == .oamms && profile().serverOrigin == "https://h.example:14100")
    }

    @Test("the policy is in the application profile: over https only, and never at a ProfileURL")
    func policy() throws {
        #expect(try profile().hasServerPolicy)
        #expect(try !profile(url: "http://127.0.0.1:14100").hasServerPolicy)
        #expect(throws: AuthError.profile(.policyElsewhere)) {
            try profile(["ProfileURL": .text("https://h.example:14100/p")])
        }
    }

    @Test("the password is never sent with a logout")
    func logout() throws {
        let profile = try profile(["SendAuthorizationHeaderInLogout": .bool(true)])
        #expect(!profile.sendAuthorizationInLogout && profile.effect(of: .sendAuthorizationHeaderInLogout) == .none)
        #expect(profile.remembersPasswords)
    }

    /// Values of the profile (attempts, offline), of the server, and those in force. Nil: not set.
    @Test(
        "without an epoch the server's policy makes the profile stricter, and never laxer",
        arguments: [
            (nil, nil, 5, true, 1, false), (3, true, 5, true, 3, true), (3, true, 2, false, 2, false),
            (3, false, 3, true, 3, false), (nil, true, 1, nil, 1, true),
        ] as [(Int?, Bool?, Int?, Bool?, Int, Bool)])
    func tightens(attempts: Int?, offline: Bool?, few: Int?, allowed: Bool?, inForce: Int, isAllowed: Bool) throws {
        var values: [String: ProfileValue] = [:]
        values["MaxLoginAttempts"] = attempts.map { .number("\($0)") }
        values["OfflineAuthAllowed"] = offline.map { .bool($0) }
        let profile = try profile(values)
        let old = ServerPolicy(epoch: 0, offlineAuthAllowed: allowed, maxLoginAttempts: few, cryptoScheme: .plainText)
        let policy = profile.policy(with: old)
        #expect(policy.maxLoginAttempts == inForce && policy.offlineAuthAllowed == isAllowed)
        #expect(policy.cryptoScheme == .saltedSHA512)
        // With an epoch the server decides.
        var new = old
        new.epoch = 1
        let decided = profile.policy(with: new)
        #expect(decided.maxLoginAttempts == few ?? inForce && decided.offlineAuthAllowed == allowed ?? isAllowed)
        #expect(decided.cryptoScheme == .plainText)
        // Another kind of server has an epoch in every policy, so 0 is one like the others.
        let basic = try Profile(
            ProfileName("p"),
            values: values.merging([
                "AuthServerType": .text("HTTPBasicAuthentication"), "LoginURL": .text("https://h.example/"),
                "LogoutURL": .text("https://h.example/"),
            ]) { $1 })
        #expect(basic.policy(with: old).maxLoginAttempts == few ?? inForce)
    }
}
