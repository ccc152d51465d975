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

    /// What a profile names under a key. The last colon begins the field.
    ///
    /// - Throws: ``ExitStatus/config`` for a text that names nothing, such as a field with too long a name. Attack: a client whose secret
    ///   cannot be found would be sent without it.
    init(_ key: ProfileKey, _ text: String) throws(Failure) {
        let start = "vault:"
        guard text.hasPrefix(start) else {
            guard let source = SecretSource(text) else { throw Self.nothing(key) }
            self = .source(SecretSourceArgument(source))
            return
        }
        let place = text.dropFirst(start.count)
        guard let colon = place.lastIndex(of: ":"), let item = try? ItemName(String(place[..<colon])),
            let field = try? FieldName(String(place[place.index(after: colon)...]))
        else { throw Self.nothing(key) }
        self = .field(FieldPath(item, field))
    }

    private static func nothing(_ key: ProfileKey) -> Failure {
        Failure(
            .config, "\(key.rawValue) names no item and field that a vault can have",
            hint: "the form is vault:ITEM:FIELD, as in 'omvault get ITEM:FIELD'")
    }

    /// Reads a field from the agent, or from the vault, which is opened as for any other secret.
    ///
    /// - Parameter what: What the field has, in messages.
    static func read(
        _ path: FieldPath, _ context: CommandContext, as what: String = "the client's secret"
    ) throws(Failure) -> SecretBytes {
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
                .locked, "\(what) is in vault \"\(vault.location.name.shown)\", which is locked",
                hint: "omvault unlock; or set OMVAULT_PASSWORD_FROM to a source of its password")
        }
    }
}
