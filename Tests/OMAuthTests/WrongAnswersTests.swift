import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite("Wrong answers of one login") struct WrongAnswersTests {
    /// Answers each question with the same wrong password, for a limited number of times.
    private final class Stubborn: LoginPrompter {
        private(set) var asked = 0

        func input(for prompt: LoginPrompt) -> LoginInput? {
            asked += 1
            return asked > 10 ? nil : LoginInput(ada, domain: .none, .typed(Password("wrong")))
        }
    }

    private func refused(
        _ profile: Profile, _ server: TestProvider?, _ logins: Authenticator, _ mode: ConnectivityMode = .online
    ) -> (error: AuthError?, asked: Int) {
        let person = Stubborn()
        let error = refusal { () throws(AuthError) in
            _ = try logins.login(profile, mode: mode, prompting: person, asking: server)
        }
        return (error, person.asked)
    }

    private func unnamed() throws -> Profile {
        let named = try serverProfile(1), values = named.values.filter { $0.key != .maxLoginAttempts }
        return try Profile(named.name, values: Dictionary(uniqueKeysWithValues: values.map { ($0.key.rawValue, $0.value) }))
    }

    @Test("MaxLoginAttempts wrong answers end a login with 10418, and no more reach the server", arguments: [1, 2, 5])
    func profile(_ limit: Int) async throws {
        let server = TestProvider(knowing: "right"), place = MemoryLoginBackend()
        let (error, asked) = refused(try serverProfile(limit), server, place.authenticator())
        #expect(error == .tooManyAttempts(last: .online(.rejected)))
        #expect(error?.sdkCode == 10418 && error?.clearing == .rejectedOther)
        #expect(asked == limit && server.asked == limit)
    }

    @Test("the number in the server's policy ends a login, whatever the profile says")
    func server() async throws {
        let place = MemoryLoginBackend(), logins = place.authenticator(), profile = try serverProfile(5)
        let policy = ServerPolicy(epoch: 1, maxLoginAttempts: 2)
        #expect(
            logins.end("right", profile, asking: TestProvider(knowing: "right", policy: policy)) == .online(notCached: nil))
        let (error, asked) = refused(profile, TestProvider(knowing: "right"), logins)
        #expect(error == .tooManyAttempts(last: .online(.rejected)) && asked == 2)
    }

    @Test("three wrong answers end a login without a configured number, and the SDK's default of 1 still wipes offline")
    func unnamedLimit() async throws {
        let place = MemoryLoginBackend(), logins = place.authenticator(), profile = try unnamed()
        let (error, asked) = refused(profile, TestProvider(knowing: "right"), logins)
        #expect(error == .tooManyAttempts(last: .online(.rejected)) && asked == 3)
        #expect(logins.end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        let (offline, answers) = refused(profile, nil, logins, .offline)
        #expect(offline == .attemptsExceeded(isFinished: true) && answers == 2)
    }

    @Test("the attempt that locks is a result like the attempt that wipes, also without the server")
    func locking() async throws {
        let place = MemoryLoginBackend(), logins = place.authenticator(), profile = try serverProfile(1, .lockout)
        _ = try place.enrolled(logins, profile)
        let gone = TestProvider(.unreachable(.refused))
        #expect(
            logins.end("wrong", profile, asking: gone)
                == .refused(.wrongPassword(attemptsLeft: 0, consequence: .lockout)))
        #expect(logins.end("wrong", profile, asking: gone) == .refused(.lockedOut))
        #expect(
            logins.end("right", profile, asking: gone)
                == .refused(.neither(online: .unreachable(.refused), offline: .lockedOut)))
    }
}

extension MemoryLoginBackend {
    fileprivate func enrolled(_ logins: Authenticator, _ profile: Profile) throws -> Bool {
        let login = try logins.enroll(ada, profile, password: Password("right"))
        return login.user == ada
    }
}
