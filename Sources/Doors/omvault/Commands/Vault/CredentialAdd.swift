// `omvault credential add` and `update`.

internal import ArgumentParser
internal import OMSecrets
internal import OMVault

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

    @Flag(help: "Keep the one newline that a source may end with.")
    var keepNewline = false

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

/// What `add` and `update` take alike: side by side, as ``KeyOpeningVerb`` says why.
protocol CredentialStoring: Verb {
    var key: StoredKeyArguments { get }
    var parts: StoredParts { get }
    var level: LevelOptions { get }
    var unlock: CredentialUnlock { get }
}

extension CredentialStoring {
    /// Stores what is given, in place of the whole or of the parts that are named.
    func store(_ door: Door, isWhole: Bool) throws {
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
                    StoredParts.value, prompt: "Value of property \"\(key.text)\"", isNew: true,
                    keepNewline: parts.keepNewline, maximum: Item.maximumFieldCount)
                try property.put(value, as: .value)
            }
            if let label = parts.label { try property.put(SecretBytes(copying: Array(label.utf8)), as: .label) }
            if let text = parts.description {
                try property.put(SecretBytes(copying: Array(text.utf8)), as: .description)
            }
            if isWhole { try store.add(property, key: key.text) } else { try store.update(property, key: key.text) }
        } else {
            var credential = Credential()
            if let user = parts.username { try credential.put(SecretBytes(copying: Array(user.utf8)), as: .username) }
            if parts.takesSecret(false, isWhole: isWhole) {
                let password = try secrets.read(
                    StoredParts.password, prompt: "Password of credential \"\(key.text)\"", isNew: true,
                    keepNewline: parts.keepNewline, maximum: Item.maximumFieldCount)
                try credential.put(password, as: .password)
            }
            if let tenant = parts.tenant { try credential.put(SecretBytes(copying: Array(tenant.utf8)), as: .tenant) }
            for property in parts.properties {
                let name = try property.fieldName().text
                let value = try secrets.read(
                    "--property \(name)", prompt: "\(name) of \"\(key.text)\"", isNew: true, keepNewline: parts.keepNewline,
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
}

struct CredentialAdd: CredentialStoring {
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

    func run(_ door: Door) throws {
        try store(door, isWhole: true)
    }
}

struct CredentialUpdate: CredentialStoring {
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

    func run(_ door: Door) throws {
        try store(door, isWhole: false)
    }
}
