// `omvault client`: the registration of a profile's client at its OAuth server. docs/reference/profiles.md, "Registration".

internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMOnlineModel
internal import OMShell

struct OAuthClientCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Register a client at an OAuth server.",
        discussion: """
            Some servers let a client register itself (RFC 7591). The client's id goes into the profile. Its secret and the token that
            manages the registration are the item "client.PROFILE" of the default vault. 'omvault profile discover --register' makes
            the profile and registers its client in one step.
            """,
        subcommands: [ClientRegister.self, ClientShow.self, ClientUpdate.self, ClientRemove.self])
}

/// `omvault client register`: registers a client for a profile that is there.
struct ClientRegister: Verb {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Register a client at the server of a profile.",
        discussion: """
            The server gives the id of a new client, and the profile uses it from then on. A profile with OAuthClientKey registers the public half of that key. Without it and
            --proof a client has a secret, unless
            users log in with it and the server says that it takes clients without one. A server that registers certain clients only wants a
            token for it (--initial-token-from) or a statement of the software's maker (--statement-from).

              omvault client register work
              omvault client register job --proof client_secret_basic --initial-token-from file:token
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions
    @OptionGroup var registration: ClientRegistrationOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(profile)
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(name)
        let client = try ClientOfProfile(name, registration.sources, unlocking: unlock, context)
        try client.checkAbsent()
        try context.confirm(
            "Register a client for profile \"\(name.text)\" at \(profile.serverOrigin)? The profile uses the new client from then on."
        )
        let registered = try client.register(profile, registration)
        let changes = ProfileChanges(name: name, values: try client.changes(registered), unset: try client.unset(registered))
        let changed = try access.profiles.set(name, changes.values, unset: changes.unset)
        access.deleteOutdated(name, now: changed, context.output)
        try context.output.done("registered", registered, of: name)
    }
}

/// `omvault client show`: what the server keeps.
struct ClientShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what the server keeps about the client.",
        discussion: """
            Asks the server with the token of the registration. Secrets are not shown; if the server gives new ones, they are kept.

              omvault client show work
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(profile)
        let profile = try LoginAccess(context).profiles.profile(name)
        let client = try ClientOfProfile(name, unlocking: unlock, context)
        let found = try client.read(profile)
        guard context.output.format == .json else {
            let values = found.metadata
            return try context.output.rows(
                [
                    ["client_id", found.id], ["client_name", values.name ?? "-"],
                    ["redirect_uris", values.redirects.joined(separator: " ")],
                    ["grant_types", values.grants.joined(separator: " ")],
                    ["token_endpoint_auth_method", values.proof ?? "-"], ["scope", values.scopes.joined(separator: " ")],
                    ["client_secret_expires_at", found.secretExpiry.map { context.output.time($0) } ?? "-"],
                ], header: ["KEY", "VALUE"])
        }
        var document = JSONDocument()
        found.write(to: &document, profile: name)
        try context.output.document(document)
    }
}

/// `omvault client update`: gives the server the values of the profile.
struct ClientUpdate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Tell the server the client's present values.",
        discussion: """
            Replaces what the server keeps by the redirect address, the scopes and the grant of the profile, as they are now.

              omvault profile set work OAuthRedirectEndpoint=http://127.0.0.1:8400/cb
              omvault client update work
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Option(help: ArgumentHelp("What the server's pages call the client.", valueName: "text"))
    var clientName: String?

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(profile)
        let profile = try LoginAccess(context).profiles.profile(name)
        let client = try ClientOfProfile(name, unlocking: unlock, context)
        let found = try client.update(profile, name: clientName)
        try context.output.done("updated", found, of: name)
    }
}

/// `omvault client rm`: ends the registration.
struct ClientRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "End the registration of a client.",
        discussion: """
            The server forgets the client, and the item with its secrets goes to the trash. Logins with the profile fail then. If the
            server cannot be reached, everything stays; --local removes the item only.

              omvault client rm work
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @Flag(help: "Do not ask the server: the client stays registered there.")
    var local = false

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(profile)
        let client = try ClientOfProfile(name, unlocking: unlock, context)
        let profiles = try LoginAccess(context).profiles
        // A registration may be left of a profile that was removed.
        let profile = try profiles.names().contains(name) ? try profiles.profile(name) : nil
        try context.confirm("End the registration of the client of profile \"\(name.text)\"? Its logins fail then.")
        try client.remove(asksServer: !local, profile)
        try context.output.done(
            local ? "removed the item \"\(client.item.text)\"" : "ended the registration of profile \"\(name.text)\"",
            ["result": .text("removed"), "profile": .text(name.text), "server": .flag(!local)])
    }
}

extension ClientRegistration {
    /// What the server keeps, as members of the JSON.
    fileprivate func write(to document: inout JSONDocument, profile: ProfileName) {
        document.field("profile", .text(profile.text))
        document.field("client_id", .text(id))
        document.field("client_name", metadata.name.map { .text($0) } ?? .null)
        document.field("redirect_uris", .list(metadata.redirects.map { .text($0) }))
        document.field("grant_types", .list(metadata.grants.map { .text($0) }))
        document.field("token_endpoint_auth_method", metadata.proof.map { .text($0) } ?? .null)
        document.field("scopes", .list(metadata.scopes.map { .text($0) }))
        document.field("client_secret_expires_at", secretExpiry.map { .time($0) } ?? .null)
    }
}

extension Output {
    fileprivate func done(_ result: String, _ client: ClientRegistration, of profile: ProfileName) throws(Failure) {
        guard format == .json else { return notice("\(result) the client \(client.id.shown) of profile \"\(profile.text)\"") }
        var document = JSONDocument()
        document.field("result", .text(result))
        client.write(to: &document, profile: profile)
        try self.document(document)
    }
}
