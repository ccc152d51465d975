// `omvault login` under a profile whose users log in with a client certificate.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// One login by a certificate alone.
struct CertificateLoginRun {
    private let profile: Profile
    private let access: LoginAccess
    private let context: CommandContext

    /// - Parameter others: Options of other logins that were given too.
    /// - Throws: If the login cannot succeed.
    init(
        _ profile: Profile, mode: ConnectivityMode, others: [String], in access: LoginAccess, _ context: CommandContext
    ) throws(Failure) {
        (self.profile, self.access, self.context) = (profile, access, context)
        if let other = others.first {
            throw Failure(
                .usage, "\(other) has no meaning here: users of this profile log in with a client certificate",
                hint: "omvault login --profile \(profile.name.text.asShellWord)")
        }
        guard mode != .offline else { throw Self.noOffline }
    }

    static let noOffline = Failure(uncachedLogin: "with a client certificate")

    func run(_ given: RequestedUser) throws {
        let flow = try LoginFlow(profile, .online, in: access, context, takesBrowser: true)
        guard let provider = flow.provider else { throw AuthError.noServer }
        let question = BrowserQuestion(
            profile, user: given.user, domain: given.domain ?? profile.domain, kind: .certificate)
        let receipt = try flow.authenticator.authorize(question, prompting: NoPerson(), asking: provider)
        try flow.finish(receipt, whyNoKey: nil, opening: nil)
    }
}

/// Nothing is shown in such a login.
private struct NoPerson: BrowserPrompter {
    func show(_ step: BrowserStep) -> Bool { false }

    func pasted() -> SecretBytes? { nil }
}
