internal import ArgumentParser
internal import OMAuth

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "The policies for logins, in the SDK's own keys.",
        subcommands: [ProfileSet.self, ProfileShow.self, ProfileList.self])
}

/// `omvault profile set`: adds or changes values; all of them are valid, or nothing is written.
struct ProfileSet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set values of a profile, which is made if it is not there.",
        discussion: """
            Keys: OfflineAuthAllowed (true, false), MaxLoginAttempts (1 to 1000 wrong passwords that are tolerated),
            CryptoScheme (the SDK's twelve), OfflineCredentialMaxAge (seconds, 0 for never), OnAttemptsExceeded (wipe,
            lockout).

              omvault profile set work OfflineAuthAllowed=true MaxLoginAttempts=5 OnAttemptsExceeded=wipe
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.")
    var name: String

    @Argument(help: ArgumentHelp("What to set.", valueName: "key=value"))
    var values: [String]

    func run(_ door: Door) throws {
        let changes = try values.map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(.usage, "\"\(text.shown)\" is not KEY=VALUE", hint: "omvault profile set --help")
            }
            return (key: parts[0], value: parts[1])
        }
        let repeated = Dictionary(grouping: changes, by: \.key).first { $0.value.count > 1 }
        if let repeated { throw Failure(.usage, "\(repeated.key.shown) is given twice") }
        let profile = try ProfileFolder(door.home().profiles).set(ProfileName(name), changes)
        try door.output.done(
            "profile \"\(profile.name.text)\": \(profile.limitWords)",
            ["result": .text("set"), "profile": .text(profile.name.text)])
    }
}

/// `omvault profile show`: what counts, defaults included.
struct ProfileShow: Verb {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a profile with its defaults.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.")
    var name: String

    func run(_ door: Door) throws {
        let profile = try ProfileFolder(door.home().profiles).profile(ProfileName(name))
        guard door.output.format == .json else {
            return try door.output.rows(
                ProfileKey.allCases.map { key in
                    [key.rawValue, profile.effective(key).text, profile.values[key] == nil ? "default" : "set"]
                },
                header: ["KEY", "VALUE", "FROM"])
        }
        var document = JSONDocument()
        document.field("profile", .text(profile.name.text))
        document.object("values") { values in
            for key in ProfileKey.allCases { values.field(key.rawValue, profile.effective(key).json) }
        }
        try door.output.document(document)
    }
}

/// `omvault profile ls`.
struct ProfileList: Verb {
    static let configuration = CommandConfiguration(commandName: "ls", abstract: "List the profiles.")

    @OptionGroup var global: GlobalOptions

    func run(_ door: Door) throws {
        let names = try ProfileFolder(door.home().profiles).names().map(\.text)
        guard door.output.format == .json else {
            return try door.output.rows(names.map { [$0] }, header: ["PROFILE"])
        }
        var document = JSONDocument()
        document.field("profiles", .list(names.map { .text($0) }))
        try door.output.document(document)
    }
}

extension Profile {
    /// The limit as one sentence, which enrolment and status print too.
    var limitWords: String {
        let count = maxLoginAttempts == 1 ? "1 wrong password is" : "\(maxLoginAttempts) wrong passwords are"
        return "\(count) tolerated, the next \(onAttemptsExceeded.words)"
    }
}

extension ProfileValue {
    fileprivate var text: String {
        switch self {
        case .text(let text), .number(let text): text
        case .bool(let bool): "\(bool)"
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .text(let text): .text(text)
        case .number(let digits): Int(digits).map { .number($0) } ?? .text(digits)
        case .bool(let bool): .flag(bool)
        }
    }
}
