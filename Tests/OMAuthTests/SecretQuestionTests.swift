import OMOnlineModel
import OMSecrets
import Synchronization
import Testing

@testable import OMAuth

/// Secret questions (KBA): an application's own provider asks them through the prompter.
@Suite struct SecretQuestionTests {
    @Test("a provider's question reaches the user, the answer decides, and later the password alone works offline")
    func asked() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), bank = Bank()
        let person = Person(answers: ["Fido", "Rex"])
        let receipt = try place.authenticator().login(profile, prompting: person, asking: bank)
        let mode = receipt.details.mode
        #expect(mode == .online(notCached: nil))
        #expect(person.heard == [SecretQuestion("Your first pet?"), SecretQuestion("Your first pet?")])
        // The wrong answer was the server's refusal, and the user was asked again.
        #expect(person.refusals == [nil, .online(.rejected)])
        #expect(place.authenticator().end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(person.heard.count == 2)
    }

    @Test("a declined question gives no login, charges and deletes nothing, and asks for no password again")
    func declined() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3)
        #expect(place.authenticator().end("right", profile, asking: TestProvider(knowing: "right")) == .online(notCached: nil))
        let before = try place.row(profile)
        let person = Person(answers: [nil])
        #expect(throws: AuthError.online(.failed(.cancelled))) {
            _ = try place.authenticator().login(profile, prompting: person, asking: Bank())
        }
        #expect(person.heard.count == 1 && person.refusals == [nil])
        #expect(try place.row(profile)?.verifier == before?.verifier)
        #expect(try place.row(profile)?.charged == 0)
        // The result is the same without a user to ask.
        #expect(place.authenticator().end("right", profile, asking: Bank()) == .refused(.online(.failed(.cancelled))))
    }

    @Test("a cancelled login asks no question and sends no answer")
    func calledOff() throws {
        let profile = try serverProfile(3)
        // During the first question, and before it.
        for early in [false, true] {
            let place = MemoryLoginBackend(), cancellation = Cancellation(), bank = Bank(asks: 2)
            let person = Person(answers: ["Rex", "Rex"]) { cancellation.cancel() }
            if early { bank.beforeAsking = { cancellation.cancel() } }
            #expect(throws: AuthError.cancelled) {
                _ = try place.authenticator().login(
                    profile, prompting: person, asking: bank, cancellation: cancellation)
            }
            #expect(person.heard.count == (early ? 0 : 1))
            #expect(bank.answered == [nil, nil])
            #expect(try place.row(profile) == nil)
        }
    }

    @Test("an application's window answers a question, and a cancelled question ignores the answer")
    func awaited() async throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3)
        let receipt = try await place.authenticator().login(profile, prompting: Window(waits: false), asking: Bank())
        let mode = receipt.details.mode
        #expect(mode == .online(notCached: nil))

        let window = Window(waits: true), bank = Bank(asks: 2)
        let task = Task { () -> AuthError? in
            do throws(AuthError) {
                _ = try await MemoryLoginBackend().authenticator().login(profile, prompting: window, asking: bank)
            } catch { return error }
            return nil
        }
        await window.asked.taken()
        task.cancel()
        #expect(await task.value == .cancelled)
        window.press()
        await window.pressed.taken()
        #expect(bank.answered == [nil, nil])
    }
}

/// An application's own provider. Its server asks another question after the password.
private final class Bank: Provider, @unchecked Sendable {
    private let asks: Int
    var beforeAsking: () -> Void = {}
    /// The result of each question.
    var answered: [String?] = []

    init(asks: Int = 1) { self.asks = asks }

    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer {
        guard password.bytes.isEqual(to: SecretBytes(copying: Array("right".utf8))) else { return .refused(.rejected) }
        beforeAsking()
        for _ in 0..<asks {
            guard let answer = asking.answer(SecretQuestion("Your first pet?")) else {
                answered.append(nil)
                continue
            }
            answered.append(answer.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) })
        }
        guard !answered.contains(nil) else { return .refused(.failed(.cancelled)) }
        guard answered.last == "Rex" else { return .refused(.rejected) }
        return .accepted(policy: nil, serverTime: nil, session: nil)
    }
}

private final class Person: LoginPrompter {
    private var answers: [String?]
    private let whenAsked: () -> Void
    private(set) var heard: [SecretQuestion] = []
    private(set) var refusals: [AuthError?] = []

    init(answers: [String?], whenAsked: @escaping () -> Void = {}) {
        (self.answers, self.whenAsked) = (answers, whenAsked)
    }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        refusals.append(prompt.refusal)
        return LoginInput(ada, .typed(Password("right")))
    }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        heard.append(question)
        whenAsked()
        return answers.removeFirst().map { SecretBytes(copying: Array($0.utf8)) }
    }
}

private final class Window: AsyncLoginPrompter {
    let asked = Signal(), pressed = Signal()
    private let waits: Bool
    private let button = Mutex<CheckedContinuation<Void, Never>?>(nil)

    init(waits: Bool) { self.waits = waits }

    func input(for prompt: LoginPrompt) async -> LoginInput? {
        LoginInput(ada, .typed(Password("right")))
    }

    func answer(_ question: SecretQuestion) async -> SecretBytes? {
        defer { pressed.give() }
        if waits {
            await withCheckedContinuation { continuation in
                button.withLock { $0 = continuation }
                asked.give()
            }
        }
        return SecretBytes(copying: Array("Rex".utf8))
    }

    func press() { button.withLock { $0.take() }?.resume() }
}
