// The signer of a command: the agent, if it has the identity open, or this process.

internal import ArgumentParser
internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMItems
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell
internal import OMSystem
internal import OMVault

/// Signs with a key that this process read from a vault.
private struct OwnSigner: QuestionSigner {
    let key: IdentityKey
    let vault: VaultPaths?

    func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes {
        guard !key.lacksAlgorithm(for: use) else { throw .failed(.noKeyAlgorithm) }
        switch key.sign(use, now: ClockReading.now().wall) {
        case .some(let signature): return signature
        case .none: throw .failed(.unusableClientKey)
        }
    }
}

extension VaultAccess {
    /// The signer with an identity. It opens the vault as a reading command does, before any server is asked.
    ///
    /// - Throws: ``ExitStatus/locked`` if the identity is locked, and no password can be asked for.
    func signer(of name: String) throws -> any QuestionSigner {
        let options = try UnlockOptions.parse([])
        let secrets = try SecretSources(context, options.sources)
        let itemName: ItemName
        do throws(VaultError) { itemName = try ClientIdentity.itemName(name) } catch { throw failure(error) }
        let item: Item
        do {
            item = try read(.item(itemName), secrets, options).item()
        } catch let error as Failure {
            if error.status == .notFound {
                throw Failure(
                    .notFound, "no identity \"\(name)\" in vault \"\(location.name)\"", hint: "omvault cert ls lists them")
            }
            guard !options.isGiven, error.status == .inputRequired else { throw error }
            throw Failure(
                .locked, "identity \"\(name)\" of vault \"\(location.name)\" is locked, so the client cannot prove itself",
                hint: "omvault unlock, then run the command again")
        }
        if let answering { return AgentSigner(answering.client, answering.paths) }
        func field(_ field: ClientIdentity.Field) throws(Failure) -> SecretBytes {
            guard item.fields.contains(where: { $0.name == field.name }) else { return SecretBytes(copying: []) }
            return try read(.secret(FieldPath(item.name, field.name), revision: item.revision), secrets, options).secret()
        }
        let text = try field(.key), certificate = try field(.certificate)
        guard let key = IdentityKey(text, certificate: certificate) else {
            throw Failure(AuthError.online(.failed(.unusableClientKey)))
        }
        return OwnSigner(key: key, vault: agentPaths)
    }
}

extension LoginAccess {
    /// The signer for a profile whose client proves itself with a key, or asserts who it is with one. Nil for every other profile. It is asked for before the
    /// server is.
    func signer(for profile: Profile, _ context: CommandContext) throws -> (any QuestionSigner)? {
        let proof = profile.clientProof
        guard let name = proof.key, proof.mayAssert || profile.mintsAssertion else { return nil }
        guard !isSystem else {
            throw Failure(
                .config, "OAuthClientKey is in a user's vault, and --system reads none", hint: "set OAuthClientSecret instead")
        }
        if proof.audience == .endpoint, proof.endpoints.isEmpty, endpoints(of: profile).isEmpty {
            throw Failure(
                .config, "OAuthClientAssertionAudience=endpoint needs the addresses of the server's endpoints, and none is known",
                hint: "omvault profile refresh \(profile.name.text.asShellWord)")
        }
        return try VaultAccess(context, vault: DefaultVault(context.userFolders()).name()).signer(of: name)
    }

    /// The server's endpoints, as its document named them at the last refresh.
    func endpoints(of profile: Profile) -> [ServerEndpoint] {
        (try? authenticator().known(of: profile).endpoints)?.filter(\.kind.isOfOAuth) ?? []
    }
}
