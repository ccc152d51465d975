internal import ArgumentParser
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// How a client is registered.
struct ClientRegistrationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How the client proves itself: none, client_secret_basic, client_secret_post or private_key_jwt.", valueName: "method"
        ),
        completion: .list(proofs))
    var proof: String?

    @Option(help: ArgumentHelp("What the server's pages call the client; by default omvault.", valueName: "text"))
    var clientName: String?

    @Option(help: ArgumentHelp("Where the server's token for registrations comes from.", valueName: "source"))
    var initialTokenFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where a statement about the software comes from.", valueName: "source"))
    var statementFrom: SecretSourceArgument?

    static let proofs = ["none", "client_secret_basic", "client_secret_post", keyProof]
    static let keyProof = "private_key_jwt"

    func validate() throws {
        if let proof, !Self.proofs.contains(proof) {
            throw ValidationError("--proof is one of \(Self.proofs.joined(separator: ", "))")
        }
    }

    /// Whether an option says something about a registration.
    var isGiven: Bool { proof != nil || clientName != nil || initialTokenFrom != nil || statementFrom != nil }

    static let tokenOption = "--initial-token-from", statementOption = "--statement-from"

    var sources: [(key: String, value: SecretSourceArgument?)] {
        [(Self.tokenOption, initialTokenFrom), (Self.statementOption, statementFrom)].filter { $0.value != nil }
    }
}

extension ClientMetadata {
    /// The name of a client that is given none. It says nothing about the user or the machine.
    static let standardName = "omvault"

    /// What a client of this profile needs.
    ///
    /// - Parameter publicKey: Of the client's key, for a client that proves itself with it.
    init(_ profile: Profile, proof: String?, name: String?, publicKey: String?) {
        let isOfClient = profile.serverKind == .oauthClientCredentials
        let grants: [String] =
            switch profile.oauthGrant {
            case .clientCredentials: ["client_credentials"]
            case .deviceCode: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
            case .resourceOwner: ["password", "refresh_token"]
            case .implicit: ["implicit"]
            default: ["authorization_code", "refresh_token"]
            }
        // Servers of OpenID Connect have been seen to want one of every client.
        let redirect = profile.browserLogin?.redirect ?? profile.oauthRedirectEndpoint
        self.init(
            name: name ?? Self.standardName, redirects: redirect.map { [$0] } ?? [], grants: grants,
            proof: proof ?? (isOfClient ? "client_secret_basic" : nil),
            scopes: isOfClient
                ? profile.oauthScopes : profile.browserLogin == nil ? profile.oauthScopes : profile.browserScopes(),
            publicKey: publicKey)
    }
}
