// The client of a profile: its registration at the server, and its secrets in the vault.

internal import OMAgent
internal import OMAuth
internal import OMItems
internal import OMOnlineModel
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// A client that registers itself, or has done so.
struct ClientOfProfile: ~Copyable {
    /// The fields of the item. The id and the address are shown.
    enum Field: String, CaseIterable {
        case id
        case address
        case secret
        case token

        var name: FieldName {
            guard let name = try? FieldName(rawValue) else { preconditionFailure("a field's name") }
            return name
        }

        func isIn(_ item: Item) -> Bool { item.fields.contains { $0.name == name } }
    }

    let item: ItemName
    private let vault: VaultAccess
    private let secrets: SecretSources
    private let provider: OnlineProvider

    /// Opens the vault before any server is asked.
    init(
        _ profile: ProfileName, _ sources: [(key: String, value: SecretSourceArgument?)] = [],
        unlocking unlock: CredentialUnlockOptions, _ context: CommandContext
    ) throws {
        let item = try Self.itemName(profile)
        let options = try unlock.options()
        let secrets = try SecretSources(context, sources + options.sources)
        let vault = try VaultAccess(context)
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        try vault.unlock(secrets, options)
        (self.item, self.vault, provider) = (item, vault, OnlineProvider(program: program))
        self.secrets = secrets
    }

    private static func itemName(_ profile: ProfileName) throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName("client.\(profile.text)") } catch { throw Failure(error, vault: nil) }
    }

    /// - Throws: ``ExitStatus/exists`` if the profile's client is registered already.
    borrowing func checkAbsent() throws(Failure) {
        guard try stored() != nil else { return }
        throw Failure(
            .exists, "the client is registered already: the item \"\(item.text)\" is there",
            hint: "omvault client update tells the server the present values; omvault client rm ends the registration")
    }

    /// The source of the secret of a profile's client.
    static func secretPlace(of profile: ProfileName) -> String { "vault:client.\(profile.text):\(Field.secret.rawValue)" }

    // MARK: - Steps

    borrowing func register(
        _ profile: Profile, _ options: borrowing ClientRegistrationOptions
    ) throws(Failure) -> ClientRegistration {
        func given(_ option: String, _ isThere: Bool) throws(Failure) -> SecretBytes {
            isThere ? try secrets.read(option, prompt: option) : SecretBytes(copying: [])
        }
        let token = try given(ClientRegistrationOptions.tokenOption, options.initialTokenFrom != nil)
        let statement = try given(ClientRegistrationOptions.statementOption, options.statementFrom != nil)
        let metadata = ClientMetadata(profile, proof: options.proof, name: options.clientName)
        let registered = try asking(profile) { () throws(OnlineRefusal) in
            try provider.client(
                .register(metadata, at: profile.oauthRegistrationEndpoint?.text), of: profile, token: token, statement: statement)
        }
        do throws(Failure) { try add(registered) } catch {
            // A client whose secret is lost is of no use to anyone.
            if let address = registered.registration.address, registered.token.count > 0 {
                _ = try? provider.client(
                    .remove(at: address), of: profile, token: registered.token, statement: SecretBytes(copying: []))
            }
            throw error
        }
        return registered.registration
    }

    borrowing func read(_ profile: Profile) throws(Failure) -> ClientRegistration {
        let place = try managed()
        return try keep(read(profile, place), in: place.item)
    }

    borrowing func update(_ profile: Profile, name: String?) throws(Failure) -> ClientRegistration {
        let before = try read(profile)
        // Reading may have brought another token.
        let place = try managed()
        let metadata = ClientMetadata(profile, proof: before.metadata.proof, name: name ?? before.metadata.name)
        let updated = try asking(profile) { () throws(OnlineRefusal) in
            try provider.client(
                .update(metadata, id: before.id, at: place.address), of: profile, token: place.token,
                statement: SecretBytes(copying: []))
        }
        return try keep(updated, in: place.item)
    }

    /// - Parameter profile: Nil if the server is not asked.
    borrowing func remove(_ profile: Profile?) throws(Failure) {
        if let profile {
            let place = try managed()
            _ = try asking(profile) { () throws(OnlineRefusal) in
                try provider.client(
                    .remove(at: place.address), of: profile, token: place.token, statement: SecretBytes(copying: []))
            }
        } else if try stored() == nil {
            throw missing
        }
        _ = try vault.perform(.trash([item], ifRevision: nil))
    }

    /// The values of the profile that uses the client.
    borrowing func changes(_ registered: ClientRegistration) throws(Failure) -> [(key: String, value: String)] {
        var values = [(ProfileKey.oauthClientID.rawValue, registered.id)]
        if let stored = try stored(), Field.secret.isIn(stored) {
            values.append((ProfileKey.oauthClientSecret.rawValue, "vault:\(item.text):\(Field.secret.rawValue)"))
        }
        return values
    }

    /// The keys of another client that the profile must not keep.
    borrowing func unset(_ registered: ClientRegistration) throws(Failure) -> [String] {
        if let stored = try stored(), Field.secret.isIn(stored) { return [] }
        return [ProfileKey.oauthClientSecret.rawValue]
    }

    private borrowing func read(_ profile: Profile, _ place: borrowing Managed) throws(Failure) -> RegisteredClient {
        try asking(profile) { () throws(OnlineRefusal) in
            try provider.client(
                .read(at: place.address), of: profile, token: place.token, statement: SecretBytes(copying: []))
        }
    }

    private func asking(
        _ profile: Profile, _ body: () throws(OnlineRefusal) -> RegisteredClient
    ) throws(Failure) -> RegisteredClient {
        do throws(OnlineRefusal) { return try body() } catch {
            guard case .rejected = error else { throw Failure(error, under: profile) }
            throw Failure(
                .remoteAuth, "the server refuses the token of the registration",
                hint:
                    "if it wants a token for new clients: --initial-token-from; a client that was removed there: omvault client rm --local"
            )
        }
    }

    // MARK: - The item

    private var missing: Failure {
        Failure(
            .notFound, "the client of this profile was not registered by omvault: there is no item \"\(item.text)\"",
            hint: "omvault client register registers one")
    }

    private borrowing func stored() throws(Failure) -> Item? {
        do throws(Failure) { return try vault.perform(.item(item)).item() } catch {
            guard error.status == .notFound else { throw error }
            return nil
        }
    }

    /// The item, and the address and the token that manage the registration.
    private struct Managed: ~Copyable {
        let item: Item
        let address: String
        let token: SecretBytes
    }

    private borrowing func managed() throws(Failure) -> Managed {
        guard let stored = try stored() else { throw missing }
        guard let address = stored.fields.first(where: { $0.name == Field.address.name })?.shownValue, Field.token.isIn(stored)
        else {
            throw Failure(
                .unsupported, "the server gave no address where this registration is managed",
                hint: "ask the server's administrator; omvault client rm --local removes the item")
        }
        return Managed(item: stored, address: address, token: try vault.secret(FieldPath(item, Field.token.name)))
    }

    private borrowing func add(_ registered: borrowing RegisteredClient) throws(Failure) {
        var values = FieldValues()
        let registration = registered.registration
        try put(.id, text: registration.id, &values)
        if let address = registration.address { try put(.address, text: address, &values) }
        if registered.secret.count > 0 { try put(.secret, registered.secret.duplicate(), &values) }
        if registered.token.count > 0 { try put(.token, registered.token.duplicate(), &values) }
        var change = ItemChange(set: values)
        change.shown = [Field.id.name] + (registration.address == nil ? [] : [Field.address.name])
        _ = try vault.perform(.add(item, level: .highest, change))
    }

    /// Keeps new secrets before anything else happens: the old ones may work no more.
    private borrowing func keep(
        _ answer: consuming RegisteredClient, in item: Item
    ) throws(Failure) -> ClientRegistration {
        let registration = answer.registration
        var values = FieldValues()
        if try isNew(answer.token, .token, of: item) { try put(.token, answer.token.duplicate(), &values) }
        if try isNew(answer.secret, .secret, of: item) { try put(.secret, answer.secret.duplicate(), &values) }
        if let address = registration.address, item.fields.first(where: { $0.name == Field.address.name })?.shownValue != address
        {
            try put(.address, text: address, &values)
        }
        if !values.names.isEmpty {
            _ = try vault.perform(.update(item.name, ItemChange(set: values), ifRevision: item.revision))
        }
        return registration
    }

    /// Whether the server gave a value, and it is not the stored one.
    private borrowing func isNew(_ value: borrowing SecretBytes, _ field: Field, of item: Item) throws(Failure) -> Bool {
        guard value.count > 0 else { return false }
        guard field.isIn(item) else { return true }
        return try !vault.secret(FieldPath(item.name, field.name)).isEqual(to: value)
    }

    private func put(_ field: Field, text: String, _ values: inout FieldValues) throws(Failure) {
        try put(field, SecretBytes(copying: Array(text.utf8)), &values)
    }

    private func put(_ field: Field, _ value: consuming SecretBytes, _ values: inout FieldValues) throws(Failure) {
        do throws(VaultError) { try values.put(value, at: field.name) } catch { throw Failure(error, vault: nil) }
    }
}
