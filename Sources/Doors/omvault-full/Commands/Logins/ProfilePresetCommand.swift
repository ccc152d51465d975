internal import ArgumentParser
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault profile preset`: what is known of public login servers.
struct ProfilePresetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preset",
        abstract: "Show what is known of public login servers.",
        discussion: """
            A preset has the address of a server, the scopes, and how it names its users. It has no id of a client: you register one at
            the server. The file /etc/omvault/presets.json adds more; docs/reference/profiles.md has its form.
            """,
        subcommands: [ProfilePresetList.self, ProfilePresetShow.self])
}

/// `omvault profile preset ls`.
struct ProfilePresetList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the presets.",
        discussion: """
            PROVEN says whether a person has logged in with the preset. All others are written from documents only.

              omvault profile preset ls
            """)

    @OptionGroup var global: GlobalOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let presets = try ProfilePresets.read(SystemStore.presets)
        try context.output.list(
            "presets", presets.all, columns: ["PRESET", "PROVEN", "FROM", "ABOUT"],
            row: { [$0.name, $0.isProven ? "yes" : "no", presets.origin(of: $0), $0.about] },
            object: { preset, entry in
                entry.field("preset", .text(preset.name))
                entry.field("proven", .flag(preset.isProven))
                entry.field("from", .text(presets.origin(of: preset)))
                entry.field("about", .text(preset.about))
            })
    }
}

/// `omvault profile preset show`.
struct ProfilePresetShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the settings of a preset.",
        discussion: """
              omvault profile preset show github
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The preset.", completion: .presets)
    var preset: String

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let preset = try ProfilePreset.named(preset)
        guard context.output.format == .json else {
            preset.describe(context.output)
            let issuer = preset.issuerForm.map { [["OAuthIssuer", $0]] } ?? []
            return try context.output.rows(
                issuer + preset.settings.map { [$0.key.rawValue, $0.value] }, header: ["KEY", "VALUE"])
        }
        var document = JSONDocument()
        document.field("preset", .text(preset.name))
        document.field("proven", .flag(preset.isProven))
        document.field("about", .text(preset.about))
        document.field("source", .text(preset.source))
        document.field("notes", .list(preset.notes.map { .text($0) }))
        if let form = preset.issuerForm { document.field("issuer_form", .text(form)) }
        document.object("settings") { settings in
            for setting in preset.settings { settings.field(setting.key.rawValue, .text(setting.value)) }
        }
        try context.output.document(document)
    }
}

extension ProfilePresets {
    /// Who made a preset.
    fileprivate func origin(of preset: ProfilePreset) -> String { ownNames.contains(preset.name) ? "machine" : "omvault" }
}

extension ProfilePreset {
    /// Oracle's own social services are no presets: their protocol is known to Oracle's server only.
    private static let oracle = "oracle"

    static func named(_ name: String) throws -> ProfilePreset {
        let presets = try ProfilePresets.read(SystemStore.presets)
        if let found = presets[name] { return found }
        guard name != oracle else {
            throw Failure(
                .unsupported, "a social service domain of Oracle's server needs that server, which omvault was never tried with",
                hint: "ask its administrator for an OpenID Connect issuer, and use 'omvault profile discover NAME ISSUER'")
        }
        let near = Suggestion.closest(to: name, among: presets.all.map(\.name))
        throw Failure(
            .notFound, "there is no preset \(name.shown)",
            hint: near.map { "did you mean \($0)?" } ?? "omvault profile preset ls lists them")
    }

    /// Says what a user has to know.
    func describe(_ output: Output) {
        if !isProven {
            output.notice(
                "the preset \(name) is not proven: it is written from \(source), and no person has logged in with it yet")
        }
        for note in notes { output.notice(note) }
    }

    /// Shows the settings that are no endpoints.
    func describeSettings(_ output: Output) {
        let shown = Set(endpoints.map(\.address))
        for setting in settings where !shown.contains(setting.value) {
            output.notice("\(setting.key.rawValue) = \(setting.value)")
        }
    }

    /// The origins that the preset vouches for.
    var origins: [String] {
        let listed = self[.oauthEndpointOrigins].map { $0.split(separator: ",").map(String.init) } ?? []
        return (listed + endpoints.map(\.address)).compactMap { ServerURL($0)?.shortOrigin }
    }

    /// The endpoints that it names itself.
    var endpoints: [ServerEndpoint] {
        let keys: [(ServerEndpoint.Kind, ProfileKey)] = [
            (.token, .oauthTokenEndpoint), (.revocation, .oauthRevocationEndpoint),
            (.authorization, .oauthAuthorizationEndpoint), (.device, .oauthDeviceEndpoint),
            (.userInfo, .oauthUserInfoEndpoint), (.keySet, .oauthKeySetEndpoint),
        ]
        return keys.compactMap { kind, key in self[key].map { ServerEndpoint(kind, $0) } }
    }
}
