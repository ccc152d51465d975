// What an application answers when a login needs a person: a terminal, a window, a test.

public import OMSecrets

/// Collects what a login needs from whoever logs in.
public protocol CredentialCollector {
    /// Asks for user name, password and what else the question names.
    ///
    /// - Returns: nil when the person declines.
    func credentials(_ question: CredentialQuestion) -> CredentialAnswer?
    /// Asks a secret question of the server's (KBA).
    ///
    /// - Returns: nil when the person declines.
    func answer(_ question: SecretQuestion) -> SecretBytes?
    /// Told of each step that may take a while.
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
