internal import ArgumentParser
internal import OMAuth
internal import OMShell

/// `omvault profile show`: the values in force, their sources, and which of them have no effect.
struct ProfileShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a profile with its defaults.",
        discussion: """
            VALUE is the value in force. FROM says who decided it: default, set (the profile), server (the server's policy, which the
            next login online takes) or ceiling (the administrator's policy, or the most that a server may say). EFFECT is "acts",
            "kept, for later" (for a kind of server that this version does not have) or "kept, no effect" (on this system); --json
            calls them acts, later and none. Kept values are shown only if the profile or the server sets them; --json shows all.

              omvault profile show work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: profileHelp, completion: .profiles)
    var name: String?

    @Flag(help: systemStoreHelp)
    var system = false

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: system)
        let profile = try access.profiles.profile(access.profileName(name))
        let known = access.known(of: profile, context.output), server = known.policy
        let rows = ProfileKey.allCases.compactMap { Row($0, of: profile, server) }
        guard context.output.format == .json else {
            try context.output.rows(rows.filter(\.isWorthALine).map(\.cells), header: ["KEY", "VALUE", "FROM", "EFFECT"])
            context.output.warn(about: profile, system: system)
            // A warning only at a look: the grant is usual, and each change of a profile would repeat it.
            if profile.serverKind == .oauthResourceOwner, let words = profile.unsafeGrantWords { context.output.notice(words) }
            return
        }
        var document = JSONDocument()
        document.field("profile", .text(profile.name.text))
        document.field("server", profile.serverOrigin.isEmpty ? .null : .text(profile.serverOrigin))
        document.field("policy_epoch", server.map { .number(Int($0.epoch)) } ?? .null)
        document.field("policy_age", known.policyAge.map { .number(Int($0)) } ?? .null)
        document.object("values") { values in
            for row in rows { values.field(row.key.rawValue, row.value.json) }
        }
        document.object("from") { values in
            for row in rows { values.field(row.key.rawValue, .text(row.from.rawValue)) }
        }
        document.object("effect") { values in
            for row in rows { values.field(row.key.rawValue, .text(row.effect.rawValue)) }
        }
        try context.output.document(document)
    }

    private struct Row {
        let key: ProfileKey
        let value: ProfileValue
        let from: EffectivePolicy.Source
        let effect: ProfileEffect

        /// - Parameter server: The known policy of the profile's server.
        init?(_ key: ProfileKey, of profile: Profile, _ server: ServerPolicy?) {
            guard let value = profile.effective(key, server) else { return nil }
            (self.key, self.value, from) = (key, value, profile.source(of: key, server))
            effect = profile.effect(of: key)
        }

        /// Whether the table shows it. The default of a key without effect would only fill the page.
        var isWorthALine: Bool { effect == .acts || from != .standard }

        var cells: [String] { [key.rawValue, value.shownText(of: key), from.rawValue, effect.words] }
    }
}

extension ProfileEffect {
    fileprivate var words: String {
        switch self {
        case .acts: "acts"
        case .later: "kept, for later"
        case .none: "kept, no effect"
        }
    }
}

extension ProfileValue {
    /// The text for a line. Metadata are many lines of the server's own text, so only their issuer is shown.
    func shownText(of key: ProfileKey) -> String {
        guard key == .openIDConnectConfiguration, let metadata = OpenIDConfiguration(text) else { return text }
        return "metadata of \(metadata.issuer.text), \(metadata.text.utf8.count.of("byte"))"
    }

    var text: String {
        switch self {
        case .text(let text), .number(let text): text
        case .bool(let bool): "\(bool)"
        }
    }

    var json: JSONValue {
        switch self {
        case .text(let text): .text(text)
        case .number(let digits): Int(digits).map { .number($0) } ?? .text(digits)
        case .bool(let bool): .flag(bool)
        }
    }
}
