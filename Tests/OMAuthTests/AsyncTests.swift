import Foundation
import OMOnlineModel
import OMSecrets
import OMSystem
import Synchronization
import Testing

@testable import OMAuth

/// The awaited forms, and the end of a cancelled login.
@Suite struct AsyncTests {
    @Test("the awaited calls lend, report errors and return keys and receipts through the whole life of a login")
    func life() async throws {
        let home = try Home(), profile = try policy(3, .lockout), logins = home.authenticator()
        let password = Password("right"), new = Password("new")
        func name(_ login: borrowing VerifiedLogin) -> [UInt8] { login.unlock.fingerprint(Context(.loginID)) }
        let first = try await name(
            logins.awaiting(lending: password) { (logins, password) throws(AuthError) in
                try logins.enroll(ada, profile, password: password)
            })
        #expect(try await name(logins.check(ada, profile, password: password)) == first)
        await #expect(throws: AuthError.wrongPassword(attemptsLeft: 2, consequence: .lockout)) {
            _ = try await logins.check(ada, profile, password: new)
        }
        #expect(try await status(logins, profile).details?.attemptsLeft == 2)
        let third = try await logins.awaiting(lending: new) { (logins, new) throws(AuthError) in
            try logins.changePassword(ada, profile, from: Password("right"), to: new)
        }
        let (id, changed) = (third.id, name(third))
        #expect(changed == first)
        #expect(try await logins.awaiting { (logins) throws(AuthError) in try logins.owner(of: id) }?.user == ada)
        let receipt = try await logins.login(LoginRequest(ada, profile), password: new, asking: nil)
        let key = try await logins.awaiting { (logins) throws(AuthError) in try logins.makeDeviceRememberingKey() }
        try await logins.remember(receipt, profile, password: new, RememberPreferences(userName: true), key: key)
        // The profile allows none of it.
        #expect(try await logins.awaiting { (logins) throws(AuthError) in try logins.remembered(profile) }?.user == nil)
        #expect(try await logins.awaiting { (logins) throws(AuthError) in try logins.status([profile]) }.count == 1)
        let policy = try await logins.awaiting { (logins) throws(AuthError) in try logins.policy(of: ada, profile) }
        #expect(policy.maxLoginAttempts == 3)
        #expect(try await logins.awaiting { (logins) throws(AuthError) in try logins.log() }.entries.count > 3)
        #expect(try await logins.remove(ada, profile.name) == .done)
        #expect(try await status(logins, profile).refusal == .noCredential)
    }

    private func status(_ logins: Authenticator, _ profile: Profile) async throws(AuthError) -> LoginStatus {
        try await logins.awaiting { (logins) throws(AuthError) in try logins.status(ada, profile) }
    }

    @Test("blocking work runs on a thread that is not a task's")
    func ownThread() async throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3)
        let isTask = Mutex<Bool?>(nil)
        let server = TestProvider { _, _ in
            isTask.withLock { $0 = withUnsafeCurrentTask { $0 != nil } }
            return .yes(nil, nil)
        }
        _ = try await place.authenticator().login(
            LoginRequest(ada, profile), password: Password("right"), asking: server)
        #expect(isTask.withLock { $0 } == false)
    }

    @Test("a task cancelled before its start does nothing, except for operations that delete")
    func cancelledBefore() async throws {
        let home = try Home(), profile = try policy(3), logins = home.authenticator()
        func cancelled(_ body: @escaping @Sendable () async throws(AuthError) -> Void) async -> AuthError? {
            await Task { () -> AuthError? in
                withUnsafeCurrentTask { $0?.cancel() }
                do throws(AuthError) { try await body() } catch { return error }
                return nil
            }.value
        }
        let enrolled = await cancelled { () async throws(AuthError) in
            _ = try await logins.awaiting { (logins) throws(AuthError) in
                try logins.enroll(ada, profile, password: Password("right"))
            }
        }
        #expect(enrolled == .cancelled && !FileManager.default.fileExists(atPath: home.backend.ledger))
        try home.enroll(profile)
        let before = try home.rowBytes(profile)
        let checked = await cancelled { () async throws(AuthError) in
            _ = try await logins.check(ada, profile, password: Password("right"))
        }
        #expect(try checked == .cancelled && home.rowBytes(profile) == before)
        // A user whose window is closed is logged out all the same.
        let ended = await cancelled { () async throws(AuthError) in
            try await logins.end(ada, profile, after: .logoutClear)
        }
        #expect(try ended == nil && logins.blockingStatus(profile).details == nil)
        try home.enroll(profile)
        let removed = await cancelled { () async throws(AuthError) in
            _ = try await logins.remove(ada, profile.name)
        }
        #expect(try removed == nil && logins.blockingStatus(profile).details == nil)
    }

    @Test("a cancellation during the stretch charges nothing; after the charge the result is returned")
    func charge() async throws {
        let home = try Home(), profile = try policy(3)
        try home.enroll(profile)
        let before = try home.rowBytes(profile)
        for changes in [false, true] {
            let (began, release) = (Signal(), Latch())
            let slow = Authenticator(
                home.backend, .floor,
                stretch: { (derivation, password) throws(AuthError) in
                    began.give()
                    release.wait()
                    return try derivation.stretch(password)
                })
            let task = Task { () -> AuthError? in
                do throws(AuthError) {
                    if changes {
                        _ = try await slow.awaiting { (logins) throws(AuthError) in
                            try logins.enroll(ada, policy(2, .lockout, named: "other"), password: Password("right"))
                        }
                    } else {
                        _ = try await slow.check(ada, profile, password: Password("right"))
                    }
                    return nil
                } catch { return error }
            }
            await began.taken()
            task.cancel()
            release.open()
            #expect(await task.value == .cancelled)
        }
        #expect(try home.rowBytes(profile) == before)
        #expect(try home.authenticator().blockingStatus(policy(2, .lockout, named: "other")).details == nil)

        let cancellation = Cancellation()
        let logins = home.authenticator(onCheck: { _ in cancellation.cancel() })
        let receipt = try logins.blockingLogin(LoginRequest(ada, profile), "right", cancellation)
        let user = receipt.details.user
        #expect(user == ada)
        #expect(throws: AuthError.wrongPassword(attemptsLeft: 2, consequence: .wipe)) {
            let late = Cancellation()
            _ = try home.authenticator(onCheck: { _ in late.cancel() })
                .blockingLogin(LoginRequest(ada, profile), "wrong", late)
        }
    }

    @Test("a cancelled wait for another process's lock charges nothing")
    func lock() async throws {
        let home = try Home(), profile = try policy(3)
        try home.enroll(profile)
        let before = try home.rowBytes(profile)
        let (held, release, stretched) = (Signal(), Latch(), Signal())
        let holder = Task {
            try await OwnThread.run { () throws(AuthError) in
                let store = try home.authenticator().open(LoginKey(profile: profile.name, user: ada))
                try store.exclusively(LoginKey(ada, profile).id(under: store.device), wait: 60_000) { () throws(AuthError) in
                    held.give()
                    release.wait()
                }
            }
        }
        await held.taken()
        let logins = Authenticator(
            home.backend, .floor, lockWait: .max,
            stretch: { (derivation, password) throws(AuthError) in
                defer { stretched.give() }
                return try derivation.stretch(password)
            })
        let task = Task { () -> AuthError? in
            do throws(AuthError) { _ = try await logins.check(ada, profile, password: Password("right")) } catch {
                return error
            }
            return nil
        }
        await stretched.taken()
        task.cancel()
        #expect(await task.value == .cancelled)
        release.open()
        try await holder.value
        #expect(try home.rowBytes(profile) == before)
    }

    @Test("a prompter is asked again with the reason, gets the steps in order, and logs in")
    func prompting() async throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3)
        let form = Form(["typo", "right"])
        let receipt = try await place.authenticator().login(
            profile, prompting: form, asking: TestProvider(knowing: "right"))
        let mode = receipt.details.mode
        #expect(mode == .online(notCached: nil))
        #expect(await form.refusals == [nil, .online(.rejected)])
        #expect(await form.steps == [.asking, .asking, .storing])
        // A declined question is no error of the server.
        await #expect(throws: AuthError.cancelled) {
            _ = try await place.authenticator().login(
                profile, prompting: Form([]), asking: TestProvider(knowing: "right"))
        }
    }

    @Test(
        "a login cancelled during its prompt ends at once and ignores the prompter's later answer"
    )
    func prompterWaits() async throws {
        let place = MemoryLoginBackend(), profile = try serverProfile(3)
        let server = TestProvider(knowing: "right")
        let deaf = Deaf()
        let task = Task { () -> AuthError? in
            do throws(AuthError) {
                _ = try await place.authenticator().login(profile, prompting: deaf, asking: server)
            } catch { return error }
            return nil
        }
        await deaf.asked.taken()
        task.cancel()
        #expect(await task.value == .cancelled)
        // The user presses the button of a window for which no login waits.
        deaf.answer()
        await deaf.answered.taken()
        #expect(server.asked == 0)
        #expect(deaf.sawCancellation.withLock { $0 })
    }
}

extension Authenticator {
    // In an async test the plain names are the awaited forms.
    fileprivate func blockingStatus(_ profile: Profile) throws(AuthError) -> LoginStatus { try status(ada, profile) }

    fileprivate func blockingLogin(
        _ request: LoginRequest, _ password: String, _ cancellation: Cancellation
    ) throws(AuthError) -> LoginReceipt {
        try login(request, password: Password(password), asking: nil, cancellation: cancellation)
    }
}

private func policy(_ attempts: Int, _ consequence: OnAttemptsExceeded, named name: String) throws(AuthError) -> Profile {
    try Profile(
        ProfileName(name),
        values: [
            "OfflineAuthAllowed": .bool(true), "MaxLoginAttempts": .number(String(attempts)),
            "OnAttemptsExceeded": .text(consequence.rawValue),
        ])
}

/// An event on a thread, for a task to await.
final class Signal: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    func give() { continuation.yield() }

    func taken() async {
        var iterator = stream.makeAsyncIterator()
        await iterator.next()
    }
}

/// A window of an application, on the main actor, that gives the test's answers.
@MainActor private final class Form: AsyncLoginPrompter {
    private var passwords: [String]
    private(set) var refusals: [AuthError?] = []
    private(set) var steps: [LoginStep] = []

    nonisolated init(_ passwords: [String]) { self.passwords = passwords }

    func input(for prompt: LoginPrompt) async -> LoginInput? {
        guard !passwords.isEmpty else { return nil }
        refusals.append(prompt.refusal)
        await Task.yield()
        return LoginInput(ada, .typed(Password(passwords.removeFirst())))
    }

    func progress(_ step: LoginStep) { steps.append(step) }
}

/// A window that ignores its task's cancellation.
private final class Deaf: AsyncLoginPrompter {
    let asked = Signal(), answered = Signal()
    let sawCancellation = Mutex(false)
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    func input(for prompt: LoginPrompt) async -> LoginInput? {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0 = continuation }
            asked.give()
        }
        sawCancellation.withLock { $0 = Task.isCancelled }
        defer { answered.give() }
        return LoginInput(ada, .typed(Password("right")))
    }

    func answer() { waiting.withLock { $0.take() }?.resume() }
}
