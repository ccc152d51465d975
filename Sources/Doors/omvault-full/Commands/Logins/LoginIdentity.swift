// The identity that a login shows to its server.

internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell
internal import OMSystem
internal import OMVault

/// A client certificate of the user's default vault, and the agent, which signs with its key.
struct LoginIdentity {
    let chain: ClientChain
    let signer: any QuestionSigner

    /// - Returns: Nil if the profile shows no certificate.
    /// - Throws: If the certificate cannot be shown: ``ExitStatus/locked`` while its vault or level is locked, ``ExitStatus/notFound``,
    ///   ``ExitStatus/inputRequired`` if the profile names none and no person can choose one. No server was asked then.
    static func find(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext) throws -> LoginIdentity? {
        guard profile.presentsClientCertificate else { return nil }
        guard !access.isSystem else {
            throw Failure(
                .unsupported, "PAM and --system have no vault, so they show no client certificate",
                hint: "omvault profile show \(profile.name.text.asShellWord) --system prints the profile")
        }
        let vault = try OpenIdentities(context)
        guard let name = profile.clientCertificate else {
            return try vault.identity(vault.chosen(for: profile), allowsTLS12: profile.clientCertificateTLS12)
        }
        return try vault.identity(name, allowsTLS12: profile.clientCertificateTLS12)
    }
}

/// The identities of the default vault, which the agent has open.
struct OpenIdentities {
    private let access: VaultAccess
    private let agent: AgentVaultClient
    private let context: CommandContext

    /// - Throws: ``ExitStatus/locked`` if the agent does not have the vault open.
    init(_ context: CommandContext) throws {
        let name = try Environment.text("OMVAULT_VAULT") ?? DefaultVault(context.userFolders()).name()
        try self.init(context, VaultAccess(context, vault: name))
    }

    /// - Parameter access: The vault of the identities.
    init(_ context: CommandContext, _ access: VaultAccess) throws {
        (self.context, self.access) = (context, access)
        let options = try UnlockOptions.parse([])
        guard let agent = access.agentIfUnlocked(options) else {
            throw Failure(
                .locked, "the client certificate is in vault \"\(access.location.name.shown)\", which is locked",
                hint: "omvault unlock, then run the command again")
        }
        self.agent = agent
        try access.unlock(try SecretSources(context, options.sources), options)
    }

    func identity(_ name: String, allowsTLS12: Bool) throws -> LoginIdentity {
        let identity = try access.identity(name)
        guard let own = identity.certificate else {
            throw Failure(
                .config, "identity \"\(name)\" has no certificate yet",
                hint: "omvault cert attach \(name.asShellWord) FILE adds the one that the authority issued")
        }
        // The authorities behind these are the server's to know.
        let certificates = [own] + identity.chain.prefix(ClientChain.longest - 1)
        guard let chain = ClientChain(certificates.map(\.der), of: name, allowsTLS12: allowsTLS12) else {
            throw Failure(
                .config, "the certificate of identity \"\(name)\" is too large to show to a server",
                hint: "omvault cert show \(name.asShellWord) shows it")
        }
        return LoginIdentity(chain: chain, signer: AgentSigner(agent.client, agent.paths))
    }

    /// The identity that the person chooses.
    func chosen(for profile: Profile) throws -> String {
        let names = try access.clientIdentities().filter { $0.certificate != nil }.map(\.name)
        let hint = "omvault profile set \(profile.name.text.asShellWord) ClientCertificate=identity:NAME"
        guard !names.isEmpty else {
            throw Failure(
                .notFound, "no identity with a certificate in vault \"\(access.location.name.shown)\"",
                hint: "omvault cert import FILE, or omvault cert csr, makes one")
        }
        let list = names.map(\.shown).joined(separator: ", ")
        let name = try context.terminal.readText(
            "Certificate to show to \(profile.serverOrigin) (\(list))", toGet: "the name of an identity", orElse: hint)
        guard names.contains(name) else {
            throw Failure(.notFound, "no identity \"\(name)\" with a certificate", hint: "one of: \(list)")
        }
        return name
    }
}
