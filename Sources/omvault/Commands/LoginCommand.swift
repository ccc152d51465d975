internal import ArgumentParser
internal import OMAuth
internal import OMSecrets
internal import OMVault

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Check logins against cached credentials; wrong guesses are counted.",
        subcommands: [LoginCheck.self, LoginEnroll.self, LoginStatusCommand.self, LoginRemove.self])
}

/// Which login a verb is about.
struct LoginOptions: ParsableArguments {
    @Argument(help: "The user's name.")
    var user: String

    @Option(help: ArgumentHelp("The profile; the only one there is, if not given.", valueName: "name"))
    var profile: String?

    @Flag(help: systemStoreHelp)
    var system = false
}

let systemStoreHelp: ArgumentHelp =
    "The store that PAM asks, in /var/lib/omvault and /etc/omvault: root only, and no variable is read."

/// The logins of this user's home, or of the system.
struct LoginAccess {
    let profiles: ProfileFolder
    /// nil: the system store.
    private let home: Home?

    init(_ door: Door, system: Bool = false) throws(Failure) {
        if system {
            home = nil
            do throws(AuthError) { profiles = try SystemStore.profileFolder() } catch { throw Failure(error) }
        } else {
            let home = try door.home()
            profiles = try ProfileFolder(home)
            self.home = home
        }
    }

    var isSystem: Bool { home == nil }

    func authenticator(_ parameters: Argon2id.Parameters = .standard) throws(AuthError) -> Authenticator {
        guard let home else { return try SystemStore.authenticator(parameters) }
        return Authenticator(stateFolder: home.state, deviceFolder: home.device, parameters: parameters)
    }

    /// The login that a vault's slot is for; nil when the ledger does not know it.
    func owner(of slot: KeySlot) throws(Failure) -> LoginOwner? {
        guard let id = slot.login else { return nil }
        do throws(AuthError) { return try authenticator().owner(of: id) } catch { throw Failure(error) }
    }

    /// Checks a login for what it unlocks; a wrong password is counted as any.
    func check(
        _ user: UserName, _ profile: ProfileName, _ secrets: borrowing SecretSources, _ option: String
    ) throws(Failure) -> VerifiedLogin {
        let policy = try run { () throws(AuthError) in try profiles.profile(profile) }
        // Before anybody types a password that could not be used.
        guard policy.offlineAuthAllowed else { throw Failure(AuthError.offlineNotAllowed) }
        let prompt = "Password of \(user.text), profile \(profile.text)"
        let password = try secrets.readPassword(option, prompt: prompt)
        return try run { () throws(AuthError) in try authenticator().check(user, policy, password: password) }
    }

    private func run<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(Failure) -> R {
        do throws(AuthError) { return try body() } catch { throw Failure(error) }
    }

    /// - Parameter name: nil for the only profile there is.
    func profileName(_ name: String?) throws -> ProfileName {
        if let name { return try ProfileName(name) }
        let names = try profiles.names()
        guard names.count == 1 else {
            throw Failure(
                .usage, names.isEmpty ? "there is no profile yet" : "there are \(names.count) profiles",
                hint: names.isEmpty ? "omvault profile set NAME OfflineAuthAllowed=true" : "name one with --profile")
        }
        return names[0]
    }
}

/// `omvault login check`: granted or denied, and nothing else.
struct LoginCheck: Verb {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case auto, online, offline
    }

    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a user's password.",
        discussion: """
            Prints "granted ..." or "denied ..." and says the same in its exit code: 0 granted, 20 wrong password, 22
            locked, 23 wiped, 24 nothing cached or expired, 30 damaged, 31 put back from a copy. attempts_left is how
            many more wrong passwords are tolerated; the wrong one after them exceeds the limit.

              omvault login check ada --profile work --mode offline
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions

    @Option(help: ArgumentHelp("Where the password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: "offline, or auto, which is offline while a profile can name no server.")
    var mode = Mode.auto

    func run(_ door: Door) throws {
        guard mode != .online else {
            throw Failure(.unsupported, "this version has no online login", hint: "--mode offline")
        }
        let access = try LoginAccess(door, system: login.system)
        let user = try UserName(login.user)
        let name = try access.profileName(login.profile)
        let secrets = try SecretSources(door, ["--password-from": passwordFrom])
        do {
            let profile = try access.profiles.profile(name)
            // Before anybody types a password that could not be used.
            guard profile.offlineAuthAllowed else { throw AuthError.offlineNotAllowed }
            let password = try secrets.readPassword("--password-from", prompt: "Password of \(user.text)")
            let granted = try access.authenticator().check(user, profile, password: password)
            try report(granted, door)
        } catch let error as AuthError {
            try report(error, user, name, door)
            throw Failure(error)
        }
    }

    private func report(_ login: borrowing VerifiedLogin, _ door: Door) throws(Failure) {
        if login.isDegraded {
            door.output.notice("the password was right, but its charge could not be taken back: is the disk full?")
        }
        if login.clockIsBehind {
            door.output.notice("the clock is behind what this login has seen; it is not believed")
        }
        if login.expiresSoon, let expires = login.expires {
            door.output.notice("the cached credential expires at \(Timestamp.text(expires))")
        }
        guard door.output.format == .json else {
            return try door.output.line(
                "granted offline user=\(login.user.text.asWord) profile=\(login.profile.text) age=\(login.age)")
        }
        var document = JSONDocument()
        document.field("result", .text("granted"))
        document.field("mode", .text("offline"))
        document.field("user", .text(login.user.text))
        document.field("profile", .text(login.profile.text))
        document.field("age", .number(Int(login.age)))
        document.field("expires", login.expires.map { .text(Timestamp.text($0)) } ?? .null)
        document.field("degraded", .flag(login.isDegraded))
        try door.output.document(document)
    }

    /// The verdict as data; the sentence for the person follows on standard error.
    private func report(_ error: AuthError, _ user: UserName, _ profile: ProfileName, _ door: Door) throws(Failure) {
        guard door.output.format == .json else {
            if case .wrongPassword(let left, _) = error { return try door.output.line("denied attempts_left=\(left)") }
            return try door.output.line("denied reason=\(error.name)")
        }
        var document = JSONDocument()
        document.field("result", .text("denied"))
        document.field("reason", .text(error.name))
        document.field("mode", .text("offline"))
        document.field("user", .text(user.text))
        document.field("profile", .text(profile.text))
        switch error {
        case .wrongPassword(let left, let consequence):
            document.field("attempts_left", .number(left))
            document.field("on_exceeded", .text(consequence.rawValue))
        case .attemptsExceeded(let isErased, _), .wiped(let isErased):
            document.field("attempts_left", .number(0))
            document.field("erased", .flag(isErased))
        case .lockedOut: document.field("attempts_left", .number(0))
        default: break
        }
        try door.output.document(document)
    }
}
