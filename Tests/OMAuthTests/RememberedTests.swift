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

    @Test("R54 allowed × preference × default for each of the three: the first that is allowed and wanted counts")
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
        // A preference alone allows nothing.
        let eager = RememberPreferences(autoLogin: true, credentials: true, userName: true)
        #expect(RememberChoice(RememberPolicy(), eager) == .nothing)
    }

    @Test("what is remembered is sealed in the file, opens with its key only, and is gone from the file when forgotten")
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
        // Every bit of it is authenticated; what is not is worth nothing, and stands in nobody's way.
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

    @Test("a reader of an old state holds the purge of a forgotten password up; the next operation finishes it")
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
        // A connection that stays open keeps the log's file, as another process would.
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
        // Meanwhile another password is cached, and the old one is still remembered.
        let remembered = place.disk.remembered
        #expect(
            authenticator.end("new", profile, .online, asking: TestProvider(knowing: "new")) == .online(notCached: nil))
        place.disk.remembered = remembered
        let nobody = Script([])
        for _ in 0..<50 {
            let refusal = refusal { () throws(AuthError) in
                _ = try authenticator.login(
                    profile, mode: .offline, prompting: nobody, asking: nil, remembering: key)
            }
            #expect(refusal == .cancelled)
        }
        let row = try #require(try place.row(profile))
        #expect(row.charged == 1 && row.failed == 1 && row.isLive)
        #expect(try authenticator.remembered(profile)?.hasPassword == false)
        #expect(nobody.questions.first?.refusal == .wrongPassword(attemptsLeft: 2, consequence: .wipe))
        #expect(nobody.questions.count == 50 && nobody.questions[1].refusal == nil)
        #expect(nobody.questions[0].user == ada)
    }

    @Test("an auto login that a crash cut short is not tried again by itself; one that reached nobody is")
    func autoLogin() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let server = TestProvider(knowing: "right")
        let receipt = try authenticator.login(LoginRequest(ada, profile), password: Password("right"), asking: server)
        let key = try key(authenticator)
        try authenticator.remember(receipt, profile, password: Password("right"), key: key)
        let nobody = Script([])
        func login(_ provider: TestProvider?, _ mode: ConnectivityMode) -> AuthError? {
            refusal { () throws(AuthError) in
                _ = try authenticator.login(
                    profile, mode: mode, prompting: nobody, asking: provider, remembering: key)
            }
        }
        #expect(login(server, .auto) == nil)
        #expect(login(Self.gone, .auto) == nil, "offline, by the remembered password")
        #expect(login(Self.gone, .online) == .online(.unreachable(.refused)))
        #expect(login(server, .online) == nil)
        #expect(nobody.questions.isEmpty)
        // Taken, and then nothing: a crash.
        let isTaken = try authenticator.takeAutoLogin(profile, key: key) != nil
        let isThereAnother = try authenticator.takeAutoLogin(profile, key: key) != nil
        #expect(isTaken && !isThereAnother)
        #expect(login(server, .auto) == .cancelled)
        #expect(nobody.questions.count == 1 && nobody.questions[0].hasRememberedPassword)
        // Locked: there is no key, so nobody is logged in, and nothing is lost.
        let locked = refusal { () throws(AuthError) in
            _ = try authenticator.login(profile, prompting: nobody, asking: server)
        }
        #expect(locked == .cancelled && nobody.questions.last?.hasRememberedPassword == false)
        #expect(try authenticator.remembered(profile)?.hasPassword == true)
    }

    @Test("a login that was called off before it began takes no auto login")
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

    @Test("R53 an auto login that a server got and did not judge, or was late with, is not submitted again")
    func unjudged() throws {
        let place = MemoryLoginBackend(), profile = try auto(), authenticator = place.authenticator()
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        let key = try key(authenticator), nobody = Script([])
        for answer in [OnlineRefusal.failed(.tokenMissing), .failed(.serverError), .unreachable(.timedOut)] {
            try authenticator.remember(receipt, profile, password: Password("right"), key: key)
            let server = TestProvider(answer)
            for _ in 0..<3 {
                _ = refusal { () throws(AuthError) in
                    _ = try authenticator.login(
                        profile, mode: .online, prompting: nobody, asking: server, remembering: key)
                }
            }
            #expect(server.asked == 1, "\(answer)")
            #expect(try authenticator.remembered(profile)?.hasPassword == true)
        }
    }

    @Test("removing a login, and changing its password, forget the remembered one: its bytes are in no file")
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

    @Test("where nothing may be cached, the first login is remembered all the same, and removing the user forgets it")
    func withoutCache() throws {
        let home = try Home(), authenticator = home.authenticator()
        let profile = try serverProfile(allowed: false) {
            $0.remember.autoLogin = RememberOption(isAllowed: true, isDefault: true)
        }
        let key = try authenticator.makeDeviceRememberingKey()
        let server = TestProvider(knowing: "right")
        let script = Script([.init(ada, .none, "right", nil)])
        _ = try authenticator.login(profile, prompting: script, asking: server, remembering: key)
        let nobody = Script([])
        _ = try authenticator.login(profile, prompting: nobody, asking: server, remembering: key)
        #expect(nobody.questions.isEmpty && server.asked == 2)
        let bob = try UserName("bob")
        #expect(throws: AuthError.noCredential) { try authenticator.remove(bob, profile.name, server: profile.serverIdentity) }
        #expect(try authenticator.remembered(profile)?.isArmed == true)
        #expect(try authenticator.remove(ada, profile.name, server: profile.serverIdentity) == .done)
        #expect(try authenticator.remembered(profile) == nil)
    }

    @Test("what is remembered and damaged is as if nothing were, and the next login that is remembered takes its place")
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

    @Test("an auto login is not submitted where another one is meant, nor one under another key offered")
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

    @Test("another user's failures, offline and online, take nothing away of what is remembered")
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
        "a prompter that goes on answering with a remembered password that is not there is told so once, and then the login ends"
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
        // The remembered one, by its own name and by nobody else's.
        let bob = try UserName("bob")
        let next = Script([.init(bob, sales, nil, nil), .init(ada, sales, nil, nil)])
        let again = try authenticator.login(profile, prompting: next, asking: server, remembering: key)
        let user = again.details.user
        #expect(user == ada)
        #expect(next.questions.map(\.refusal) == [nil, .noCredential])
        #expect(next.questions[0].user == ada && next.questions[0].hasRememberedPassword)
    }
}

/// Somebody who answers what a test has written down, and then declines.
private final class Script: LoginPrompter, @unchecked Sendable {
    struct Line {
        let user: UserName
        let domain: IdentityDomain
        /// nil: the remembered one.
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
