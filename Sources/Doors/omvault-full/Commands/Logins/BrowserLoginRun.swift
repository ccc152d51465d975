// `omvault login` under a profile whose users log in at the server's own pages.

internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// One login in a browser: how the person reaches the server's pages, and what happens with the session.
struct BrowserLoginRun {
    private let profile: Profile
    private let options: BrowserOptions
    private let access: LoginAccess
    private let context: CommandContext

    /// - Parameter others: Options of a login with a password that were given too.
    /// - Throws: If the login cannot succeed.
    init(
        _ profile: Profile, _ options: BrowserOptions, mode: ConnectivityMode, others: [String], in access: LoginAccess,
        _ context: CommandContext
    ) throws(Failure) {
        (self.profile, self.options, self.access, self.context) = (profile, options, access, context)
        if let other = others.first { throw Failure(option: other, ofPasswordsUnder: profile, "at the server's own pages") }
        guard mode != .offline else { throw Self.noOffline }
        guard options.redirect == nil || !options.device && profile.oauthGrant != .deviceCode else {
            throw Failure(usage: "--redirect is for logins in a browser on this machine, and this one takes a code")
        }
        // Before anything is asked, shown or opened.
        do throws(OnlineRefusal) { try question(RequestedUser(user: nil, domain: nil), nil, .loopback).check() } catch {
            throw Failure(error, under: profile)
        }
    }

    static let noOffline = Failure(uncachedLogin: "at the server's own pages")

    func run(_ given: RequestedUser) throws {
        let flow = try LoginFlow(profile, .online, in: access, context, takesBrowser: true)
        guard let provider = flow.provider else { throw AuthError.noServer }
        let scopes = try options.scopeSet()
        try TerminalBrowserPrompter(context, profile, browser: nil, pastes: false).requirePerson()
        let kind = try kind(provider)
        let prompter = TerminalBrowserPrompter(context, profile, browser: browser, pastes: kind == .paste)
        if kind == .paste { try prompter.requireTerminal() }
        let question = question(given, scopes, kind)
        let receipt: LoginReceipt
        do throws(AuthError) {
            receipt = try flow.authenticator.authorize(question, prompting: prompter, asking: provider)
        } catch {
            if let failure = prompter.failure { throw failure }
            throw error
        }
        try flow.finish(receipt, whyNoKey: nil, opening: nil)
    }

    private func question(_ given: RequestedUser, _ scopes: ScopeSet?, _ kind: BrowserQuestion.Kind) -> BrowserQuestion {
        BrowserQuestion(
            profile, user: given.user, domain: given.domain ?? profile.domain, scopes: scopes, kind: kind,
            allowingInsecureGrant: options.insecure)
    }

    /// The program that opens an address. Nil: none.
    private var browser: BrowserProgram? { BrowserProgram(options.browser) }

    /// Without a display, a server that has codes for other devices is asked for one.
    private func kind(_ provider: OnlineProvider) throws -> BrowserQuestion.Kind {
        if options.device || profile.oauthGrant == .deviceCode { return .device }
        switch options.redirect {
        case .paste: return .paste
        case .loopback: return .loopback
        case nil: break
        }
        // An address of an application cannot come back to a socket here.
        guard profile.hasLoopbackRedirect else { return .paste }
        // A code for another device is another grant.
        guard browser == nil, options.browser == nil, !profile.isImplicit else { return .loopback }
        let hasDevice: Bool
        do throws(OnlineRefusal) {
            hasDevice = try provider.endpoints(of: profile)?.contains { $0.kind == .device } ?? profile.hasDeviceEndpoint
        } catch { throw Failure(error, under: profile) }
        guard hasDevice else { return .loopback }
        if context.output.format != .json {
            context.output.notice("there is no display here, so the login takes a code; --redirect loopback takes a browser")
        }
        return .device
    }
}

extension Profile {
    /// Whether the browser's answer can come to a socket of this machine.
    fileprivate var hasLoopbackRedirect: Bool {
        guard let redirect = browserLogin?.redirect.map({ $0.prefix { $0 != "?" } }).map(String.init).flatMap(ServerURL.init)
        else {
            return false
        }
        return !redirect.isSecure && redirect.isLoopback
    }

    fileprivate var hasDeviceEndpoint: Bool { browserLogin?.device != nil }
}
