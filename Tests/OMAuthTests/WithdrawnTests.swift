// Remembered data that a profile no longer allows, and OAuth, which never allows a password.

import OMSecrets
import Testing

@testable import OMAuth

@Suite("A withdrawn permission to remember") struct WithdrawnTests {
    /// The permissions, by the initials of auto login, credentials and user name.
    private func profile(_ allowed: String, application: String? = nil) throws -> Profile {
        try serverProfile(3) {
            $0.remember.autoLogin = RememberOption(isAllowed: allowed.contains("a"))
            $0.remember.credentials = RememberOption(isAllowed: allowed.contains("c"))
            $0.remember.userName = RememberOption(isAllowed: allowed.contains("u"))
            $0.applicationName = application
        }
    }

    private func remember(_ choice: RememberPreferences, _ profile: Profile, _ authenticator: Authenticator) throws {
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        try authenticator.remember(
            receipt, profile, password: Password("right"), choice, key: authenticator.makeDeviceRememberingKey())
    }

    private static let auto = RememberPreferences(autoLogin: true, credentials: true, userName: true)
    private static let credentials = RememberPreferences(autoLogin: false, credentials: true, userName: true)
    private static let user = RememberPreferences(autoLogin: false, credentials: false, userName: true)

    @Test(
        "the name, the password or the auto login is neither offered nor kept after its permission is withdrawn",
        arguments: [
            // chosen under all three · still allowed · name, password and auto login that are left
            (auto, "cu", true, true, false), (auto, "u", true, false, false), (auto, "", false, false, false),
            (auto, "a", true, true, true), (credentials, "au", true, false, false), (credentials, "", false, false, false),
            (user, "ac", false, false, false), (user, "u", true, false, false), (user, "", false, false, false),
        ] as [(RememberPreferences, String, Bool, Bool, Bool)])
    func withdrawn(_ chosen: RememberPreferences, _ allowed: String, _ name: Bool, _ password: Bool, _ armed: Bool) throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        try remember(chosen, try profile("acu"), authenticator)
        let left = try profile(allowed)
        func check(_ when: String) throws {
            let kept = try authenticator.remembered(left)
            #expect(kept?.user == (name ? ada : nil), "\(when)")
            #expect((kept?.hasPassword ?? false) == password, "\(when)")
            #expect((kept?.isArmed ?? false) == armed, "\(when)")
        }
        let hasMore = allowed != "a" && !(chosen == Self.user && allowed == "u")
        try check("before anything is removed")
        let before = place.disk.remembered
        #expect(try authenticator.deleteDisallowed(left) == hasMore)
        try check("after")
        // All is allowed again, but deleted data stays deleted.
        let again = try #require(try authenticator.remembered(try profile("acu")))
        #expect(again.user == (name ? ada : nil) && again.hasPassword == password)
        #expect(again.isArmed == armed)
        #expect(try !authenticator.deleteDisallowed(left))
        #expect((place.disk.remembered == before) == !hasMore)
    }

    @Test("a password's bytes leave the files as soon as the profile withdraws it, also under the previous application")
    func bytes() throws {
        let home = try Home(), authenticator = home.authenticator()
        let before = try profile("acu", application: "one")
        try remember(Self.auto, before, authenticator)
        let device = try home.device(), id = Authenticator.rememberedID(before, device)
        let stored = try #require(try Ledger.open(home.backend.ledger)?.serverRow(id))
        let box = try #require(try RememberedRow(stored, under: id, device).password?.box.bytes)
        #expect(try !authenticator.deleteDisallowed(try profile("acu", application: "two")))
        #expect(try !home.files(holding: box).isEmpty)
        #expect(try authenticator.deleteDisallowed(try profile("u", application: "two")))
        #expect(try home.files(holding: box) == [])
        #expect(try authenticator.remembered(before)?.user == ada)
    }

    @Test("a login with a prompter first forgets, and shows no name that must not be remembered")
    func asked() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        try remember(Self.auto, try profile("acu"), authenticator)
        let asker = Asker(), nothing = try profile("")
        let server = TestProvider(knowing: "right")
        #expect(throws: AuthError.cancelled) {
            _ = try authenticator.login(
                nothing, prompting: asker, asking: server, remembering: try authenticator.deviceRememberingKey())
        }
        #expect(asker.users == [nil] && server.asked == 0)
        #expect(try authenticator.remembered(try profile("acu"))?.user == nil)
    }

    @Test("a login by OAuth remembers only the user's name, and forgets an older password")
    func oauth() throws {
        let values = [
            "AuthServerType": "OAuthAuthentication", "OAuthAuthZGrantType": "OAuthResourceOwner", "OAuthClientID": "app",
            "OAuthTokenEndpoint": "https://id.example/token", "AutoLoginAllowed": "true", "AutoLoginDefault": "true",
            "RememberCredentialsAllowed": "true", "RememberUsernameAllowed": "true",
        ]
        let oauth = try Profile(ProfileName("work"), values: values.mapValues { .text($0) })
        #expect(oauth.remember == RememberPolicy(userName: RememberOption(isAllowed: true)))
        #expect(!oauth.remembersPasswords)
        #expect(oauth.effect(of: .autoLoginAllowed) == .none)
        #expect(oauth.effect(of: .rememberUsernameAllowed) == .acts)
        #expect(try profile("acu").effect(of: .autoLoginAllowed) == .acts)
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        // The state that an earlier version left: the row of the OAuth login with a password in it.
        let receipt = try authenticator.login(
            LoginRequest(ada, oauth), password: Password("right"), asking: TestProvider(knowing: "right"))
        let key = try authenticator.makeDeviceRememberingKey()
        guard let store = try authenticator.openIfPresent() else { throw Missing() }
        let id = Authenticator.rememberedID(oauth, store.device)
        _ = try store.changeRemembered(id, oauth.name) { row in
            row.preferences = Self.auto
            row.setPassword(Password("right"), of: ada, .none, key: key.key)
            row.isArmed = true
        }
        #expect(try authenticator.remembered(oauth)?.hasPassword == false)
        let isTaken = try authenticator.takeAutoLogin(oauth, key: key) != nil
        #expect(!isTaken)
        #expect(try authenticator.deleteDisallowed(oauth))
        let left = try #require(try store.remembered(id))
        #expect(left.password == nil && left.user == ada)
        try authenticator.remember(receipt, oauth, password: Password("right"), Self.auto, key: key)
        #expect(try store.remembered(id) == left)
    }
}

/// Records the user name that it is shown, and declines.
private final class Asker: LoginPrompter, @unchecked Sendable {
    var users: [UserName?] = []

    func input(for prompt: LoginPrompt) -> LoginInput? {
        users.append(prompt.user)
        return nil
    }
}
