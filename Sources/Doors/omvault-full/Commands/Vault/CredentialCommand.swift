// `omvault credential`: the SDK's credential store, from the shell.

internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMShell
internal import OMVault

struct CredentialCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Keep credentials as Oracle's IDM Mobile SDK does.",
        discussion: """
            For programs that use that SDK's credential store: each credential has a key, often a URL, and a user name, a
            password and more. For your own logins and secrets use 'omvault add'.
            """,
        subcommands: [
            CredentialAdd.self, CredentialUpdate.self, CredentialGet.self, CredentialRemove.self, CredentialList.self,
        ])
}

struct CredentialGet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Show a credential or a property, or print one part of it.",
        discussion: """
            --field prints the exact bytes of one part: username, password, tenant or property.NAME; of a property value, label or
            description. Without --field it lists the parts, concealed.

              omvault credential get https://host.example.com --field password
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: CredentialKeyOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Option(help: ArgumentHelp("Print this part.", valueName: "field"))
    var field: String?

    var printsRows: Bool { field == nil }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let name = try key.name(access.location.name)
        let options = try unlock.options()
        let secrets = try SecretSources(context, options.sources)
        do throws(Failure) {
            if let field {
                let path = FieldPath(name, try fieldName(field, access.location.name))
                let secret = try access.read(.secret(path, revision: nil), secrets, options).secret()
                guard context.output.format == .json else { return try context.output.writeSecret(secret) }
                var document = JSONDocument()
                document.field("key", .text(key.text))
                document.field("field", .text(field))
                document.secret("value", secret)
                return try context.output.document(document)
            }
            try show(try access.read(.item(name), secrets, options).item(), context)
        } catch {
            guard error.status == .notFound else { throw error }
            throw field.map {
                Failure(
                    .notFound, "no \"\($0)\" in \(key.noun) \"\(key.text)\"",
                    hint: "omvault credential get without --field shows all parts"
                ).with(sdkCode: error.sdkCode)
            } ?? key.missing(access.location.name, error)
        }
    }

    private func fieldName(_ text: String, _ vault: String) throws(Failure) -> FieldName {
        do throws(VaultError) { return try FieldName(text) } catch { throw Failure(error, vault: vault) }
    }

    private func show(_ item: Item, _ context: CommandContext) throws(Failure) {
        let parts = item.fields.filter { $0.name.text != CredentialStore<VaultAccess>.keyField.text }
        guard context.output.format == .json else {
            return try context.output.rows(
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
        try context.output.document(document)
    }
}

struct CredentialRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a credential or a property for good, with its history.",
        discussion: """
            Asks nothing and leaves nothing in the trash, as the deletion of Oracle's IDM Mobile SDK does.

              omvault credential rm https://host.example.com
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var key: CredentialKeyOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        _ = try key.name(access.location.name)
        let options = try unlock.options()
        let secrets = try SecretSources(context, options.sources)
        try access.unlock(secrets, options)
        let store = CredentialStore(access)
        let result: PurgeResult
        do throws(Failure) {
            result =
                key.propertyKey == nil
                ? try store.deleteCredential(key: key.text) : try store.deleteProperty(key: key.text)
        } catch { throw error.status == .notFound ? key.missing(access.location.name, error) : error }
        try context.output.done(
            "removed the \(key.noun) \"\(key.text)\" from vault \"\(access.location.name)\"",
            [
                "result": .text("removed"), "kind": .text(key.noun), "key": .text(key.text),
                "purged": .flag(result == .complete),
            ])
        context.output.purged(result)
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
    @OptionGroup var unlock: CredentialUnlockOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let options = try unlock.options()
        let secrets = try SecretSources(context, options.sources)
        try access.unlock(secrets, options)
        let found = try CredentialStore(access).keys()
        try context.output.list(
            "credentials", found, columns: ["KIND", "KEY", "LEVEL"],
            row: { [$0.kind.rawValue, $0.key, $0.item.level.label] },
            object: { entry, object in
                object.field("kind", .text(entry.kind.rawValue))
                object.field("key", .text(entry.key))
                object.field("level", .text(entry.item.level.name))
                object.field("device_only", .flag(entry.item.level.isDeviceOnly))
                object.field("modified", .text(Timestamp.text(entry.item.modified)))
            })
    }
}

extension ProtectionLevel {
    fileprivate var label: String { name + (isDeviceOnly ? " (device only)" : "") }
}

extension VaultAccess: ItemBackend {
    static func itemProblem(of problem: Failure) -> ItemProblem? {
        switch problem.status {
        case .notFound: .missing
        case .exists: .exists
        case .unchanged: .unchanged
        case .conflict: .changedMeanwhile
        default: nil
        }
    }

    static func problem(_ error: VaultError) -> Failure { Failure(error, vault: nil) }

    /// Moves an item to a level, unless it already has this level.
    func raise(_ name: ItemName, to level: ProtectionLevel) throws(Failure) {
        guard try perform(.item(name)).item().level != level else { return }
        _ = try perform(.setLevel(name, level, ifRevision: nil))
    }
}
