internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// The options of a login at the server's own pages.
struct BrowserOptions: ParsableArguments {
    enum Redirect: String, ExpressibleByArgument, CaseIterable {
        case loopback
        case paste
    }

    @Option(
        help: ArgumentHelp("With a browser: the scopes to ask for; those of the profile, if not given.", valueName: "names"))
    var scopes: String?

    @Flag(help: "With a browser: show a code, which you enter in a browser on any device.")
    var device = false

    @Option(help: "With a browser: how its answer comes back; loopback if not given, or paste: you paste its last address.")
    var redirect: Redirect?

    @Option(
        help: ArgumentHelp(
            "With a browser: the program that opens the address; none only shows it. If not given, xdg-open.",
            valueName: "program"))
    var browser: String?

    @Flag(help: "With a browser: use OAuthImplicit, although the browser's address and history have its token.")
    var insecure = false

    /// The options that were given.
    var given: [String] {
        [
            ("--scopes", scopes != nil), ("--device", device), ("--redirect", redirect != nil), ("--browser", browser != nil),
            ("--insecure", insecure),
        ].filter { $0.1 }.map { $0.0 }
    }

    /// - Throws: If an option is for another grant than that of the profile.
    func check(_ profile: Profile) throws(Failure) {
        guard !insecure || profile.isImplicit else {
            throw Failure(usage: "--insecure is for OAuthImplicit, and this profile has another grant")
        }
        guard !device || !profile.isImplicit else {
            throw Failure(usage: "--device is for a grant with codes, and this profile has OAuthImplicit")
        }
    }

    /// Whether the session's access token has the scopes that the command asks for.
    func areCovered(by session: AgentSession) throws(Failure) -> Bool {
        guard let asked = try scopeSet() else { return true }
        return session.token?.scopes.covers(asked) ?? false
    }

    /// Nil for the scopes of the profile.
    func scopeSet() throws(Failure) -> ScopeSet? {
        // Any token will do.
        guard let scopes, scopes != "*" else { return nil }
        let names = scopes.split { " ,".contains($0) }.map(String.init)
        guard let set = ScopeSet(names) else {
            throw Failure(usage: "--scopes names at most \(ScopeSet.maximum) scopes, without quotes and control characters")
        }
        return set
    }
}
