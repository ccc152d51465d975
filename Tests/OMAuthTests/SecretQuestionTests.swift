import OMOnlineModel
import OMSecrets
import Synchronization
import Testing

@testable import OMAuth

/// Secret questions (KBA): an application's own provider asks them through the prompter.
@Suite struct SecretQuestionTests {
    @Test("a provider's question reaches whoever logs in, and the answer decides; afterwards the password alone works offline")
    func asked() throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3), bank = Bank()
        let person = Person(answers: ["Fido", "Rex"])
        let receipt = try place.authenticator().login(profile, prompting: person, asking: bank)
        let mode = receipt.details.mode
        #expect(mode == .online(notCached: nil))
        #expect(person.heard == [SecretQuestion("Your first pet?"), SecretQuestion("Your first pet?")])
        // The wrong answer was the server's no: the person was asked anew.
        #expect(person.refusals == [nil, .online(.rejected)])
        #expect(place.authenticator().end("right", profile, .offline, asking: nil) == .offline(nil))
        #expect(person.heard.count == 2)
    }

    @Test("who declines to answer is not logged in, nothing is charged or taken away, and no password is asked for again")
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
        // Where nobody is there to be asked, it is the same.
        #expect(place.authenticator().end("right", profile, asking: Bank()) == .refused(.online(.failed(.cancelled))))
    }

    @Test("after the login was called off, nobody is asked and no answer gets through")
    func calledOff() throws {
        let profile = try serverProfile(3)
        // While the first question is open, and before it.
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

    @Test("an application's window answers a question, and called off, an answer that is still typed goes nowhere")
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

/// A provider of an application's own: after the password, its server wants to know more.
private final class Bank: Provider, @unchecked Sendable {
    private let asks: Int
    var beforeAsking: () -> Void = {}
    /// What came of each question.
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
