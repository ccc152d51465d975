// What a helper may show to a person.

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets

/// The pages of one login that its helper may show.
///
/// Attack: the server's answer took the helper over. It then shows an address of the attacker's, where the person types the
/// password. So an address has an origin that the profile allows, and a login shows one step.
struct BrowserPages {
    /// The most bytes of an address that is shown.
    static let longest = 4_096
    private let oauth: OAuthService
    private let task: OnlineTask
    private let prompter: any BrowserPrompter

    /// Nil for a question that needs no person.
    init?(_ service: OnlineService, _ task: OnlineTask, _ prompter: any BrowserPrompter) {
        guard case .oauth(let oauth) = service.kind, case .authorize = task else { return nil }
        (self.oauth, self.task, self.prompter) = (oauth, task, prompter)
    }

    /// What became of a step.
    enum Showing {
        case shown
        /// This login may not show it.
        case refused
        /// No person could see it.
        case unseen
    }

    func show(_ step: BrowserStep) -> Showing {
        guard mayShow(step) else { return .refused }
        return prompter.show(step) ? .shown : .unseen
    }

    private func mayShow(_ step: BrowserStep) -> Bool {
        guard case .authorize(_, _, let byDevice) = task else { return false }
        switch step {
        case .open(let address):
            return !byDevice && oauth.allowsPage(address, oauth.browser?.authorization)
        case .enter(let code, let address, let whole, _):
            return byDevice && BrowserStep.isCode(code)
                && ([address] + [whole].compactMap(\.self)).allSatisfy { oauth.allowsPage($0, oauth.browser?.device) }
        }
    }

    /// Empty if the person gives none.
    func pasted() -> SecretBytes { prompter.pasted() ?? SecretBytes(copying: []) }
}

extension OAuthService {
    /// Whether a browser may be sent to a page of this server.
    ///
    /// - Parameter endpoint: The profile's own address for this, without a discovery document.
    func allowsPage(_ address: String, _ endpoint: String?) -> Bool {
        guard address.utf8.count <= BrowserPages.longest, BrowserStep.hasPlainCharacters(address) else { return false }
        guard let page = ServerURL(String(address.prefix { $0 != "?" })), page.isSecure || page.isLoopback else { return false }
        return pageOrigins(endpoint).contains { ServerURL($0)?.origin == page.origin }
    }
}
