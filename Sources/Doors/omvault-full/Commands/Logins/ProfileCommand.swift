internal import ArgumentParser
internal import Glibc
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile",
        abstract: "Set how logins are checked, and by which server.",
        discussion: """
            A profile is a set of keys and values. The keys are those of Oracle's IDM Mobile SDK, and some of ours;
            docs/reference/profiles.md lists them.
            """,
        subcommands: [
            ProfileImport.self, ProfileSet.self, ProfileDiscover.self, ProfilePresetCommand.self, ProfileShow.self,
            ProfileRefresh.self, ProfileList.self, ProfileRemove.self,
        ])
}

/// The profiles of this user's home, within the administrator's limits.
extension ProfileFolder {
    init(_ folders: UserFolders) throws(Failure) {
        do throws(AuthError) {
            self.init(folders.profiles, ceiling: try PolicyCeiling.read(SystemStore.policy))
        } catch { throw Failure(error) }
    }
}

/// `omvault profile set`: adds or changes values. If one value is not valid, nothing is written.
struct ProfileSet: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set values of a profile; makes the profile if it is not there.",
        discussion: """
            The keys are those of Oracle's IDM Mobile SDK, and some of ours; docs/reference/profiles.md lists them. OfflineAuthAllowed: true or
            false. MaxLoginAttempts: how many wrong passwords are allowed, 1 to 1000. OnAttemptsExceeded: wipe or lockout.
            CryptoScheme: one of the SDK's twelve. OfflineCredentialMaxAge: seconds, 0 for never. AuthServerType, LoginURL and so on
            name a server.

            A secret is never a value: give its source, file:/PATH or cred:NAME. With ProfileURL omvault first fetches the server's
            policy; if that fails, it keeps nothing. ServerURL, the address of an omvault server, sets all keys that a login there needs.

              omvault profile set work ServerURL=https://vault.example.org
              omvault profile set work OfflineAuthAllowed=true MaxLoginAttempts=5 OnAttemptsExceeded=wipe
              omvault profile set work AuthServerType=HTTPBasicAuthentication LoginURL=https://id.example.org/login \\
                  LogoutURL=https://id.example.org/logout
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.", completion: .profiles)
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
            throw Failure(.usage, "no values given", hint: "omvault profile set --help")
        }
        let typed = try ProfileChanges.typed(values, hint: "omvault profile set --help")
        let access = try LoginAccess(context, system: system), name = try ProfileName(name)
        let changes = ProfileChanges(name: name, values: try OmvaultServer.expand(typed, for: name), unset: unset)
        try changes.save(access, fetchesPolicy: !policy.noFetch, context.output)
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

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let names = try LoginAccess(context, system: system).profiles.names().map(\.text)
        // A list of names in a document, which has been so since the first version; an object on each line of jsonl.
        if context.output.isOneDocument {
            var document = JSONDocument()
            document.field("profiles", .list(names.map { .text($0) }))
            return try context.output.document(document)
        }
        try context.output.list(
            "profiles", names, columns: ["PROFILE"], row: { [$0] },
            object: { name, entry in entry.field("profile", .text(name)) })
    }
}

/// `omvault profile rm`: removes a profile. Its offline logins are refused then.
struct ProfileRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove a profile.",
        discussion: """
            Credentials that are cached under it stay, and their logins are refused while there is no profile of this name; 'omvault
            login rm' removes them. omvault forgets what it knows of the server's policy and endpoints.

              omvault profile rm work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    @Flag(help: systemStoreHelp)
    var system = false

    func run(_ context: CommandContext) throws {
        let name = try ProfileName(name)
        let access = try LoginAccess(context, system: system), folder = access.profiles
        guard try folder.names().contains(name) else { throw AuthError.unknownProfile(name) }
        try context.confirm("Remove the profile \"\(name.text)\"? After that, its logins are refused.")
        let profile = try? folder.profile(name)
        try folder.remove(name)
        access.deleteOutdated(name, now: nil, context.output)
        if profile?.oauthClientSecretSource == ClientOfProfile.secretPlace(of: name) {
            context.output.notice("its client stays registered at the server: omvault client rm \(name.text.asShellWord)")
        }
        if let profile, profile.serverKind.isThere {
            do throws(AuthError) { try access.authenticator().deleteStoredPolicy(of: profile) } catch {
                context.output.notice("the known policy of its server could not be deleted: \(Failure(error).message)")
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

    /// Why the profile's grant must not be used (RFC 9700). Nil for every other grant.
    var unsafeGrantWords: String? {
        let reason: String
        switch serverKind {
        case .oauthBrowser where isImplicit: reason = "the browser keeps the token in its history; each login needs --insecure"
        case .oauthResourceOwner: reason = "the client sees the password; OAuthAuthorizationCode and OAuthDeviceCode hide it"
        default: return nil
        }
        return "\(oauthGrant?.rawValue ?? ""): RFC 9700 says that this grant must not be used, because \(reason)"
    }
}

extension LoginPolicy {
    /// The limit in force, in words. `login enroll` and `login unlock` print it too.
    var limitWords: String {
        guard isOfflineAllowed else { return "offline logins are not allowed" }
        switch limitMode {
        case .strict: return "wrong password number \(maxLoginAttempts) \(onAttemptsExceeded.words)"
        case .exceeds:
            let inARow = maxLoginAttempts == 1 ? "" : " in a row"
            return "after \(maxLoginAttempts.of("wrong password"))\(inARow), the next wrong one \(onAttemptsExceeded.words)"
        }
    }

    /// The source of the limit, if it is not the profile.
    var limitSource: String {
        switch sources[isOfflineAllowed ? .maxLoginAttempts : .offlineAuthAllowed] {
        case .server: " (the server's policy)"
        case .ceiling: " (the most that this machine allows)"
        case .profile, .standard, nil: ""
        }
    }
}

extension LoginAccess {
    /// The known policy of the profile's server. Nil if the profile names no policy, or if it cannot be read.
    func knownPolicy(of profile: Profile, _ output: Output) -> ServerPolicy? {
        known(of: profile, output).policy
    }

    /// The known policy and its age.
    func known(of profile: Profile, _ output: Output) -> ServerDocument {
        guard profile.hasServerPolicy else { return ServerDocument() }
        do throws(AuthError) { return try authenticator().known(of: profile) } catch {
            output.notice("the known policy of the profile's server cannot be read: \(Failure(error).message)")
            return ServerDocument()
        }
    }

    /// Deletes tokens that were kept under a profile before it was changed, and says so.
    ///
    /// - Parameter profile: As it is now. Nil if it was removed.
    func deleteOutdated(_ name: ProfileName, now profile: Profile?, _ output: Output) {
        guard !isSystem else { return }
        comparing(name, output) { () throws(AuthError) in
            let count = try authenticator().deleteOutdated(name, now: profile)
            guard count > 0 else { return }
            output.notice(
                "profile \"\(name.text)\" was changed, so \(count.of("kept session")) of it \(count == 1 ? "was" : "were") deleted; "
                    + "tokens that no agent has live on at the server")
        }
    }

    private func comparing(_ name: ProfileName, _ output: Output, _ body: () throws(AuthError) -> Void) {
        do throws(AuthError) { try body() } catch {
            output.notice(
                "the remembered data of profile \"\(name.text)\" could not be compared with the profile: "
                    + Failure(error).message)
        }
    }

    /// Deletes remembered data that the profile no longer allows, and says so.
    func deleteDisallowed(_ profile: Profile, _ output: Output) {
        // The system store remembers nothing.
        guard !isSystem else { return }
        comparing(profile.name, output) { () throws(AuthError) in
            let isDeleted = try authenticator().deleteDisallowed(profile)
            // After the other: a ledger that cannot be read is named once.
            deleteOutdated(profile.name, now: profile, output)
            guard isDeleted else { return }
            output.notice("profile \"\(profile.name.text)\" no longer allows the remembered data; it was deleted")
        }
    }
}

extension Output {
    /// Warnings about a valid profile.
    ///
    /// - Parameter system: Whether it is a profile of the system store.
    func warn(about profile: Profile, system: Bool) {
        if system, profile.couldAnyUserBeServer { notice(profile.openServerWords) }
        for key in profile.unprotected {
            notice(
                "\(key.rawValue) is http to another machine: it is saved, but logins that need it are refused, because the "
                    + "password would be sent unencrypted; set it to https")
        }
        if profile.needsOracleServer {
            notice("saved, but \(Failure.oracleWords)")
        } else if case .unsupported(let type, let grant) = profile.serverKind {
            let what = [type.rawValue, type == .oauth ? grant?.rawValue : nil].compactMap(\.self).joined(separator: ", ")
            notice("\(what): saved, but this version cannot log in there online")
        }
        if profile.isImplicit, let words = profile.unsafeGrantWords { notice(words) }
        if profile.presentsClientCertificate, profile.clientCertificate == nil {
            notice("ClientCertificate is not set, so each login asks which identity to show")
        }
        let unused = profile.values.filter {
            $0.value != .bool(false) && $0.key.effect == .acts && profile.effect(of: $0.key) == .none
        }
        .map(\.key)
        if unused.contains(.presentClientCertificate) {
            notice(
                "PresentClientCertificate: saved, but without effect; only HTTP Basic and OAuth show a certificate beside the rest"
            )
        }
        let remembering: Set<ProfileKey> = [
            .autoLoginAllowed, .autoLoginDefault, .rememberCredentialsAllowed, .rememberCredentialsDefault,
            .keychainDataProtection,
        ]
        let isBound = profile.senderConstraint == .dpop
        if isBound, [.oauthClientCredentials, .oauthTokenExchange].contains(profile.serverKind) {
            notice("OAuthSenderConstraint: with this grant no session keeps the key of the tokens, so omvault gives none")
        }
        let ofKey: Set<ProfileKey> = isBound ? [.rememberTokens] : []
        for (keys, reason) in [
            (ofKey.intersection(unused), "the tokens are bound to a key, which the ledger does not keep"),
            (remembering.intersection(unused), "with OAuth only the user name is remembered"),
            (
                Set(unused).intersection([.openIDConnectDiscoveryURL]),
                "OpenIDConnectConfiguration is used in its place; unset one of them"
            ),
            (
                Set(unused).subtracting(remembering).subtracting(ofKey).subtracting([
                    .presentClientCertificate, .openIDConnectDiscoveryURL,
                ]),
                "its server has no use for it"
            ),
        ] where !keys.isEmpty {
            notice("\(keys.map(\.rawValue).sorted().joined(separator: ", ")): saved, but without effect; \(reason)")
        }
        if profile.oauthTokenEndpoint != nil, profile.oauthDiscoveryURL != nil {
            notice(
                "OAuthTokenEndpoint is used and oauth_discoveryURL is not, so no address for revoking tokens is known; unset one")
        }
        if profile.serverKind != .oauthBrowser, !profile.serverKind.isOfForeignToken,
            profile.oauthTokenEndpoint != nil || profile.oauthDiscoveryURL == nil, profile.bindsEndpoints,
            !profile.clientProof.mayAssert
        {
            notice("OAuthIssuer and OAuthEndpointOrigins have no effect, because no document names the endpoints")
        }
        if let problem = profile.trustProblem {
            notice(
                "\(problem): no login asks the server until it is a PEM file, and only you or root can change the file and its "
                    + "folder")
        }
        if let client = profile.oauthClientSource, case .file(let path)? = SecretSource(client.source), access(path, R_OK) != 0 {
            notice("\(path) (\(client.key.rawValue)) cannot be read: no login asks the server until it can be read")
        }
        for key in ProfileKey.allCases where profile.source(of: key) == .ceiling {
            notice("\(key.rawValue) is limited by \(SystemStore.policy)")
        }
    }
}
