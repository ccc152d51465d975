// The client of a profile: its registration at the server, and its secrets in the vault.

internal import OMAgent
internal import OMAuth
internal import OMCrypto
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
    private let context: CommandContext
    private let options: UnlockOptions

    /// Opens the vault before any server is asked.
    init(
        _ profile: ProfileName, _ sources: [(key: String, value: SecretSourceArgument?)] = [],
        unlocking unlock: CredentialUnlockOptions, _ context: CommandContext
    ) throws {
        // A profile names a field of the default vault, or of the variable's.
        if let given = context.vaultGiven, given != Environment.text("OMVAULT_VAULT") {
            throw Failure(
                .usage, "the client's secrets go into the default vault, where the profile looks for them",
                hint: "leave out --vault \(given.asShellWord)")
        }
        let item = try Self.itemName(profile)
        let options = try unlock.options()
        let secrets = try SecretSources(context, sources + options.sources)
        let vault = try VaultAccess(context)
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        try vault.unlock(secrets, options)
        (self.item, self.vault, provider) = (item, vault, OnlineProvider(program: program))
        (self.context, self.options) = (context, options)
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
        let proof = options.proof ?? (profile.clientProof.mayAssert ? ClientRegistrationOptions.keyProof : nil)
        let metadata = ClientMetadata(
            profile, proof: proof, name: options.clientName, publicKey: try publicKey(of: profile, proof))
        let registered = try asking(profile, isNew: true) { () throws(OnlineRefusal) in
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
        return try keep(read(profile, place), place)
    }

    borrowing func update(_ profile: Profile, name: String?) throws(Failure) -> ClientRegistration {
        let before = try read(profile)
        // Reading may have brought another token.
        let place = try managed()
        let proof = before.metadata.proof
        let metadata = ClientMetadata(
            profile, proof: proof, name: name ?? before.metadata.name, publicKey: try publicKey(of: profile, proof))
        let updated = try asking(profile) { () throws(OnlineRefusal) in
            try provider.client(
                .update(metadata, id: before.id, at: place.address), of: profile, token: place.token,
                statement: SecretBytes(copying: []))
        }
        return try keep(updated, place)
    }

    /// The public half of the client's key, if the client proves itself with it.
    private borrowing func publicKey(of profile: Profile, _ proof: String?) throws(Failure) -> String? {
        guard proof == ClientRegistrationOptions.keyProof else { return nil }
        guard let name = profile.clientProof.key else {
            throw Failure(
                .config, "OAuthClientKey is missing, which a client with \(ClientRegistrationOptions.keyProof) needs",
                hint: "omvault profile set \(profile.name.text.asShellWord) OAuthClientKey=identity:NAME")
        }
        do {
            let key = try vault.privateKey(of: try vault.identity(name))
            return try key.publicKey().jwk()
        } catch let failure as Failure { throw failure } catch {
            throw Failure(
                .config, "the identity \"\(name.shown)\" has no key that a server takes",
                hint: "omvault cert ls lists the identities")
        }
    }

    /// - Parameters:
    ///   - asksServer: Whether the server ends the registration.
    ///   - profile: Nil if it was removed. Then the item alone names the server, and the system's authorities are trusted.
    borrowing func remove(asksServer: Bool, _ profile: Profile?) throws(Failure) {
        if asksServer {
            let place = try managed()
            let profile = if let profile { profile } else { try Self.profile(of: place) }
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
        if let proof = registered.metadata.proof, ClientRegistrationOptions.proofs.contains(proof) {
            values.append((ProfileKey.oauthClientAuthMethod.rawValue, proof))
        }
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

    /// A profile for a registration whose own profile was removed.
    private static func profile(of place: borrowing Managed) throws(Failure) -> Profile {
        let values: [(ProfileKey, String)] = [
            (.authServerType, AuthServerType.oauth.rawValue), (.oauthGrantType, OAuthGrant.resourceOwner.rawValue),
            (.oauthClientID, "client"), (.oauthTokenEndpoint, place.address),
        ]
        do throws(AuthError) {
            return try Profile(
                try ProfileName("client"), values: Dictionary(uniqueKeysWithValues: values.map { ($0.0.rawValue, .text($0.1)) }))
        } catch { throw Failure(error) }
    }

    private borrowing func read(_ profile: Profile, _ place: borrowing Managed) throws(Failure) -> RegisteredClient {
        try asking(profile) { () throws(OnlineRefusal) in
            try provider.client(
                .read(at: place.address), of: profile, token: place.token, statement: SecretBytes(copying: []))
        }
    }

    private func asking(
        _ profile: Profile, isNew: Bool = false, _ body: () throws(OnlineRefusal) -> RegisteredClient
    ) throws(Failure) -> RegisteredClient {
        do throws(OnlineRefusal) { return try body() } catch {
            guard case .rejected = error else { throw Failure(error, under: profile) }
            throw isNew
                ? Failure(
                    .remoteAuth, "the server registers no client without a right token",
                    hint: "its administrator gives one: --initial-token-from SOURCE")
                : Failure(
                    .remoteAuth, "the server refuses the token of the registration",
                    hint: "if the client was removed there: omvault client rm --local, then omvault client register")
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
        /// Empty if there is none.
        let secret: SecretBytes
    }

    private borrowing func managed() throws(Failure) -> Managed {
        guard let stored = try stored() else { throw missing }
        guard let address = stored.fields.first(where: { $0.name == Field.address.name })?.shownValue, Field.token.isIn(stored)
        else {
            throw Failure(
                .unsupported, "the server gave no address where this registration is managed",
                hint: "ask the server's administrator; omvault client rm --local removes the item")
        }
        let secret =
            Field.secret.isIn(stored)
            ? try vault.secret(FieldPath(item, Field.secret.name)) : SecretBytes(copying: [])
        return Managed(
            item: stored, address: address, token: try vault.secret(FieldPath(item, Field.token.name)), secret: secret)
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
        _ answer: consuming RegisteredClient, _ place: borrowing Managed
    ) throws(Failure) -> ClientRegistration {
        let registration = answer.registration
        let isNewToken = answer.token.count > 0 && !answer.token.isEqual(to: place.token)
        let isNewSecret = answer.secret.count > 0 && !answer.secret.isEqual(to: place.secret)
        let address = registration.address.flatMap { $0 == place.address ? nil : $0 }
        guard isNewToken || isNewSecret || address != nil else { return registration }
        func change(_ answer: borrowing RegisteredClient) throws(Failure) -> ItemChange {
            var values = FieldValues()
            if isNewToken { try put(.token, answer.token.duplicate(), &values) }
            if isNewSecret { try put(.secret, answer.secret.duplicate(), &values) }
            if let address { try put(.address, text: address, &values) }
            return ItemChange(set: values)
        }
        // Other fields may have changed meanwhile. The server may take the new token only, so it is kept in any case.
        do throws(Failure) { _ = try vault.perform(.update(place.item.name, try change(answer), ifRevision: nil)) } catch {
            guard error.status == .locked else { throw error }
            context.output.notice("the vault was locked meanwhile; it is opened once more to keep the server's new token")
            let again = try VaultAccess(context)
            try again.unlock(try SecretSources(context, options.sources), options)
            _ = try again.perform(.update(place.item.name, try change(answer), ifRevision: nil))
        }
        return registration
    }

    private func put(_ field: Field, text: String, _ values: inout FieldValues) throws(Failure) {
        try put(field, SecretBytes(copying: Array(text.utf8)), &values)
    }

    private func put(_ field: Field, _ value: consuming SecretBytes, _ values: inout FieldValues) throws(Failure) {
        do throws(VaultError) { try values.put(value, at: field.name) } catch { throw Failure(error, vault: nil) }
    }
}
