import OMSecrets
import Testing

@testable import OMAuth

@Suite("A login belongs to its server and application") struct MovedLoginTests {
    private let place = MemoryLoginBackend()

    /// The profile "work" with some of its values changed.
    private func work(_ changes: [String: ProfileValue] = [:], name: String = "work") throws -> Profile {
        let values = try serverProfile { $0.remember.autoLogin = RememberOption(isAllowed: true, isDefault: true) }.values
        let spelled = Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) })
        return try Profile(ProfileName(name), values: spelled.merging(changes) { $1 })
    }

    private func login(_ url: String, path: String = "LoginURL") throws -> Profile { try work([path: .text(url)]) }

    private func offline(_ profile: Profile) -> Ending {
        place.authenticator().end("right", profile, .offline, asking: nil)
    }

    /// Logs in online, and remembers the password.
    private func logIn(_ profile: Profile, _ policy: ServerPolicy? = nil) throws {
        let authenticator = place.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right", policy: policy))
        try authenticator.remember(
            receipt, profile, password: Password("right"), key: try authenticator.makeDeviceRememberingKey())
    }

    private let moves: [[String: ProfileValue]] = [
        ["LoginURL": .text("\(origin)/login2")], ["LoginURL": .text("\(origin)/login/")], ["LoginURL": .text("\(origin)")],
        ["LoginURL": .text("\(origin)/Login")], ["LoginURL": .text("http://login.example:443/login")],
        ["LoginURL": .text("https://login.example:444/login")], ["ApplicationName": .text("other")],
        [
            "AuthServerType": .text("FederatedAuthentication"), "LoginSuccessURL": .text("\(origin)/yes"),
            "LoginFailureURL": .text("\(origin)/no"),
        ],
    ]

    @Test("31 a login that is cached or remembered under one address, type or application answers under no other")
    func moved() throws {
        let profile = try work()
        try logIn(profile)
        for changes in moves {
            let other = try work(changes)
            #expect(offline(other) == .refused(.noCredential), "\(changes)")
            #expect(try place.authenticator().remembered(other) == nil, "\(changes)")
            #expect(try place.authenticator().status(ada, other).refusal == .noCredential)
            // The list shows it, and says that it is useless.
            #expect(try place.authenticator().status([other]).map(\.refusal) == [.noCredential])
        }
        #expect(offline(profile) == .offline(nil))
    }

    @Test("another spelling of an address is the same login")
    func same() throws {
        let profile = try work()
        try logIn(profile)
        for url in ["HTTPS://Login.EXAMPLE/login", "https://login.example/login?again=1", "\(origin)/login"] {
            #expect(offline(try login(url)) == .offline(nil), "\(url)")
        }
        // The replacement for a missing address, the logout's address, and the length of a session.
        for changes: [String: ProfileValue] in [
            ["ApplicationName": .text("work")], ["LogoutURL": .text("\(origin)/bye")], ["SessionTimeOutValue": .number("60")],
        ] {
            #expect(offline(try work(changes)) == .offline(nil), "\(changes)")
        }
        #expect(try login("https://login.example").serverIdentity == login("https://login.example/?a").serverIdentity)
    }

    @Test("the longest address and application of a profile fit into a row")
    func longest() throws {
        let host = Array(repeating: String(repeating: "h", count: 49), count: 5).joined(separator: ".")
        let url = "https://\(host)/" + String(repeating: "p", count: ServerURL.longest - 9 - host.utf8.count)
        let name = String(repeating: "n", count: ProfileName.maximumCount)
        let changes: [String: ProfileValue] = [
            "AuthServerType": .text("CertificateBasedAuthentication"), "LoginURL": .text(url),
            "ApplicationName": .text(String(repeating: "a", count: 2048)),
        ]
        let longest = try work(changes, name: name)
        #expect(url.utf8.count == ServerURL.longest)
        #expect((4000...LoginKey.longestServer).contains(longest.serverIdentity.utf8.count))
        #expect(throws: AuthError.profile(.value(.loginURL))) { try login(url + "p") }
        var basic = changes
        basic["AuthServerType"] = .text("HTTPBasicAuthentication")
        let profile = try work(basic, name: name)
        try logIn(profile)
        #expect(offline(profile) == .offline(nil))
        #expect(try place.authenticator().remembered(profile)?.hasPassword == true)
    }

    @Test("27 an epoch from one path of the server bounds the other paths, and another application has its own")
    func epochs() throws {
        let new = ServerPolicy(epoch: 7, maxLoginAttempts: 2), old = ServerPolicy(epoch: 6, maxLoginAttempts: 9)
        let moved = try login("\(origin)/login2"), authenticator = place.authenticator()
        try logIn(try work(), new)
        #expect(try authenticator.knownEpoch(moved) == 7)
        let refused = authenticator.end("right", moved, asking: TestProvider(knowing: "right", policy: old))
        #expect(refused == .online(notCached: nil))
        #expect(try place.row(moved)?.server == new)
        #expect(try authenticator.log().entries.map(\.event).contains(.policyRefused(epoch: 6)))
        for elsewhere in [try work(["ApplicationName": .text("other")]), try login("https://other.example/login")] {
            #expect(try authenticator.knownEpoch(elsewhere) == nil)
            try logIn(elsewhere, old)
            #expect(try place.row(elsewhere)?.server == old)
        }
    }

    @Test("a full logout, a password logout and a removal also reach the login's data at other addresses")
    func ends() throws {
        let first = try work(), second = try login("\(origin)/login2"), authenticator = place.authenticator()
        let bob = try UserName("bob")
        func arm() throws {
            for profile in [first, second] { try logIn(profile) }
            #expect(try authenticator.remembered(first)?.hasPassword == true)
        }
        try arm()
        // Every event except a logout concerns one server.
        try authenticator.end(ada, second, after: .sessionTimeOut)
        #expect(try authenticator.remembered(first)?.hasPassword == true)
        try authenticator.end(bob, second, after: .logoutClear)
        #expect(try authenticator.remembered(first)?.hasPassword == true)
        try arm()
        try authenticator.end(ada, second, after: .logout)
        for profile in [first, second] {
            #expect(try authenticator.remembered(profile)?.hasPassword == false)
            #expect(offline(profile) == .offline(nil))
        }
        try arm()
        try authenticator.end(ada, second, after: .logoutClear)
        for profile in [first, second] {
            #expect(try authenticator.remembered(profile) == nil)
            #expect(offline(profile) == .refused(.noCredential))
        }
        #expect(place.disk.remembered.isEmpty)
        try arm()
        // It is found by the names alone, as for a profile that is gone.
        let names = LoginKey(profile: first.name, user: ada)
        #expect(try authenticator.hasData(names))
        #expect(try authenticator.remove(ada, first.name) == .done)
        #expect(try !authenticator.hasData(names))
        #expect(place.disk.remembered.isEmpty && place.disk.rows.isEmpty)
    }

    @Test("the remembered data of a login that was never cached is found by its names too")
    func uncached() throws {
        let profile = try work(["OfflineAuthAllowed": .bool(false)]), authenticator = place.authenticator()
        try logIn(profile)
        #expect(place.disk.rows.isEmpty && place.disk.remembered.count == 1)
        try authenticator.end(LoginKey(profile: profile.name, user: try UserName("bob")), after: .logoutClear)
        try authenticator.end(LoginKey(profile: try ProfileName("home"), user: ada), after: .logoutClear)
        #expect(place.disk.remembered.count == 1)
        try authenticator.end(LoginKey(profile: profile.name, user: ada), after: .logoutClear)
        #expect(place.disk.remembered.isEmpty)
        #expect(try !authenticator.hasData(LoginKey(profile: profile.name, user: ada)))
    }
}
