internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMVault

/// The logins of this user's home, or of the system.
struct LoginAccess {
    let profiles: ProfileFolder
    /// Nil for the system store.
    private let folders: UserFolders?
    /// One for the whole command, so that it opens the ledger only once.
    private let logins: Authenticator

    init(_ context: CommandContext, system: Bool = false) throws(Failure) {
        if system {
            folders = nil
            do throws(AuthError) {
                (profiles, logins) = (try SystemStore.profileFolder(), try SystemStore.authenticator().keepingLedger())
            } catch { throw Failure(error) }
        } else {
            let folders = try context.userFolders()
            profiles = try ProfileFolder(folders)
            logins = Authenticator(stateFolder: folders.state, deviceFolder: folders.device).keepingLedger()
            self.folders = folders
        }
    }

    /// What there is to read of the profile now. Nil for the system store, and if it cannot be read.
    func reading(of profile: ProfileName) -> ProfileReading? { folders?.reading(ofProfile: profile.text) }

    var isSystem: Bool { folders == nil }
    /// What a hint's command needs to mean this store.
    var systemOption: String { isSystem ? " --system" : "" }

    /// The name of a login for the agent. Nil for the system store, and if a name is too long for the agent.
    func agentLogin(_ key: LoginKey) -> LoginReference? {
        folders.flatMap { LoginReference(state: $0.state, device: $0.device, key: key) }
    }

    /// Whether a session belongs to this home.
    func owns(_ login: LoginReference) -> Bool { folders?.state == login.state && folders?.device == login.device }

    func authenticator(_ parameters: Argon2id.Parameters = .standard) -> Authenticator {
        logins.stretching(with: parameters)
    }

    /// Names the damaged ledgers that were set aside. Removing a login does not delete its data in them, and the user may
    /// expect that it does.
    func noticeDamagedLedgers(_ output: Output, except renamed: DamagedFile? = nil) {
        for path in damagedLedgers() where path != renamed?.path {
            output.notice("a damaged ledger is still there: \(path.shown); \(DamagedFile.warning)")
        }
    }

    /// The ledgers that were set aside. An error while listing them is ignored.
    func damagedLedgers() -> [String] { (try? authenticator().damagedLedgers()) ?? [] }

    /// The login that a vault's slot is for. Nil if the ledger does not know it.
    func owner(of slot: KeySlot) throws(Failure) -> LoginOwner? {
        guard let id = slot.login else { return nil }
        do throws(AuthError) { return try authenticator().owner(of: id) } catch { throw Failure(error) }
    }

    /// Logs in to get the key of a slot. This is a login like any other: the profile's mode decides whether the server is asked,
    /// and a wrong password is counted.
    ///
    /// - Throws: Also ``ExitStatus/noOffline``, for a login that succeeded but has no key for a slot.
    func check(
        _ user: UserName, under profile: ProfileName, domain: IdentityDomain = .none,
        _ secrets: borrowing SecretSources, option: String, _ context: CommandContext
    ) throws(Failure) -> VerifiedLogin {
        do {
            let policy = try profiles.profile(profile)
            let request = LoginRequest(user, policy, domain: domain)
            let flow = try LoginFlow(policy, request.mode, in: self, context)
            let password = try secrets.readLoginPassword(option, prompt: "Password of \(user.text), profile \(profile.text)")
            let receipt = try flow.attempt(request, password)
            // Unlocking needs no session.
            flow.agent.drop(receipt, request, flow.provider)
            let mode = receipt.details.mode
            guard let login = receipt.takeLogin() else { throw Self.nothingToUnlock(mode) }
            return login
        } catch {
            let named = AskedLogin(profileName: profile, user: user, domain: domain == .none ? nil : domain, mode: nil)
            throw withNames(Failure(anyError: error), named)
        }
    }

    static func nothingToUnlock(_ mode: LoginDetails.Mode) -> Failure {
        var why = ""
        if case .online(let reason?) = mode { why = ": \(Failure(reason).message)" }
        return Failure(
            .noOffline, "the server let the user in, but no cached credential can open a slot\(why)",
            hint: "unlock another way, with the vault's password or the recovery code")
    }

    /// - Parameter name: Nil for the only profile. If there are several, nil means the SDK's default name, which a configuration
    ///   URL without a name gets.
    func profileName(_ name: String?) throws -> ProfileName {
        if let name { return try ProfileName(name) }
        let names = try profiles.names()
        if names.count > 1, let standard = names.first(where: { $0.text == ConfigurationURL.defaultName }) { return standard }
        guard names.count == 1 else {
            throw Failure(
                .usage, names.isEmpty ? "there is no profile yet" : "there are \(names.count) profiles",
                hint: names.isEmpty
                    ? "omvault profile set NAME OfflineAuthAllowed=true\(systemOption)"
                    : "choose one with --profile NAME; omvault profile ls\(systemOption) lists them")
        }
        return names[0]
    }
}

extension LoginAccess {
    /// The domain that was given, else the profile's own.
    static func identityDomain(_ domain: String?, _ profile: Profile) throws -> IdentityDomain {
        if let domain { return try IdentityDomain(domain) }
        // Without its domain the login would be a different user's.
        guard profile.collectIdentityDomain, profile.domain == .none else { return profile.domain }
        throw Failure(
            .inputRequired, "the profile \"\(profile.name.text)\" needs the user's identity domain",
            hint: "give --domain DOMAIN"
        )
        .with(sdkCode: 10037)
    }
}
