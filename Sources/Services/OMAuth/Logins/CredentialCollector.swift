// What an application answers when a login needs a person: a terminal, a window, a test.

public import OMSecrets

/// Collects what a login needs from whoever logs in: for an application, whose window answers when somebody has typed.
///
///     @MainActor final class LoginForm: AsyncCredentialCollector {
///         func credentials(_ question: CredentialQuestion) async -> CredentialAnswer? {
///             await show(question)      // returns when a button is pressed
///         }
///     }
///
/// One question is asked at a time, and no lock is held meanwhile. When the login is called off, the question's task is
/// cancelled and the login ends at once, whether or not the question does; an answer that comes all the same is wiped.
public protocol AsyncCredentialCollector: Sendable {
    /// Asks for user name, password and what else the question names.
    ///
    /// - Returns: nil when the person declines.
    func credentials(_ question: CredentialQuestion) async -> CredentialAnswer?
    /// Asks a secret question of the server's (KBA). HTTP Basic and OAuth's resource owner have none: it comes from a
    /// ``Provider`` of the application's own, which decides what a refusal to answer comes to.
    ///
    /// - Returns: nil when the person declines.
    func answer(_ question: SecretQuestion) async -> SecretBytes?
    /// Told of each step that may take a while. The step waits for it.
    func progress(_ step: LoginStep) async
}

extension AsyncCredentialCollector {
    public func answer(_ question: SecretQuestion) async -> SecretBytes? { nil }
    public func progress(_ step: LoginStep) async {}
}

/// The same for a program of one thread, such as a terminal's: it is called on the login's thread and may block there.
/// Providers know this one only.
public protocol CredentialCollector {
    /// As ``AsyncCredentialCollector/credentials(_:)``.
    func credentials(_ question: CredentialQuestion) -> CredentialAnswer?
    /// As ``AsyncCredentialCollector/answer(_:)``.
    func answer(_ question: SecretQuestion) -> SecretBytes?
    func progress(_ step: LoginStep)
}

extension CredentialCollector {
    public func answer(_ question: SecretQuestion) -> SecretBytes? { nil }
    public func progress(_ step: LoginStep) {}
}

/// Nobody is there to be asked.
struct NoCollector: CredentialCollector {
    func credentials(_ question: CredentialQuestion) -> CredentialAnswer? { nil }
}

/// An application's collector as the login's thread sees it, which waits there for the answers.
struct WaitingCollector: CredentialCollector {
    private let collector: any AsyncCredentialCollector
    private let cancellation: Cancellation

    init(_ collector: any AsyncCredentialCollector, _ cancellation: Cancellation) {
        (self.collector, self.cancellation) = (collector, cancellation)
    }

    func credentials(_ question: CredentialQuestion) -> CredentialAnswer? {
        cancellation.wait { [collector] in await collector.credentials(question) }
    }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        cancellation.wait { [collector] in await collector.answer(question) }
    }

    func progress(_ step: LoginStep) {
        _ = cancellation.wait { [collector] in await collector.progress(step) }
    }
}

/// A collector that nobody is asked through any more once the login is called off. Attack: a provider that goes on asks
/// somebody who has gone away, and gets what the next person types.
struct CancellableCollector: CredentialCollector {
    private let collector: any CredentialCollector
    private let cancellation: Cancellation

    init(_ collector: any CredentialCollector, _ cancellation: Cancellation) {
        (self.collector, self.cancellation) = (collector, cancellation)
    }

    func credentials(_ question: CredentialQuestion) -> CredentialAnswer? {
        guard !cancellation.isCancelled else { return nil }
        let answer = collector.credentials(question)
        guard !cancellation.isCancelled else { return nil }
        return answer
    }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        guard !cancellation.isCancelled else { return nil }
        let answer = collector.answer(question)
        guard !cancellation.isCancelled else { return nil }
        return answer
    }

    func progress(_ step: LoginStep) {
        if !cancellation.isCancelled { collector.progress(step) }
    }
}

public enum LoginStep: Hashable, Sendable {
    case asking, stretching, storing
}

/// What a login wants to know.
public struct CredentialQuestion: Hashable, Sendable {
    public let profile: ProfileName
    /// Filled in already; may be changed.
    public let user: UserName?
    public let domain: IdentityDomain
    /// Whether the domain is to be asked for (`CollectIdentityDomain`).
    public let asksDomain: Bool
    /// A password is remembered and may be used: answer with ``CredentialAnswer/Secret/remembered``.
    public let hasRememberedPassword: Bool
    /// What may be chosen, and what is chosen now.
    public let remember: RememberPolicy
    public let preferences: RememberPreferences
    /// Why the answer before this one gave no login; nil: it is the first.
    public let refusal: AuthError?
}

/// What somebody answered.
public struct CredentialAnswer: ~Copyable, Sendable {
    /// A password, or the one that is remembered: never a text that stands for it.
    public enum Secret: ~Copyable, Sendable {
        case typed(Password)
        case remembered
    }

    public let user: UserName
    public let domain: IdentityDomain
    public let secret: Secret
    /// nil: as they were.
    public let preferences: RememberPreferences?

    public init(
        _ user: UserName, domain: IdentityDomain = .none, _ secret: consuming Secret,
        preferences: RememberPreferences? = nil
    ) {
        (self.user, self.domain, self.preferences) = (user, domain, preferences)
        self.secret = secret
    }
}

/// A question of a server's.
public struct SecretQuestion: Hashable, Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }
}
