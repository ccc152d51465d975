// Answers that end a login. A refused auto login counts as one of them, and so does an answer that comes too early.

import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite("Failed answers of one login") struct FailedAnswersTests {
    /// Answers each question with the same password. A login with a hundred questions counts as endless.
    private final class Program: LoginPrompter {
        private(set) var told: [AuthError?] = []
        private let password: String

        init(_ password: String) { self.password = password }

        func input(for prompt: LoginPrompt) -> LoginInput? {
            told.append(prompt.refusal)
            return told.count > 100 ? nil : LoginInput(ada, .typed(Password(password)))
        }
    }

    /// A login with a remembered password that the server refuses.
    private func stale(_ place: MemoryLoginBackend, _ limit: Int) throws -> (Authenticator, Profile, RememberingKey) {
        let logins = place.authenticator()
        let profile = try serverProfile(limit) { $0.remember.autoLogin = RememberOption(isAllowed: true, isDefault: true) }
        let receipt = try logins.login(
            LoginRequest(ada, profile), password: Password("old"), asking: TestProvider(knowing: "old"))
        let key = try #require(try logins.deviceRememberingKey())
        try logins.remember(receipt, profile, password: Password("old"), key: key)
        return (logins, profile, key)
    }

    @Test("a refused auto login is the first of the N wrong answers, and at most N reach the server", arguments: [1, 2, 3])
    func autoLogin(_ limit: Int) throws {
        let (logins, profile, key) = try stale(MemoryLoginBackend(), limit)
        let server = TestProvider(knowing: "new"), program = Program("wrong")
        let error = refusal { () throws(AuthError) in
            _ = try logins.login(profile, mode: .online, prompting: program, asking: server, remembering: key)
        }
        #expect(error == .tooManyAttempts(last: .online(.rejected)) && error?.sdkCode == 10418)
        #expect(program.told.count == limit - 1 && server.asked == limit)
        // The next login asks first, and the user types all of its N answers.
        let next = Program("wrong"), second = TestProvider(knowing: "new")
        let again = refusal { () throws(AuthError) in
            _ = try logins.login(profile, mode: .online, prompting: next, asking: second, remembering: key)
        }
        #expect(again == .tooManyAttempts(last: .online(.rejected)))
        #expect(next.told.count == limit && next.told.first == .some(nil) && second.asked == limit)
    }

    @Test("a refused auto login ends an offline login with N = 1 before the answer that would exceed the limit")
    func offlineAutoLogin() throws {
        let place = MemoryLoginBackend(), (logins, profile, key) = try stale(place, 1)
        let remembered = place.disk.remembered
        #expect(logins.end("new", profile, .online, asking: TestProvider(knowing: "new")) == .online(notCached: nil))
        place.disk.remembered = remembered
        let program = Program("wrong")
        let error = refusal { () throws(AuthError) in
            _ = try logins.login(profile, mode: .offline, prompting: program, asking: nil, remembering: key)
        }
        #expect(error == .tooManyAttempts(last: .wrongPassword(attemptsLeft: 0, consequence: .wipe)))
        #expect(program.told.isEmpty)
        #expect(try place.row(profile)?.isLive == true)
    }

    @Test("a prompter that answers too early gets the delay twice, and its third early answer ends the login uncharged")
    func delay() throws {
        let place = MemoryLoginBackend(), clock = TestClock(), logins = place.authenticator(clock: clock)
        let profile = try serverProfile(9) { $0.attemptDelay = 60 }
        _ = try logins.enroll(ada, profile, password: Password("right")).user
        let program = Program("wrong")
        let error = refusal { () throws(AuthError) in
            _ = try logins.login(profile, mode: .offline, prompting: program, asking: nil)
        }
        let delayed = AuthError.delayed(seconds: 60)
        #expect(error == delayed)
        #expect(program.told == [nil, .wrongPassword(attemptsLeft: 8, consequence: .wipe), delayed, delayed])
        let row = try #require(try place.row(profile))
        #expect(row.charged == 1 && row.failed == 1)
        clock.advance(wall: 61, boot: 61)
        #expect(logins.end("right", profile, .offline, asking: nil) == .offline(nil))
    }

    /// Alternates between the remembered password, which is missing, and a password that comes too early.
    private final class Alternating: LoginPrompter {
        private(set) var asked = 0

        func input(for prompt: LoginPrompt) -> LoginInput? {
            asked += 1
            guard asked <= 100 else { return nil }
            return LoginInput(ada, asked.isMultiple(of: 2) ? .remembered : .typed(Password("wrong")))
        }
    }

    @Test("early answers mixed with other answers end the login too")
    func alternating() throws {
        let logins = MemoryLoginBackend().authenticator(), profile = try serverProfile(9) { $0.attemptDelay = 60 }
        _ = try logins.enroll(ada, profile, password: Password("right")).user
        let person = Alternating()
        let error = refusal { () throws(AuthError) in
            _ = try logins.login(profile, mode: .offline, prompting: person, asking: nil)
        }
        #expect(error == .delayed(seconds: 60) && person.asked == 7)
    }
}
