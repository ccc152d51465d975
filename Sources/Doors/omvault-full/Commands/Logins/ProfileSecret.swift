internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The source of a secret that a profile names: `file:/PATH`, `cred:NAME`, or `vault:ITEM:FIELD`.
enum ProfileSecret {
    case source(SecretSourceArgument)
    /// A field of an item of the default vault.
    case field(FieldPath)

    /// The source of the client's secret. Nil if the profile names none.
    ///
    /// - Throws: ``ExitStatus/config`` for a text that names nothing, such as a field with too long a name. Attack: a client whose secret
    ///   cannot be found would be sent without it.
    static func ofClient(_ profile: Profile) throws(Failure) -> ProfileSecret? {
        guard let text = profile.oauthClientSecretSource else { return nil }
        guard let source = ProfileSecret(text) else {
            throw Failure(
                .config, "\(ServerAccess.secretName) names no item and field that a vault can have",
                hint: "the form is vault:ITEM:FIELD, as in 'omvault get ITEM:FIELD'")
        }
        return source
    }

    /// Nil for any other text. The last colon begins the field.
    private init?(_ text: String) {
        let start = "vault:"
        guard text.hasPrefix(start) else {
            guard let source = SecretSource(text) else { return nil }
            self = .source(SecretSourceArgument(source))
            return
        }
        let place = text.dropFirst(start.count)
        guard let colon = place.lastIndex(of: ":"), let item = try? ItemName(String(place[..<colon])),
            let field = try? FieldName(String(place[place.index(after: colon)...]))
        else { return nil }
        self = .field(FieldPath(item, field))
    }

    /// Reads a field from the agent, or from the vault, which is opened as for any other secret.
    static func read(_ path: FieldPath, _ context: CommandContext) throws(Failure) -> SecretBytes {
        let options: UnlockOptions
        do { options = try CredentialUnlockOptions.parse([]).options() } catch {
            preconditionFailure("no options are valid options")
        }
        let vault = try VaultAccess(context)
        do throws(Failure) {
            return try vault.read(.secret(path, revision: nil), try SecretSources(context, options.sources), options).secret()
        } catch {
            // The verb has no option for the vault's password.
            guard error.status == .inputRequired else { throw error }
            throw Failure(
                .locked, "the client's secret is in vault \"\(vault.location.name.shown)\", which is locked",
                hint: "omvault unlock; or set OMVAULT_PASSWORD_FROM to a source of its password")
        }
    }
}
