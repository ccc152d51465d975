internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The options that `credential add` and `credential update` share: the key, and the parts that are stored under it.
struct CredentialPartOptions: ParsableArguments {
    @OptionGroup var key: CredentialKeyOptions

    @Option(help: ArgumentHelp("The user name.", valueName: "name"))
    var username: String?

    @Option(help: ArgumentHelp("Where the credential's password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The tenant, or identity domain.", valueName: "name"))
    var tenant: String?

    @Option(
        name: .customLong("property"),
        help: ArgumentHelp("A property of the credential; may be repeated.", valueName: "name=source"),
        completion: .sourceOfField)
    var properties: [FieldArgument] = []

    @Option(help: ArgumentHelp("Where the property's value comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The property's label.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("The property's description.", valueName: "text"))
    var description: String?

    @Flag(help: "Keep the newline at the end of a source.")
    var keepNewline = false

    @OptionGroup var level: LevelOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    /// Stores the given parts.
    ///
    /// - Parameter isWhole: Whether to replace the whole credential or property. Otherwise only the given parts change.
    func store(_ context: CommandContext, isWhole: Bool) throws {
        guard isProperty ? !isOfCredential : !isOfProperty else {
            throw ValidationError(
                isProperty
                    ? "a property takes --value-from, --label and --description"
                    : "--value-from, --label and --description are for --property-key")
        }
        let access = try VaultAccess(context)
        let name = try key.name(access.location.name)
        // Checked before the user types a secret that would be refused.
        for property in properties { try check(property) }
        let options = try unlock.options()
        let takesSecret = takesSecret(isWhole: isWhole)
        let secrets = try SecretSources(context, options.sources + sources(takesSecret))
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, options)
        let store = CredentialStore(access, level: chosen)
        if isProperty {
            let property = try property(secrets, takesSecret)
            if isWhole { try store.add(property, key: key.text) } else { try store.update(property, key: key.text) }
        } else {
            let credential = try credential(secrets, takesSecret)
            if isWhole { try store.add(credential, key: key.text) } else { try store.update(credential, key: key.text) }
        }
        if level.level != nil || level.deviceOnly, let chosen {
            try access.raise(name, to: chosen)
        }
        try context.output.done(
            "stored the \(key.noun) \"\(key.text)\" in vault \"\(access.location.name)\"",
            ["result": .text("stored"), "kind": .text(key.noun), "key": .text(key.text)])
    }

    private func property(_ secrets: borrowing SecretSources, _ takesSecret: Bool) throws -> StoredProperty {
        var property = StoredProperty()
        if takesSecret {
            let value = try read(Self.value, prompt: "Value of property \"\(key.text)\"", secrets)
            try property.put(value, as: .value)
        }
        if let label { try property.put(SecretBytes(copying: Array(label.utf8)), as: .label) }
        if let description { try property.put(SecretBytes(copying: Array(description.utf8)), as: .description) }
        return property
    }

    private func credential(_ secrets: borrowing SecretSources, _ takesSecret: Bool) throws -> Credential {
        var credential = Credential()
        if let username { try credential.put(SecretBytes(copying: Array(username.utf8)), as: .username) }
        if takesSecret {
            let password = try read(Self.password, prompt: "Password of credential \"\(key.text)\"", secrets)
            try credential.put(password, as: .password)
        }
        if let tenant { try credential.put(SecretBytes(copying: Array(tenant.utf8)), as: .tenant) }
        for property in properties {
            let name = try property.fieldName().text
            let value = try read("--property \(name)", prompt: "\(name) of \"\(key.text)\"", secrets)
            try credential.put(value, asProperty: name)
        }
        return credential
    }

    private func read(
        _ option: String, prompt: String, _ secrets: borrowing SecretSources
    ) throws(Failure) -> SecretBytes {
        try secrets.read(
            option, prompt: prompt, isNew: true, canBeEmpty: true, keepNewline: keepNewline, maximum: Item.maximumWholeCount)
    }

    private static let password = "--password-from of the credential"
    private static let value = "--value-from"

    private var isProperty: Bool { key.propertyKey != nil }
    private var isOfCredential: Bool {
        username != nil || passwordFrom != nil || tenant != nil || !properties.isEmpty
    }
    private var isOfProperty: Bool { valueFrom != nil || label != nil || description != nil }

    /// Whether to ask for the main secret: always for a whole credential or property, otherwise if no other part is given.
    private func takesSecret(isWhole: Bool) -> Bool {
        if isProperty { return isWhole || valueFrom != nil || !isOfProperty }
        return isWhole || passwordFrom != nil || !isOfCredential
    }

    private func check(_ property: FieldArgument) throws(Failure) {
        let name = try property.fieldName(of: "--property")
        do throws(VaultError) {
            var probe = Credential()
            try probe.put(SecretBytes(copying: []), asProperty: name.text)
        } catch { throw Failure(error, vault: nil) }
    }

    private func sources(_ takesSecret: Bool) -> [(key: String, value: SecretSourceArgument?)] {
        let main: [(key: String, value: SecretSourceArgument?)] =
            takesSecret ? [isProperty ? (Self.value, valueFrom) : (Self.password, passwordFrom)] : []
        return main + properties.map { (key: "--property \($0.name ?? "")", value: $0.source) }
    }
}
