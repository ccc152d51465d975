// `omvault credential`: the SDK's credential store, from the shell.

internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMVault

struct CredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "The SDK's credential store: credentials and properties under keys.",
        subcommands: [
            CredentialAdd.self, CredentialUpdate.self, CredentialGet.self, CredentialRemove.self, CredentialList.self,
        ])
}

/// How these verbs unlock: `--password-from` is the credential's own.
struct CredentialUnlock: ParsableArguments {
    @Option(help: ArgumentHelp("Where the vault's password comes from.", valueName: "source"))
    var vaultPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Unlock with the recovery code from here instead.", valueName: "source"))
    var recoveryFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Unlock with the key file from here instead.", valueName: "source"))
    var keyFileFrom: SecretSourceArgument?

    @Flag(help: "Do not ask the agent: open the vault here.")
    var noAgent = false

    func options() throws -> UnlockOptions {
        var options = try UnlockOptions.parse(noAgent ? ["--no-agent"] : [])
        options.passwordOption = "--vault-password-from"
        options.passwordFrom = vaultPasswordFrom
        options.recoveryFrom = recoveryFrom
        options.keyFileFrom = keyFileFrom
        try options.validate()
        return options
    }
}

/// A credential's key, or `--property-key` and a property's.
struct StoredKeyArguments: ParsableArguments {
    @Argument(help: "The key of a credential; often a URL.")
    var key: String?

    @Option(help: ArgumentHelp("The key of a property instead.", valueName: "key"))
    var propertyKey: String?

    func validate() throws {
        guard (key == nil) != (propertyKey == nil) else {
            throw ValidationError("give the key of a credential, or --property-key and that of a property")
        }
    }

    var text: String { propertyKey ?? key ?? "" }
    var noun: String { propertyKey == nil ? "credential" : "property" }

    func name(_ vault: String) throws(Failure) -> ItemName {
        do throws(VaultError) {
            return try CredentialStore<VaultAccess>.itemName(propertyKey == nil ? .credential : .property, text)
        } catch { throw Failure(error, vault: vault) }
    }

    func missing(_ vault: String) -> Failure {
        Failure(.notFound, "no \(noun) \"\(text)\" in vault \"\(vault)\"", hint: "omvault credential ls")
    }
}

/// What is stored: the parts that a call gives.
struct StoredParts: ParsableArguments {
    @Option(help: ArgumentHelp("The user name.", valueName: "name"))
    var username: String?

    @Option(help: ArgumentHelp("Where the credential's password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The tenant, or identity domain.", valueName: "name"))
    var tenant: String?

    @Option(
        name: .customLong("property"),
        help: ArgumentHelp("A property of the credential; may be repeated.", valueName: "name=source"))
    var properties: [FieldArgument] = []

    @Option(help: ArgumentHelp("Where the property's value comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("The property's label.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("The property's description.", valueName: "text"))
    var description: String?

    fileprivate static let password = "--password-from of the credential"
    fileprivate static let value = "--value-from"

    fileprivate var isOfCredential: Bool {
        username != nil || passwordFrom != nil || tenant != nil || !properties.isEmpty
    }
    fileprivate var isOfProperty: Bool { valueFrom != nil || label != nil || description != nil }

    /// Whether the main secret is asked for: always when a thing is put in whole, else when nothing else is given.
    fileprivate func takesSecret(_ isProperty: Bool, isWhole: Bool) -> Bool {
        if isProperty { return isWhole || valueFrom != nil || !isOfProperty }
        return isWhole || passwordFrom != nil || !isOfCredential
    }

    fileprivate func check(_ property: FieldArgument) throws(Failure) {
        let name = try property.fieldName()
        do throws(VaultError) {
            var probe = Credential()
            try probe.put(SecretBytes(copying: []), asProperty: name.text)
        } catch { throw Failure(error, vault: nil) }
    }

    fileprivate func sources(_ isProperty: Bool, isWhole: Bool) -> [(key: String, value: SecretSourceArgument?)] {
        let main: [(key: String, value: SecretSourceArgument?)] =
            takesSecret(isProperty, isWhole: isWhole)
            ? [isProperty ? (Self.value, valueFrom) : (Self.password, passwordFrom)] : []
        return main + properties.map { (key: "--property \($0.name ?? "")", value: $0.source) }
    }
}

/// Stores what is given. `add` puts it in place of the whole, `update` of the parts that are named.
private func store(
    _ door: Door, _ key: StoredKeyArguments, _ parts: StoredParts, _ unlock: CredentialUnlock, _ level: LevelOptions,
    isWhole: Bool, keepNewline: Bool
) throws {
    let isProperty = key.propertyKey != nil
    guard isProperty ? !parts.isOfCredential : !parts.isOfProperty else {
        throw ValidationError(
            isProperty
                ? "a property takes --value-from, --label and --description"
                : "--value-from, --label and --description are for --property-key")
    }
    let access = try VaultAccess(door)
    let name = try key.name(access.place.name)
    // Before a secret is asked for that would not be taken.
    for property in parts.properties { try parts.check(property) }
    let options = try unlock.options()
    let secrets = try SecretSources(door, options.sources + parts.sources(isProperty, isWhole: isWhole))
    let chosen = try level.level(default: try access.file().policy.defaultLevel)
    try access.unlock(secrets, options)
    let store = CredentialStore(access, level: chosen)
    if isProperty {
        var property = StoredProperty()
        if parts.takesSecret(true, isWhole: isWhole) {
            let value = try secrets.read(
                StoredParts.value, prompt: "Value of property \"\(key.text)\"", isNew: true, keepNewline: keepNewline,
                maximum: Item.maximumFieldCount)
            try property.put(value, as: .value)
        }
        if let label = parts.label { try property.put(SecretBytes(copying: Array(label.utf8)), as: .label) }
        if let text = parts.description { try property.put(SecretBytes(copying: Array(text.utf8)), as: .description) }
        if isWhole { try store.add(property, key: key.text) } else { try store.update(property, key: key.text) }
    } else {
        var credential = Credential()
        if let user = parts.username { try credential.put(SecretBytes(copying: Array(user.utf8)), as: .username) }
        if parts.takesSecret(false, isWhole: isWhole) {
            let password = try secrets.read(
                StoredParts.password, prompt: "Password of credential \"\(key.text)\"", isNew: true,
                keepNewline: keepNewline, maximum: Item.maximumFieldCount)
            try credential.put(password, as: .password)
        }
        if let tenant = parts.tenant { try credential.put(SecretBytes(copying: Array(tenant.utf8)), as: .tenant) }
        for property in parts.properties {
            let name = try property.fieldName().text
            let value = try secrets.read(
                "--property \(name)", prompt: "\(name) of \"\(key.text)\"", isNew: true, keepNewline: keepNewline,
                maximum: Item.maximumFieldCount)
            try credential.put(value, asProperty: name)
        }
        if isWhole { try store.add(credential, key: key.text) } else { try store.update(credential, key: key.text) }
    }
    if level.level != nil || level.deviceOnly, let chosen {
        try access.raise(name, to: chosen)
    }
    try door.output.done(
        "stored the \(key.noun) \"\(key.text)\" in vault \"\(access.place.name)\"",
        ["result": .text("stored"), "kind": .text(key.noun), "key": .text(key.text)])
}

struct CredentialAdd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Store a credential or a property, in place of what stands under the key.",
        discussion: """
            What is not given is gone afterwards; 'update' keeps it. The version before stays in the history.

              omvault credential add https://host.example.com --username mona
              omvault credential add --property-key endpoint --value-from file:url.txt --label Endpoint
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: StoredKeyArguments
    @OptionGroup var parts: StoredParts
    @OptionGroup var level: LevelOptions
    @OptionGroup var unlock: CredentialUnlock

    @Flag(help: "Keep the one newline that a source may end with.")
    var keepNewline = false

    func run(_ door: Door) throws {
        try store(door, key, parts, unlock, level, isWhole: true, keepNewline: keepNewline)
    }
}

struct CredentialUpdate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change parts of a credential or a property; store it where there is none.",
        discussion: """
            omvault credential update https://host.example.com --password-from tty
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: StoredKeyArguments
    @OptionGroup var parts: StoredParts
    @OptionGroup var level: LevelOptions
    @OptionGroup var unlock: CredentialUnlock

    @Flag(help: "Keep the one newline that a source may end with.")
    var keepNewline = false

    func run(_ door: Door) throws {
        try store(door, key, parts, unlock, level, isWhole: false, keepNewline: keepNewline)
    }
}

struct CredentialGet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show a credential or a property, or print one part of it.",
        discussion: """
            --field prints the exact bytes of username, password, tenant, property.NAME, or of value, label,
            description. Without it the parts are listed, concealed.

              omvault credential get https://host.example.com --field password
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: StoredKeyArguments
    @OptionGroup var unlock: CredentialUnlock

    @Option(help: ArgumentHelp("Print this part.", valueName: "field"))
    var field: String?

    func run(_ door: Door) throws {
        let access = try VaultAccess(door)
        let name = try key.name(access.place.name)
        let options = try unlock.options()
        let secrets = try SecretSources(door, options.sources)
        do throws(Failure) {
            if let field {
                let path = FieldPath(name, try fieldName(field, access.place.name))
                let secret = try access.read(.secret(path, revision: nil), secrets, options).secret()
                guard door.output.format == .json else { return try door.output.writeSecret(secret) }
                var document = JSONDocument()
                document.field("key", .text(key.text))
                document.field("field", .text(field))
                document.secret("value", secret)
                return try door.output.document(document)
            }
            try show(try access.read(.item(name), secrets, options).item(), door)
        } catch {
            guard error.status == .notFound else { throw error }
            // The item's own name says nothing to those who know the key.
            throw field.map { Failure(.notFound, "no \"\($0)\" in \(key.noun) \"\(key.text)\"") }
                ?? key.missing(access.place.name)
        }
    }

    private func fieldName(_ text: String, _ vault: String) throws(Failure) -> FieldName {
        do throws(VaultError) { return try FieldName(text) } catch { throw Failure(error, vault: vault) }
    }

    private func show(_ item: Item, _ door: Door) throws(Failure) {
        let parts = item.fields.filter { $0.name.text != CredentialStore<VaultAccess>.keyField.text }
        guard door.output.format == .json else {
            return try door.output.rows(
                [["key", key.text]] + parts.map { [$0.name.text, "(concealed)"] }, header: ["FIELD", "VALUE"])
        }
        var document = JSONDocument()
        document.field("kind", .text(key.noun))
        document.field("key", .text(key.text))
        document.field("level", .text(item.level.name))
        document.field("device_only", .flag(item.level.isDeviceOnly))
        document.field("modified", .text(Timestamp.text(item.modified)))
        document.object("fields") { fields in
            for part in parts { fields.concealed(part.name.text, count: part.count) }
        }
        try door.output.document(document)
    }
}

struct CredentialRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a credential or a property for good, with its history.",
        discussion: """
            As the SDK's deletion it asks nothing and leaves nothing in the trash.

              omvault credential rm https://host.example.com
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: StoredKeyArguments
    @OptionGroup var unlock: CredentialUnlock

    func run(_ door: Door) throws {
        let access = try VaultAccess(door)
        _ = try key.name(access.place.name)
        let options = try unlock.options()
        let secrets = try SecretSources(door, options.sources)
        try access.unlock(secrets, options)
        let store = CredentialStore(access)
        let result: PurgeResult
        do throws(Failure) {
            result =
                key.propertyKey == nil
                ? try store.deleteCredential(key: key.text) : try store.deleteProperty(key: key.text)
        } catch { throw error.status == .notFound ? key.missing(access.place.name) : error }
        try door.output.done(
            "removed the \(key.noun) \"\(key.text)\" from vault \"\(access.place.name)\"",
            [
                "result": .text("removed"), "kind": .text(key.noun), "key": .text(key.text),
                "purged": .flag(result == .complete),
            ])
        door.output.purged(result)
    }
}

struct CredentialList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the keys of credentials and properties.",
        discussion: """
            omvault credential ls --json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlock

    func run(_ door: Door) throws {
        let access = try VaultAccess(door)
        let options = try unlock.options()
        let secrets = try SecretSources(door, options.sources)
        try access.unlock(secrets, options)
        let found = try CredentialStore(access).keys()
        guard door.output.format == .json else {
            return try door.output.rows(
                found.map { [$0.kind.rawValue, $0.key, $0.item.level.label] }, header: ["KIND", "KEY", "LEVEL"])
        }
        var document = JSONDocument()
        document.objects("credentials", found) { entry, object in
            object.field("kind", .text(entry.kind.rawValue))
            object.field("key", .text(entry.key))
            object.field("level", .text(entry.item.level.name))
            object.field("device_only", .flag(entry.item.level.isDeviceOnly))
            object.field("modified", .text(Timestamp.text(entry.item.modified)))
        }
        try door.output.document(document)
    }
}

extension ProtectionLevel {
    fileprivate var label: String { name + (isDeviceOnly ? " (device only)" : "") }
}

extension VaultAccess: ItemKeeper {
    static func meaning(of problem: Failure) -> ItemProblem? {
        switch problem.status {
        case .notFound: .missing
        case .exists: .exists
        case .unchanged: .unchanged
        case .conflict: .changedMeanwhile
        default: nil
        }
    }

    static func problem(_ error: VaultError) -> Failure { Failure(error, vault: nil) }

    /// Puts an item under a level, if it is not there already.
    fileprivate func raise(_ name: ItemName, to level: ProtectionLevel) throws(Failure) {
        guard try perform(.item(name)).item().level != level else { return }
        _ = try perform(.setLevel(name, level, ifRevision: nil))
    }
}
