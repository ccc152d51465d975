internal import ArgumentParser
internal import Glibc
internal import OMAuth

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Set how logins are checked, and by which server.",
        discussion: """
            A profile is a set of keys and values. The keys are those of Oracle's IDM Mobile SDK, and some of ours;
            docs/profiles.md lists them.
            """,
        subcommands: [
            ProfileImport.self, ProfileSet.self, ProfileShow.self, ProfileList.self, ProfileRemove.self,
        ])
}

/// The profiles of this user's home, under what the administrator allows.
extension ProfileFolder {
    init(_ folders: UserFolders) throws(Failure) {
        do throws(AuthError) {
            self.init(folders.profiles, ceiling: try PolicyCeiling.read(SystemStore.policy))
        } catch { throw Failure(error) }
    }
}

/// `omvault profile set`: adds or changes values; all of them are valid, or nothing is written.
struct ProfileSet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set values of a profile; makes the profile if it is not there.",
        discussion: """
            The keys are those of Oracle's IDM Mobile SDK, and some of ours; docs/profiles.md lists them. OfflineAuthAllowed: true or
            false. MaxLoginAttempts: how many wrong passwords are allowed, 1 to 1000. OnAttemptsExceeded: wipe or lockout.
            CryptoScheme: one of the SDK's twelve. OfflineCredentialMaxAge: seconds, 0 for never. AuthServerType, LoginURL and so on
            name a server.

            A secret is never a value: give its source, file:/PATH or cred:NAME. With ProfileURL omvault first fetches the server's
            policy; if that fails, it keeps nothing.

              omvault profile set work OfflineAuthAllowed=true MaxLoginAttempts=5 OnAttemptsExceeded=wipe
              omvault profile set work AuthServerType=HTTPBasicAuthentication LoginURL=https://id.example.org/login \\
                  LogoutURL=https://id.example.org/logout
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.")
    var name: String

    @Argument(help: ArgumentHelp("What to set.", valueName: "key=value"))
    var values: [String] = []

    @Option(help: ArgumentHelp("A key to set back to its default; may be repeated.", valueName: "key"))
    var unset: [String] = []

    @OptionGroup var policy: PolicyOptions

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ context: CommandContext) throws {
        guard !values.isEmpty || !unset.isEmpty else {
            throw Failure(.usage, "nothing to set", hint: "omvault profile set --help")
        }
        let changes = try values.enumerated().map { index, text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                // Not repeated: it may be a secret that was meant for somewhere else.
                throw Failure(.usage, "value \(index + 1) is not KEY=VALUE", hint: "omvault profile set --help")
            }
            return (key: parts[0], value: parts[1])
        }
        let access = try LoginAccess(context, system: system), name = try ProfileName(name)
        var server: ServerPolicy?
        if !policy.noFetch, changes.contains(where: { ProfileKey(spelled: $0.key) == .profileURL }) {
            let proposed = try access.profiles.preview(name, changes, unset: unset)
            server = try PolicySetUp(access: access, output: context.output).fetch(for: proposed)
        }
        let profile = try access.profiles.set(name, changes, unset: unset)
        context.output.warn(about: profile, system: system)
        access.deleteDisallowed(profile, context.output)
        let policy = LoginPolicy(profile, access.knownPolicy(of: profile, context.output))
        try context.output.done(
            "profile \"\(profile.name.text)\": \(policy.limitWords)\(policy.limitSource)",
            [
                "result": .text("set"), "profile": .text(profile.name.text), "offline": .flag(policy.isOfflineAllowed),
                "limit": .number(policy.maxLoginAttempts), "limit_mode": .text(policy.limitMode.rawValue),
                "limit_from": (policy.sources[.maxLoginAttempts]?.rawValue).map { .text($0) } ?? .null,
                "policy_epoch": server.map { .number(Int($0.epoch)) } ?? .null,
            ])
    }
}

/// `omvault profile ls`.
struct ProfileList: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the profiles.",
        discussion: """
              omvault profile ls
            """)

    @OptionGroup var global: GlobalOptions

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ context: CommandContext) throws {
        let names = try LoginAccess(context, system: system).profiles.names().map(\.text)
        guard context.output.format == .json else {
            return try context.output.rows(names.map { [$0] }, header: ["PROFILE"])
        }
        var document = JSONDocument()
        document.field("profiles", .list(names.map { .text($0) }))
        try context.output.document(document)
    }
}

/// `omvault profile rm`: the policy goes, and with it every offline login under it.
struct ProfileRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a profile.",
        discussion: """
            Credentials that are cached under it stay, and their logins are refused while there is no profile of this name; 'omvault
            login rm' removes them. omvault forgets what it knows of the server's policy.

              omvault profile rm work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.")
    var name: String

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(name)
        let access = try LoginAccess(context, system: system), folder = access.profiles
        guard try folder.names().contains(name) else { throw AuthError.unknownProfile(name) }
        try context.confirm("Remove the profile \"\(name.text)\"? Its logins are refused from then on.")
        let profile = try? folder.profile(name)
        try folder.remove(name)
        if let profile, profile.profileURL != nil {
            do throws(AuthError) { try access.authenticator().deleteStoredPolicy(of: profile) } catch {
                context.output.notice("what set-up saw of its server's policy stays known: \(Failure(error).message)")
            }
        }
        try context.output.done(
            "removed the profile \"\(name.text)\"",
            ["result": .text("removed"), "profile": .text(name.text)])
    }
}

extension Profile {
    /// Why PAM and `--system` refuse a login that would ask the server.
    var openServerWords: String {
        "profile \"\(name.text)\": any user of this machine could be the server \(serverOrigin), so PAM and --system do not ask it; "
            + "set it to https, or to a port below 1024"
    }
}

extension LoginPolicy {
    /// The limit in force as one sentence, which enrolment prints too.
    var limitWords: String {
        guard isOfflineAllowed else { return "offline logins are not allowed" }
        switch limitMode {
        case .strict: return "wrong password number \(maxLoginAttempts) \(onAttemptsExceeded.words)"
        case .exceeds:
            let verb = maxLoginAttempts == 1 ? "is" : "are"
            return "\(maxLoginAttempts.of("wrong password")) \(verb) tolerated, the next \(onAttemptsExceeded.words)"
        }
    }

    /// Who decided it, where that is not the profile.
    var limitSource: String {
        switch sources[isOfflineAllowed ? .maxLoginAttempts : .offlineAuthAllowed] {
        case .server: " (the server's policy)"
        case .ceiling: " (the most that this machine allows)"
        case .profile, .standard, nil: ""
        }
    }
}

extension LoginAccess {
    /// What is known of the policy of the profile's server; nil where the profile asks for none, or where it cannot be read.
    func knownPolicy(of profile: Profile, _ output: Output) -> ServerPolicy? {
        guard profile.profileURL != nil else { return nil }
        do throws(AuthError) { return try authenticator().knownPolicy(profile) } catch {
            output.notice("what the profile's server said cannot be read: \(Failure(error).message)")
            return nil
        }
    }

    /// Takes away what the profile does not allow to be remembered any more, and says so.
    func deleteDisallowed(_ profile: Profile, _ output: Output) {
        // Nobody is asked there, and nothing remembered.
        guard !isSystem else { return }
        do throws(AuthError) {
            guard try authenticator().deleteDisallowed(profile) else { return }
            output.notice("profile \"\(profile.name.text)\" does not allow any more what was remembered; it is forgotten")
        } catch {
            output.notice(
                "profile \"\(profile.name.text)\" does not allow any more what is remembered, but it could not be removed: "
                    + Failure(error).message)
        }
    }
}

extension Output {
    /// What a person should know about a profile that is valid all the same.
    ///
    /// - Parameter system: Whether it is one of the system store.
    func warn(about profile: Profile, system: Bool) {
        if system, profile.couldAnyUserBeServer { notice(profile.openServerWords) }
        for key in profile.unprotected {
            notice(
                "\(key.rawValue) is http to another machine: it is kept, but a login that would ask it is refused, "
                    + "for the password would go in clear; set it to https")
        }
        if case .unsupported(let type, let grant) = profile.serverKind {
            let what = [type.rawValue, type == .oauth ? grant?.rawValue : nil].compactMap(\.self).joined(separator: ", ")
            notice("\(what): kept, but this version cannot log in there online")
        }
        if profile.effective(.presentClientCertificate) == .bool(true) {
            notice("PresentClientCertificate: kept, but this version sends no client certificate")
        }
        let kept = profile.values.filter {
            $0.value != .bool(false) && $0.key.effect == .acts && profile.effect(of: $0.key) == .none
        }
        .map(\.key.rawValue).sorted()
        if !kept.isEmpty {
            notice("\(kept.joined(separator: ", ")): kept without effect; with OAuth only the user's name is remembered")
        }
        if profile.oauthTokenEndpoint != nil, profile.oauthDiscoveryURL != nil {
            notice(
                "OAuthTokenEndpoint is asked, and oauth_discoveryURL is not, so nothing says where tokens are revoked; unset one")
        }
        if let problem = profile.trustProblem {
            notice("\(problem): no login asks the server before it is a PEM file that only you or root can change, as its folder")
        }
        if case .file(let path)? = profile.oauthClientSecretSource.flatMap(SecretSource.init), access(path, R_OK) != 0 {
            notice("\(path) (OAuthClientSecret) cannot be read: no login asks the server before it can")
        }
        for key in ProfileKey.allCases where profile.source(of: key) == .ceiling {
            notice("\(key.rawValue) is bounded by \(SystemStore.policy)")
        }
    }
}
