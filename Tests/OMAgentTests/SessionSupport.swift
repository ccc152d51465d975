import Foundation
import Glibc
import OMAuth
import OMOnlineModel
import OMSecrets
import OMSystem
import Synchronization
import TestSupport
import Testing

@testable import OMAgent
@testable import OMAgentProtocol

/// A clock that a test sets.
final class SessionClock: Sendable {
    private let now = Mutex(ClockReading(wall: 1_000_000, sinceBoot: 5_000, bootID: ClockReading.now().bootID))

    func read() -> ClockReading { now.withLock { $0 } }

    func advance(_ seconds: Int64) {
        now.withLock { now in
            now = ClockReading(wall: now.wall, sinceBoot: now.sinceBoot + seconds, bootID: now.bootID)
        }
    }
}

/// A recorded question to the server: the task and its session.
struct AskedOf: Equatable {
    let task: OnlineTask
    let session: String
}

/// The ID token of a session whose server ends its own session in a browser, and the server's last question.
struct LedOut: Equatable {
    let idToken: String
    let after: OnlineTask?
}

/// A server under test control, and the cleared logins. Questions wait at the gate while it is closed.
final class SessionServer: Sendable {
    enum Answer: Sendable {
        case yes(String?, access: String? = nil, scopes: [String] = [], lifetime: UInt32? = nil, idToken: String = "")
        case claims(String)
        case no(OnlineRefusal)
    }

    private struct State {
        var asked: [AskedOf] = []
        var cleared: [ClearingEvent] = []
        var answers: [Answer] = []
        var ledOut: [LedOut] = []
    }

    private let state = Mutex(State())
    private let gate = Gate()

    var asked: [AskedOf] { state.withLock { $0.asked } }
    var cleared: [ClearingEvent] { state.withLock { $0.cleared } }
    var ledOut: [LedOut] { state.withLock { $0.ledOut } }

    /// The next answers. After them the server says yes and gives nothing.
    func say(_ answers: Answer...) { state.withLock { $0.answers += answers } }

    func close() { gate.close() }
    func open() { gate.open() }

    func ask(_ question: consuming OnlineQuestion) -> OnlineReply {
        let asked = AskedOf(task: question.task, session: question.session.text)
        state.withLock { $0.asked.append(asked) }
        gate.pass()
        switch state.withLock({ $0.answers.isEmpty ? .yes(nil) : $0.answers.removeFirst() }) {
        case .yes(let session, let access, let scopes, let lifetime, let idToken):
            return .accepted(
                OnlineAcceptance(
                    session: session.map { bytes($0) }, access: token(access, scopes, idToken: idToken), lifetime: lifetime))
        case .claims(let text): return .accepted(OnlineAcceptance(session: nil, claims: bytes(text)))
        case .no(let refusal): return .refused(refusal)
        }
    }

    func store(_ clock: SessionClock, _ tickets: SessionTickets? = nil) -> SessionStore {
        SessionStore(
            tickets, ask: { (question: consuming OnlineQuestion) in self.ask(question) },
            clear: { _, event in self.state.withLock { $0.cleared.append(event) } },
            leadOut: { (_, idToken: consuming SecretBytes) in
                let text = idToken.text
                self.state.withLock { $0.ledOut.append(LedOut(idToken: text, after: $0.asked.last?.task)) }
                return "http://127.0.0.1:1/once"
            }, clock: { clock.read() })
    }
}

/// Threads that arrive while the gate is closed wait until it opens.
private final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isClosed = false

    func close() { condition.withLock { isClosed = true } }

    func open() {
        condition.withLock {
            isClosed = false
            condition.broadcast()
        }
    }

    func pass() { condition.withLock { while isClosed { condition.wait() } } }
}

func sessionLogin(_ user: String = "ada") throws -> LoginReference {
    let key = LoginKey(
        profile: try ProfileName("work"), user: try UserName(user), server: "http://127.0.0.1:1")
    return try #require(LoginReference(state: "/a/state", device: "/a/device", key: key))
}

enum SessionKind {
    case oauth, browser, device, bound, basic, noServer
}

/// The digest of a profile that contains `text`.
func said(_ text: String) throws -> ProfileDigest {
    try Profile(ProfileName("work"), values: ["AuthKey": .text(text)]).digest
}

/// The values that a client passes on after a login.
func keptSession(
    _ login: LoginReference, _ kind: SessionKind = .oauth, token: String? = "token 1", idle: Int64? = nil,
    session: Int64? = nil, survives: Bool = false, mode: AgentSession.Mode = .online, under profile: String = "this",
    expires: Int64? = nil, access: String? = nil, scopes: [String] = [], release: TokenRelease = .never, idToken: String = "",
    vault: VaultPaths? = nil, origins: [String] = []
) throws -> NewSession {
    let profile = try said(profile)
    let limits = SessionLimits(survivesRestart: survives, idle: idle, session: session)
    let address = "http://127.0.0.1:1"
    let service: OnlineService? =
        switch kind {
        case .oauth:
            OnlineService(.oauth(OAuthService(.token(address + "/token", revocation: nil), clientID: "id")))
        case .browser, .device:
            OnlineService(
                .oauth(
                    OAuthService(
                        .token(address + "/token", revocation: nil), clientID: "id",
                        grant: kind == .device ? .deviceCode : .authorizationCode,
                        browser: BrowserLogin(redirect: "http://127.0.0.1"))))
        case .bound:
            OnlineService(
                .oauth(OAuthService(.token(address + "/token", revocation: nil), clientID: "id", constraint: .dpop)))
        case .basic: OnlineService(.basic(BasicService(login: address + "/in", logout: address + "/out")))
        case .noServer: nil
        }
    guard let service else {
        return NewSession(login: login, profile: profile, mode: mode, limits: limits, release: release, serverPart: nil)
    }
    return NewSession(
        login: login, profile: profile, mode: mode, limits: limits, release: release,
        serverPart: NewSession.ServerPart(
            service: service, clientSecret: bytes("client secret"), logout: 5_000, session: bytes(token ?? ""),
            access: OMAgentTests.token(access, scopes, idToken: idToken), expires: expires, vault: vault,
            tokenKey: kind == .bound ? TokenKey.make() : nil), origins: origins)
}

/// An access token. Nil if there is no text.
func token(_ text: String?, _ scopes: [String], idToken: String = "") -> AccessToken? {
    guard let text else { return nil }
    return AccessToken(bytes(text), scopes: ScopeSet(scopes) ?? ScopeSet(), idToken: bytes(idToken))
}

// `#expect` takes no move-only values.
extension SessionStore {
    func keeps(
        _ login: LoginReference, _ kind: SessionKind = .oauth, token: String? = "token 1", idle: Int64? = nil,
        session: Int64? = nil, survives: Bool = false, mode: AgentSession.Mode = .online, under profile: String = "this",
        expires: Int64? = nil, access: String? = nil, scopes: [String] = [], release: TokenRelease = .never, idToken: String = ""
    ) throws -> Bool {
        keep(
            try keptSession(
                login, kind, token: token, idle: idle, session: session, survives: survives, mode: mode, under: profile,
                expires: expires, access: access, scopes: scopes, release: release, idToken: idToken))
    }

    func ends(_ login: LoginReference) -> SessionEnding { end(login, waits: true, password: nil) }
}
