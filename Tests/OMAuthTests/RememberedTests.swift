import Foundation
import OMOnlineModel
import OMSecrets
import OMStorage
import OMSystem
import Testing

@testable import OMAuth

@Suite struct RememberedTests {
    private static let gone = TestProvider(.unreachable(.refused))

    private func auto(_ limit: Int = 3) throws -> Profile {
        try serverProfile(limit) {
            $0.remember.autoLogin = RememberOption(isAllowed: true, isDefault: true)
            $0.remember.credentials = RememberOption(isAllowed: true)
            $0.remember.userName = RememberOption(isAllowed: true)
        }
    }

    private func key(_ authenticator: Authenticator) throws -> RememberingKey {
        guard let key = try authenticator.deviceRememberingKey() else { throw Missing() }
        return key
    }

    @Test("R54 allowed × preference × default for each of the three: the first allowed and wanted value counts")
    func precedence() {
        let options = [(false, false), (true, false), (true, true), (false, true)].map {
            RememberOption(isAllowed: $0.0, isDefault: $0.1)
        }
        let choices: [Bool?] = [nil, false, true]
        var cases = 0
        for auto in options {
            for credentials in options {
                for name in options {
                    let policy = RememberPolicy(autoLogin: auto, credentials: credentials, userName: name)
                    for one in choices {
                        for two in choices {
                            for three in choices {
                                let preferences = RememberPreferences(
                                    autoLogin: one, credentials: two, userName: three)
                                let expected: RememberChoice =
                                    auto.isAllowed && (one ?? auto.isDefault)
                                    ? .autoLogin
                                    : credentials.isAllowed && (two ?? credentials.isDefault)
                                        ? .credentials
                                        : name.isAllowed && (three ?? name.isDefault) ? .userName : .nothing
                                #expect(RememberChoice(policy, preferences) == expected)
                                cases += 1
                            }
                        }
                    }
                }
            }
        }
        #expect(cases == 64 * 27)
        // A preference alone gives no permission.
        let eager = RememberPreferences(autoLogin: true, credentials: true, userName: true)
        #expect(RememberChoice(RememberPolicy(), eager) == .nothing)
    }

    @Test("remembered data is sealed in the file, opens with its key only, and leaves the file when forgotten")
    func sealed() throws {
        let home = try Home(), profile = try auto(), authenticator = home.authenticator()
        let password = "correct horse battery staple"
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password(password), asking: TestProvider(knowing: password))
        let key = try key(authenticator)
        try authenticator.remember(receipt, profile, password: Password(password), key: key)
        #expect(try home.files(holding: Array(password.utf8)) == [])
        func opened(_ key: RememberingKey) throws -> [UInt8]? {
            guard let found = try authenticator.rememberedPassword(profile, key: key) else { return nil }
            return found.bytes.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        }
        #expect(try opened(key) == Array(password.utf8))
        #expect(try opened(RememberingKey(.random())) == nil)
        let device = try home.device()
        let id = Authenticator.rememberedID(profile, device)
        let stored = try #require(try Ledger.open(home.backend.ledger)?.serverRow(id))
        let box = try #require(try RememberedRow(stored, under: id, device).password?.box.bytes)
        #expect(try !home.files(holding: box).isEmpty)
        // Every bit is authenticated. Unauthentic data counts as none, and blocks no login.
        for offset in stride(from: 0, to: stored.count, by: 7) {
            var bad = stored
            bad[offset] ^= 0x10
            #expect(throws: AuthError.quarantined, "offset \(offset)") { try RememberedRow(bad, under: id, device) }
        }
        for count in 0..<stored.count {
            #expect(throws: AuthError.quarantined) { try RememberedRow(Array(stored.prefix(count)), under: id, device) }
        }
        try authenticator.end(ada, profile, after: .logout)
        #expect(try opened(key) == nil)
        #expect(try home.files(holding: box) == [])
        #expect(try authenticator.remembered(profile)?.user == ada)
    }

    @Test("a name is forgotten with its password, for its own user only")
    func forgottenName() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        try authenticator.remember(receipt, profile, password: Password("right"), key: try key(authenticator))
        try authenticator.forgetUserName(LoginKey(UserName("bob"), profile, .none))
        #expect(try authenticator.remembered(profile)?.user == ada)
        try authenticator.forgetUserName(LoginKey(ada, profile, .none))
        let left = try authenticator.remembered(profile)
        #expect(left?.user == nil && left?.hasPassword ?? false == false)
    }

    @Test("a reader of an old state delays the purge of a forgotten password, and the next operation finishes it")
    func purge() throws {
        let home = try Home(), profile = try auto(), authenticator = home.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        try authenticator.remember(receipt, profile, password: Password("right"), key: try key(authenticator))
        let device = try home.device()
        let id = Authenticator.rememberedID(profile, device)
        let stored = try #require(try Ledger.open(home.backend.ledger)?.serverRow(id))
        let box = try #require(try RememberedRow(stored, under: id, device).password?.box.bytes)
        let reader = try home.database()
        try reader.transaction(.read) { () throws(StorageError) in
            _ = try reader.number("SELECT count(*) FROM logins")
            _ = try? authenticator.end(ada, profile, after: .logoutClear)
            #expect((try? home.files(holding: box))?.isEmpty == false)
        }
        // An open connection keeps the log's file, as another process would.
        withExtendedLifetime(try reader.number("SELECT 1")) {}
        #expect(try authenticator.remembered(profile) == nil)
        _ = try authenticator.status([profile])
        #expect(try home.files(holding: box) == [])
        _ = consume reader
    }

    @Test("R53 a stale password in a loop of 50 restarts costs one charge, is deleted, and wipes nothing")
    func staleLoop() throws {
        let place = MemoryLoginBackend(), profile = try auto(3), authenticator = place.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("old"), asking: TestProvider(knowing: "old"))
        let key = try key(authenticator)
        try authenticator.remember(receipt, profile, password: Password("old"), key: key)
        // Meanwhile another password is cached, and the old password is still remembered.
        let remembered = place.disk.remembered
        #expect(
            authenticator.end("new", profile, .online, asking: TestProvider(knowing: "new")) == .online(notCached: nil))
        place.disk.remembered = remembered
        let silent = Script([])
        for _ in 0..<50 {
            let refusal = refusal { () throws(AuthError) in
                _ = try authenticator.login(
                    profile, mode: .offline, prompting: silent, asking: nil, remembering: key)
            }
            #expect(refusal == .cancelled)
        }
        let row = try #require(try place.row(profile))
        #expect(row.charged == 1 && row.failed == 1 && row.isLive)
        #expect(try authenticator.remembered(profile)?.hasPassword == false)
        #expect(silent.questions.first?.refusal == .wrongPassword(attemptsLeft: 2, consequence: .wipe))
        #expect(silent.questions.count == 50 && silent.questions[1].refusal == nil)
        #expect(silent.questions[0].user == ada)
    }

    @Test("an auto login that a crash interrupted is not repeated, unless it reached no server")
    func autoLogin() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let server = TestProvider(knowing: "right")
        let receipt = try authenticator.login(LoginRequest(ada, profile), password: Password("right"), asking: server)
        let key = try key(authenticator)
        try authenticator.remember(receipt, profile, password: Password("right"), key: key)
        let silent = Script([])
        func login(_ provider: TestProvider?, _ mode: ConnectivityMode) -> AuthError? {
            refusal { () throws(AuthError) in
                _ = try authenticator.login(
                    profile, mode: mode, prompting: silent, asking: provider, remembering: key)
            }
        }
        #expect(login(server, .auto) == nil)
        #expect(login(Self.gone, .auto) == nil, "offline, by the remembered password")
        #expect(login(Self.gone, .online) == .online(.unreachable(.refused)))
        #expect(login(server, .online) == nil)
        #expect(silent.questions.isEmpty)
        // The auto login is marked as used, and then the process crashes.
        let isTaken = try authenticator.takeAutoLogin(profile, key: key) != nil
        let isThereAnother = try authenticator.takeAutoLogin(profile, key: key) != nil
        #expect(isTaken && !isThereAnother)
        #expect(login(server, .auto) == .cancelled)
        #expect(silent.questions.count == 1 && silent.questions[0].hasRememberedPassword)
        // A locked vault gives no key, so the login fails, and nothing is lost.
        let locked = refusal { () throws(AuthError) in
            _ = try authenticator.login(profile, prompting: silent, asking: server)
        }
        #expect(locked == .cancelled && silent.questions.last?.hasRememberedPassword == false)
        #expect(try authenticator.remembered(profile)?.hasPassword == true)
    }

    @Test("a login that was cancelled before it began uses no auto login")
    func calledOff() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let server = TestProvider(knowing: "right")
        let receipt = try authenticator.login(LoginRequest(ada, profile), password: Password("right"), asking: server)
        let key = try key(authenticator), cancellation = Cancellation()
        try authenticator.remember(receipt, profile, password: Password("right"), key: key)
        cancellation.cancel()
        #expect(throws: AuthError.cancelled) {
            _ = try authenticator.login(
                profile, prompting: Script([]), asking: server, remembering: key, cancellation: cancellation)
        }
        #expect(try authenticator.remembered(profile)?.isArmed == true && server.asked == 1)
    }

    @Test("R53 an auto login that a server received without a timely answer is not submitted again")
    func unanswered() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        let key = try key(authenticator), silent = Script([])
        for answer in [OnlineRefusal.failed(.tokenMissing), .failed(.serverError), .unreachable(.timedOut)] {
            try authenticator.remember(receipt, profile, password: Password("right"), key: key)
            let server = TestProvider(answer)
            for _ in 0..<3 {
                _ = refusal { () throws(AuthError) in
                    _ = try authenticator.login(
                        profile, mode: .online, prompting: silent, asking: server, remembering: key)
                }
            }
            #expect(server.asked == 1, "\(answer)")
            #expect(try authenticator.remembered(profile)?.hasPassword == true)
        }
    }

    @Test("removing a login, or changing its password, removes the remembered password from all files")
    func forgotten() throws {
        let always = { try policy(3, .lockout) }
        for removes in [true, false] {
            let home = try Home(), authenticator = home.authenticator()
            let values: [String: ProfileValue] = ["AutoLoginAllowed": .bool(true), "AutoLoginDefault": .bool(true)]
            let profile = try Profile(
                ProfileName("work"),
                values: always().values.reduce(into: [:]) { $0[$1.key.rawValue] = $1.value }.merging(values) { $1 })
            try home.enroll(profile)
            let receipt = try authenticator.login(
                LoginRequest(ada, profile), password: Password("right"), asking: nil)
            try authenticator.remember(receipt, profile, password: Password("right"), key: try key(authenticator))
            let id = Authenticator.rememberedID(profile, try home.device())
            let stored = try #require(try Ledger.open(home.backend.ledger)?.serverRow(id))
            let box = try #require(try RememberedRow(stored, under: id, home.device()).password?.box.bytes)
            #expect(try !home.files(holding: box).isEmpty)
            if removes {
                #expect(try authenticator.remove(ada, profile.name) == .done)
                #expect(try authenticator.remembered(profile) == nil)
            } else {
                _ = try authenticator.changePassword(ada, profile, from: Password("right"), to: Password("new"))
                #expect(try authenticator.remembered(profile)?.user == ada)
                #expect(try authenticator.remembered(profile)?.hasPassword == false)
            }
            #expect(try home.files(holding: box) == [])
        }
    }

    @Test("the first login is remembered even if nothing may be cached, and removing the user forgets it")
    func withoutCache() throws {
        let home = try Home(), authenticator = home.authenticator()
        let profile = try serverProfile(allowed: false) {
            $0.remember.autoLogin = RememberOption(isAllowed: true, isDefault: true)
        }
        let key = try authenticator.makeDeviceRememberingKey()
        let server = TestProvider(knowing: "right")
        let script = Script([.init(ada, .none, "right", nil)])
        _ = try authenticator.login(profile, prompting: script, asking: server, remembering: key)
        let silent = Script([])
        _ = try authenticator.login(profile, prompting: silent, asking: server, remembering: key)
        #expect(silent.questions.isEmpty && server.asked == 2)
        let bob = try UserName("bob")
        #expect(throws: AuthError.noCredential) { try authenticator.remove(bob, profile.name, server: profile.serverIdentity) }
        #expect(try authenticator.remembered(profile)?.isArmed == true)
        #expect(try authenticator.remove(ada, profile.name, server: profile.serverIdentity) == .done)
        #expect(try authenticator.remembered(profile) == nil)
    }

    @Test("damaged remembered data counts as none, and the next remembered login replaces it")
    func damaged() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let server = TestProvider(knowing: "right")
        let receipt = try authenticator.login(LoginRequest(ada, profile), password: Password("right"), asking: server)
        let key = try key(authenticator)
        try authenticator.remember(receipt, profile, password: Password("right"), key: key)
        for id in place.disk.remembered.keys { place.disk.remembered[id]?[40] ^= 1 }
        #expect(try authenticator.remembered(profile) == nil)
        let script = Script([.init(ada, .none, "right", nil)])
        _ = try authenticator.login(profile, prompting: script, asking: server, remembering: key)
        #expect(script.questions.count == 1 && script.questions[0].user == nil)
        #expect(try authenticator.remembered(profile)?.isArmed == true)
    }

    @Test("an auto login is not submitted for another login, or under another key")
    func notMeant() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let server = TestProvider(knowing: "right")
        let receipt = try authenticator.login(LoginRequest(ada, profile), password: Password("right"), asking: server)
        let key = try key(authenticator)
        try authenticator.remember(receipt, profile, password: Password("right"), key: key)
        let script = Script([])
        for (key, submits) in [(key, false), (RememberingKey(.random()), true)] {
            let end = refusal { () throws(AuthError) in
                _ = try authenticator.login(
                    profile, prompting: script, asking: server, remembering: key, submitsAutoLogin: submits)
            }
            #expect(end == .cancelled)
        }
        #expect(script.questions.map(\.hasRememberedPassword) == [true, false])
        #expect(server.asked == 1)
        #expect(try authenticator.remembered(profile)?.isArmed == true)
    }

    @Test("another user's failures, offline and online, leave the remembered data")
    func othersFailures() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        try authenticator.remember(receipt, profile, password: Password("right"), key: try key(authenticator))
        let bob = try UserName("bob")
        _ = try authenticator.enroll(bob, profile, password: Password("bob's"))
        _ = authenticator.end("wrong", profile, .offline, user: bob, asking: nil)
        _ = authenticator.end("wrong", profile, .online, user: bob, asking: TestProvider(.rejected))
        _ = authenticator.end("wrong", profile, .online, user: bob, asking: TestProvider(.blocked))
        _ = authenticator.end(
            "wrong", profile, .online, domain: try IdentityDomain("other"), asking: TestProvider(.rejected))
        #expect(try authenticator.remembered(profile)?.isArmed == true)
        _ = authenticator.end("wrong", profile, .online, asking: TestProvider(.rejected))
        #expect(try authenticator.remembered(profile)?.hasPassword == false)
    }

    @Test(
        "a prompter that repeats a missing remembered password gets one warning, and then the login ends"
    )
    func stubborn() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let server = TestProvider(knowing: "right")
        let script = Script(Array(repeating: .init(ada, .none, nil, nil), count: 5))
        #expect(throws: AuthError.noCredential) {
            _ = try authenticator.login(profile, prompting: script, asking: server)
        }
        #expect(script.questions.map(\.refusal) == [nil, .noCredential] && server.asked == 0)
    }

    @Test("a prompter is asked again with the reason, its choices are remembered, and eight stars are a password")
    func prompting() throws {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        let profile = try serverProfile(3) {
            $0.remember.credentials = RememberOption(isAllowed: true)
            $0.collectIdentityDomain = true
        }
        _ = try place.makeDevice()
        let key = try key(authenticator)
        let sales = try IdentityDomain("sales")
        let server = TestProvider { question, typed in
            question.domain == sales && typed == Array("********".utf8) ? .yes(nil, nil) : .no(.rejected)
        }
        let script = Script([
            .init(ada, .none, "typo", nil), .init(ada, sales, "********", RememberPreferences(credentials: true)),
        ])
        let receipt = try authenticator.login(profile, prompting: script, asking: server, remembering: key)
        let context = receipt.details
        #expect(context.domain == sales && context.mode == .online(notCached: nil))
        #expect(script.questions.map(\.refusal) == [nil, .online(.rejected)])
        #expect(script.questions.map(\.asksDomain) == [true, true])
        #expect(script.steps == [.asking, .asking, .storing])
        // The remembered password is used by its own name only.
        let bob = try UserName("bob")
        let next = Script([.init(bob, sales, nil, nil), .init(ada, sales, nil, nil)])
        let again = try authenticator.login(profile, prompting: next, asking: server, remembering: key)
        let user = again.details.user
        #expect(user == ada)
        #expect(next.questions.map(\.refusal) == [nil, .noCredential])
        #expect(next.questions[0].user == ada && next.questions[0].hasRememberedPassword)
    }
}

/// A user who gives the test's answers, and then declines.
private final class Script: LoginPrompter, @unchecked Sendable {
    struct Line {
        let user: UserName
        let domain: IdentityDomain
        /// Nil means the remembered password.
        let password: String?
        let preferences: RememberPreferences?

        init(_ user: UserName, _ domain: IdentityDomain, _ password: String?, _ preferences: RememberPreferences?) {
            (self.user, self.domain, self.password, self.preferences) = (user, domain, password, preferences)
        }
    }

    private var lines: [Line]
    var questions: [LoginPrompt] = []
    var steps: [LoginStep] = []

    init(_ lines: [Line]) { self.lines = lines }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        questions.append(prompt)
        guard !lines.isEmpty else { return nil }
        let line = lines.removeFirst()
        if let password = line.password {
            return LoginInput(
                line.user, domain: line.domain, .typed(Password(password)), preferences: line.preferences)
        }
        return LoginInput(line.user, domain: line.domain, .remembered, preferences: line.preferences)
    }

    func progress(_ step: LoginStep) { steps.append(step) }
}
