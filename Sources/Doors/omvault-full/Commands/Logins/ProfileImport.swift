internal import ArgumentParser
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// `omvault profile import`: makes a profile of an SDK configuration URL. The URL is treated as hostile until the user agrees.
struct ProfileImport: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a profile from a configuration URL.",
        discussion: """
            The URL is SCHEME://[HOST]?KEY::=VALUE&KEY::=VALUE… Parts of another form are skipped and counted. A setting that weakens
            a login (a recoverable password, another trust, more attempts, a longer life, the source of a secret) needs --allow
            KEY. So does a setting that is laxer than in the profile of the same name, which is replaced. omvault shows the
            settings and asks. With ProfileURL it then fetches the server's policy; if that fails, it keeps nothing.

              omvault profile import 'wp://settings?AuthServerType::=HTTPBasicAuthentication&LoginURL::=https://…' \\
                  --name work
              omvault profile import - --name work < url
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: ArgumentHelp("The URL, or - for standard input.", valueName: "url"))
    var url: String?

    @Option(name: .customShort("i"), help: ArgumentHelp("A file with the URL.", valueName: "file"), completion: .file())
    var input: String?

    @Option(
        help: ArgumentHelp(
            "The profile's name; \(ConfigurationURL.defaultName) if not given.", valueName: "name"),
        completion: .profiles)
    var name: String?

    @Option(help: ArgumentHelp("A key that the URL may set, although it weakens a login; may be repeated.", valueName: "key"))
    var allow: [String] = []

    @Option(help: ArgumentHelp("Take only this key; may be repeated.", valueName: "key"))
    var only: [String] = []

    @Flag(help: "The parts are KEY=VALUE, percent-encoded.")
    var components = false

    @OptionGroup var policy: PolicyOptions

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(name ?? ConfigurationURL.defaultName)
        let allowed = try keys(allow, "--allow"), filter = try keys(only, "--only")
        let url = try ConfigurationURL(try text(), pairs: components ? .components : .sdk, filter: filter)
        let access = try LoginAccess(context, system: system), folder = access.profiles
        let profile = try url.profile(name, ceiling: folder.ceiling)
        let isThere = try folder.names().contains(name)
        // A profile that cannot be read is not compared: no login succeeds under it.
        try refuseDangers(of: profile, replacing: isThere ? try? folder.profile(name) : nil, unless: allowed)
        printOmissions(url, profile, context.output)
        try context.confirm(question(profile, isThere))
        // Fetched after the question, so that looking at a stranger's URL contacts no server.
        let server = policy.noFetch ? nil : try PolicySetUp(access: access, output: context.output).fetch(for: profile)
        try folder.store(profile)
        access.deleteDisallowed(profile, context.output)
        try report(url, profile, policy: server, isThere: isThere, context)
    }

    private func text() throws(Failure) -> String {
        if let url, url != "-" {
            guard input == nil else { throw Failure(usage: "give a URL or -i FILE, not both") }
            return url
        }
        guard (url == nil) != (input == nil) else {
            throw Failure(.usage, "give a URL, - or -i FILE", hint: "omvault profile import --help")
        }
        let bytes = try InputFile(input).readWhole(
            maximum: ConfigurationURL.maximumBytes, hint: "this is not a configuration URL")
        let text = bytes.withBytes { String(validating: Array(copying: $0), as: UTF8.self) }
        guard let text else { throw Failure(AuthError.profile(.malformedURL)) }
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    private func keys(_ spellings: [String], _ option: String) throws(Failure) -> Set<ProfileKey> {
        var keys: Set<ProfileKey> = []
        for spelling in spellings {
            guard let key = ProfileKey(spelled: spelling) else {
                throw Failure(
                    .usage, "\(option): \"\(spelling.shown)\" is not a key of a profile",
                    hint: "docs/reference/profiles.md lists the keys")
            }
            keys.insert(key)
        }
        return keys
    }

    private func refuseDangers(
        of profile: Profile, replacing old: Profile?, unless allowed: Set<ProfileKey>
    ) throws(Failure) {
        let refused = profile.importDangers(replacing: old).filter { !allowed.contains($0.key) }
        guard !refused.isEmpty else { return }
        throw Failure(
            .policy,
            "the URL needs your consent for this: "
                + refused.map { "\($0.key.rawValue) \($0.danger.words)" }.joined(separator: "; "),
            hint: "if you trust it: " + refused.map { "--allow \($0.key.rawValue)" }.joined(separator: " "),
            details: ["refused": .list(refused.map { .text($0.key.rawValue) })])
    }

    private func printOmissions(_ url: ConfigurationURL, _ profile: Profile, _ output: Output) {
        for omission in url.omissions { output.notice("part \(omission.part) \(omission.reason.words)") }
        for (key, value) in profile.values.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            output.notice("\(key.rawValue) = \(value.shownText(of: key))")
        }
        output.warn(about: profile, system: system)
    }

    private func question(_ profile: Profile, _ isThere: Bool) -> String {
        let sent =
            switch profile.serverKind {
            case .oauthBrowser, .oauthAssertion, .oauthTokenExchange: "users and their tokens"
            case .certificate: "your certificate"
            default: "passwords"
            }
        let server = profile.serverOrigin.isEmpty ? "" : ", which sends \(sent) to \(profile.serverOrigin)"
        let old = isThere ? " They replace all settings of the existing profile." : ""
        // Attack: an attacker sends a URL without a name. Then every login without --profile goes to the attacker's server.
        let isDefault = profile.name.text == ConfigurationURL.defaultName
        let usual = isDefault ? " Logins without --profile use it." : ""
        return "Save these settings as profile \"\(profile.name.text)\"\(server)?\(old)\(usual)"
    }

    private func report(
        _ url: ConfigurationURL, _ profile: Profile, policy server: ServerPolicy?, isThere: Bool, _ context: CommandContext
    ) throws(Failure) {
        try context.output.done(
            "profile \"\(profile.name.text)\": \(profile.values.count.of("setting")) \(isThere ? "replaced it" : "imported")",
            [
                "result": .text("imported"), "profile": .text(profile.name.text), "replaced": .flag(isThere),
                "keys": .list(profile.values.keys.map(\.rawValue).sorted().map { .text($0) }),
                "policy_epoch": server.map { .number(Int($0.epoch)) } ?? .null,
                "skipped": .list(url.omissions.filter { !$0.reason.isTaken }.map { .number($0.part) }),
            ])
    }
}

extension ConfigurationURL.Omission.Reason {
    fileprivate var words: String {
        switch self {
        case .notAPair: "is skipped: it is not a key and a value"
        case .filtered: "is left out: --only does not name its key"
        case .takenForFalse: "is neither TRUE nor FALSE, and counts as false"
        case .malformedHeader: "has headers without exactly one colon; these headers are left out"
        }
    }

    /// Whether the part still gave a setting.
    fileprivate var isTaken: Bool {
        switch self {
        case .notAPair, .filtered: false
        case .takenForFalse, .malformedHeader: true
        }
    }
}

extension ImportDanger {
    fileprivate var words: String {
        switch self {
        case .secret: "sends a secret of this machine to the server"
        case .trust: "changes which servers are trusted"
        case .untrustedServer: "allows offline logins when the server is not trusted"
        case .failingServer: "allows offline logins when the server answers with an error"
        case .recoverableScheme: "names a scheme that can be reversed"
        case .remembersPassword: "keeps the password recoverable"
        case .moreAttempts: "tolerates more than \(PolicyCeiling.defaultAttempts) wrong passwords"
        case .afterAttempts: "changes what happens after too many wrong passwords"
        case .longerOffline: "keeps the credential for longer than 30 days"
        case .weakerLevel: "lowers the protection level"
        case .keepsSession: "keeps the session where every process of yours can read it"
        case .sendsPasswordAgain: "sends the remembered password at each logout"
        case .releasesTokens: "lets programs of yours have the session's access tokens"
        case .usesIdentity: "shows a certificate of yours to the server, and signs with its key"
        case .showsIdentityInClear: "shows your certificate where others on the network can read it"
        case .laxer: "is less strict than in the profile that it replaces"
        }
    }
}
