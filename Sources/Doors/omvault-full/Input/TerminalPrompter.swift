// The answers to a login's questions, from the terminal or from the options of a script. A script answers only once.

internal import OMAuth
internal import OMSecrets
internal import OMShell

/// Answers from the options, and asks at the terminal for the rest. A class, since it keeps earlier answers.
final class TerminalPrompter: LoginPrompter {
    private let terminal: Terminal
    private let output: Output
    private let given: RequestedUser
    private let asksPreferences: Bool
    private let takesRemembered: Bool
    /// The password from a source that can be read only once. Nil if the user types it.
    private var password: Password?
    private let isOneAttempt: Bool
    /// Whether the user can be asked again after a wrong answer.
    var asksAgain: Bool { !isOneAttempt && terminal.isThere }
    /// The names that were typed last, as defaults for the next question.
    private(set) var user: UserName?
    private(set) var domain: IdentityDomain?
    private var chosen: RememberPreferences?
    private let onRefusal: (AuthError, UserName, IdentityDomain) -> Void
    /// Why there was no answer: there is no terminal, or the user declined.
    private(set) var failure: Failure?
    /// The refusal of the login, if the user cannot be asked again.
    private(set) var refusal: AuthError?

    /// - Parameters:
    ///   - takesRemembered: Whether Enter means the remembered password.
    ///   - onRefusal: Called for each login that was refused, with its user and domain.
    init(
        _ context: CommandContext, _ given: RequestedUser, asksPreferences: Bool, takesRemembered: Bool,
        password: consuming Password?,
        onRefusal: @escaping (AuthError, UserName, IdentityDomain) -> Void
    ) {
        self.onRefusal = onRefusal
        (terminal, output, self.given) = (context.terminal, context.output, given)
        (self.asksPreferences, self.takesRemembered) = (asksPreferences, takesRemembered)
        (user, domain) = (given.user, given.domain)
        isOneAttempt = password != nil
        self.password = password
    }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        if let refusal = prompt.refusal {
            // The next answer may name another user, or there may be none. So the effects of this refusal happen now.
            if let refused = user ?? prompt.user { onRefusal(refusal, refused, domain ?? prompt.domain) }
            guard asksAgain else {
                user = user ?? prompt.user
                self.refusal = refusal
                return nil
            }
            // An error, which --quiet does not hide.
            let failure = Failure(refusal)
            // The hint says how long to wait.
            let wait = if case .delayed = refusal { failure.hints.map { ": \($0)" }.joined() } else { "" }
            StandardError.write("omvault: \(failure.message.shown)\(wait)\n")
        }
        do throws(Failure) { return try answer(prompt) } catch {
            failure = error
            return nil
        }
    }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        do throws(Failure) { return try terminal.readAnswer(question.text.shown) } catch {
            failure = error
            return nil
        }
    }

    func progress(_ step: LoginStep) {
        guard StandardError.isTerminal, case .asking = step else { return }
        output.notice("asking the server")
    }

    // MARK: - The questions, one after the other

    private func answer(_ question: LoginPrompt) throws(Failure) -> LoginInput {
        let user = try Failure.requiring(10036) { () throws(Failure) in try self.user(question) }
        let domain = try Failure.requiring(10037) { () throws(Failure) in try self.domain(question, of: user) }
        (self.user, self.domain) = (user, domain)
        if let password = password.take() {
            return LoginInput(user, domain: domain, .typed(password))
        }
        let isRemembered = takesRemembered && question.hasRememberedPassword && user == question.user && domain == question.domain
        let typed = try Failure.requiring(10039) { () throws(Failure) in
            try terminal.readSecret(
                "Password of \(user.text)\(isRemembered ? " (Enter: the remembered one)" : "")",
                name: "the password of \(user.text)", for: "--password-from")
        }
        guard typed.count > 0 || !isRemembered else {
            return LoginInput(user, domain: domain, .remembered)
        }
        let password: Password
        do throws(SecretsError) { password = try Password(typed) } catch { throw Failure(error).with(sdkCode: 10039) }
        return LoginInput(user, domain: domain, .typed(password), preferences: try preferences(question))
    }

    private func user(_ question: LoginPrompt) throws(Failure) -> UserName {
        if let user = given.user { return user }
        let known = user ?? question.user
        if isOneAttempt {
            if let known { return known }
            throw Failure(.inputRequired, "no user given", hint: "omvault login USER")
        }
        var text = ""
        repeat {
            text = try terminal.readText(
                "User name\(known.map { " [\($0.text)]" } ?? "")", toGet: "the user's name", orElse: "omvault login USER")
            if text.isEmpty, let known { return known }
        } while text.isEmpty
        do throws(AuthError) { return try UserName(text) } catch { throw Failure(error) }
    }

    private func domain(_ question: LoginPrompt, of user: UserName) throws(Failure) -> IdentityDomain {
        if let domain = given.domain { return domain }
        let remembered = user == question.user ? question.domain : .none
        guard question.asksDomain else { return remembered }
        let known = domain ?? (question.domain == .none ? nil : question.domain)
        if isOneAttempt {
            if let known { return known }
            throw Failure(
                .inputRequired, "the profile \"\(question.profile.text)\" needs the user's identity domain",
                hint: "give --domain DOMAIN")
        }
        let text = try terminal.readText(
            "Identity domain\(known.map { " [\($0.text)]" } ?? "")", toGet: "the identity domain",
            orElse: "give --domain DOMAIN")
        if text.isEmpty { return known ?? .none }
        do throws(AuthError) { return try IdentityDomain(text) } catch { throw Failure(error) }
    }

    /// Asks what to remember: once, and only if there is a choice and none was made yet.
    private func preferences(_ question: LoginPrompt) throws(Failure) -> RememberPreferences? {
        guard asksPreferences else { return nil }
        if let chosen { return chosen }
        let choices = RememberArgument.choices(question.remember)
        guard choices.count > 1, question.preferences == RememberPreferences() else { return nil }
        let usual = RememberArgument(RememberChoice(question.remember, question.preferences))
        let list = choices.map(\.rawValue).joined(separator: ", ")
        while chosen == nil {
            let text = try terminal.readText(
                "Remember \(list) [\(usual.rawValue)]", toGet: "what to remember", orElse: "give --remember")
            chosen = (text.isEmpty ? usual : choices.first { $0.rawValue == text })?.preferences
        }
        return chosen
    }
}

extension RememberArgument {
    fileprivate init(_ choice: RememberChoice) {
        switch choice {
        case .autoLogin: self = .auto
        case .credentials: self = .credentials
        case .userName: self = .user
        case .nothing: self = .nothing
        }
    }

    /// The choices that a policy allows. "nothing" is always allowed.
    fileprivate static func choices(_ policy: RememberPolicy) -> [RememberArgument] {
        allCases.filter { choice in
            switch choice {
            case .auto: policy.autoLogin.isAllowed
            case .credentials: policy.credentials.isAllowed
            case .user: policy.userName.isAllowed
            case .nothing: true
            }
        }
    }
}
