internal import ArgumentParser
internal import OMAuth

/// `omvault profile show`: what counts, who said it, and what has no effect.
struct ProfileShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show a profile with its defaults.",
        discussion: """
            FROM says who decided: default, set (the profile), or ceiling (the administrator's policy). EFFECT is acts,
            later (kept for a kind of server that this version does not have) or none (kept, no effect on this system).
            Of the last two only what is set is shown.

              omvault profile show work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name; the only one there is, if not given.")
    var name: String?

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ door: Door) throws {
        let access = try LoginAccess(door, system: system)
        let profile = try access.profiles.profile(access.profileName(name))
        let rows = ProfileKey.allCases.compactMap { Row($0, of: profile) }
        guard door.output.format == .json else {
            try door.output.rows(rows.map(\.cells), header: ["KEY", "VALUE", "FROM", "EFFECT"])
            return door.output.warn(about: profile, system: system)
        }
        var document = JSONDocument()
        document.field("profile", .text(profile.name.text))
        document.field("server", profile.serverOrigin.isEmpty ? .null : .text(profile.serverOrigin))
        document.object("values") { values in
            for row in rows { values.field(row.key.rawValue, row.value.json) }
        }
        document.object("from") { values in
            for row in rows { values.field(row.key.rawValue, .text(row.from.rawValue)) }
        }
        document.object("effect") { values in
            for row in rows { values.field(row.key.rawValue, .text(row.key.effect.rawValue)) }
        }
        try door.output.document(document)
    }

    private struct Row {
        let key: ProfileKey
        let value: ProfileValue
        let from: EffectivePolicy.Source

        /// Nil for what would only fill the page: a key that has no value, or one without effect that nobody set.
        init?(_ key: ProfileKey, of profile: Profile) {
            guard let value = profile.effective(key), key.effect == .acts || profile.values[key] != nil else { return nil }
            (self.key, self.value, from) = (key, value, profile.source(of: key))
        }

        var cells: [String] { [key.rawValue, value.text, from.rawValue, key.effect.words] }
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
