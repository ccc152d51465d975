internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// The document in which an issuer names its endpoints.
struct IssuerDocument {
    private let issuer: ServerURL

    init(_ issuer: ServerURL) { self.issuer = issuer }

    /// Asks for the document at the places that the two standards name, in this order.
    ///
    /// - Parameter changes: The changes of a profile that name the document at an address. With a grant, those with that grant
    ///   instead of their own.
    /// - Returns: The changes that name the document, and the endpoints in it.
    func ask(
        _ access: LoginAccess, changes: (_ document: String, _ grant: String?) -> ProfileChanges
    ) throws -> (ProfileChanges, [ServerEndpoint]) {
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let provider = OnlineProvider(program: program)
        var problem: Failure?
        for place in places {
            let made = changes(place, nil)
            // Refused before any request: values that make no profile.
            _ = try made.preview(access)
            // The document does not depend on the grant, and this version may not have it yet.
            let asked = try changes(place, OAuthGrant.resourceOwner.rawValue).preview(access)
            // Attack: another user of this machine listens at the server's port, and answers root.
            guard !access.isSystem || !asked.couldAnyUserBeServer else {
                throw Failure(AuthError.online(.failed(.unsafeAddress)), under: asked)
            }
            do throws(OnlineRefusal) {
                return (made, try provider.endpoints(of: asked) ?? [])
            } catch {
                // The server answered, so the other place may have the document.
                guard case .failed(let failure, let status, _) = error, !failure.isOurs else {
                    throw Failure(error, under: asked)
                }
                if status != 404 { problem = problem ?? self.failure(error, under: asked) }
            }
        }
        throw problem
            ?? Failure(
                .remoteError, "the server has no document of the issuer \(issuer.text)",
                hint: "ask its administrator for the address of the issuer; or name its endpoints with 'omvault profile set'")
    }

    private func failure(_ refusal: OnlineRefusal, under profile: Profile) -> Failure {
        guard case .failed(.untrustedDiscovery, nil, _) = refusal else { return Failure(refusal, under: profile) }
        return Failure(
            .remoteError, "the server's document is not of the issuer \(issuer.text)",
            hint: "type the issuer exactly as the server spells it, with or without a slash at its end")
    }

    /// OpenID Connect appends its path to the issuer's, RFC 8414 puts it in front.
    private var places: [String] {
        let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
        return [
            "\(issuer.shortOrigin)\(path)/.well-known/openid-configuration",
            "\(issuer.shortOrigin)/.well-known/oauth-authorization-server\(path)",
        ]
    }
}
