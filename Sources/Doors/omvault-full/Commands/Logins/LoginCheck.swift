internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMSecrets

/// `omvault login check`: checks a password, and keeps no session.
struct LoginCheck: Verb {
    enum Mode: String, CaseIterable, ExpressibleByArgument {
        case auto, online, offline

        var connectivity: ConnectivityMode {
            switch self {
            case .auto: .auto
            case .online: .online
            case .offline: .offline
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a user's password.",
        discussion: """
            With online only the profile's server checks the password. With offline the cached credential checks it, and omvault
            makes no connection. With auto it is the server, or the cached credential if the server cannot be reached. A login
            online renews the cached credential, if the profile allows one.

            Prints "granted ..." or "denied ...". The exit code says the same: 0 granted, 20 wrong password, 21 too early, 22 locked
            or blocked, 23 wiped, 24 nothing cached or expired, 30 damaged, 31 put back from a copy, 50 server not reached, 51 the
            server does not let the user in, 52 the server gave no verdict or is not trusted. attempts_left is how many more wrong
            passwords are allowed; the next one after them exceeds the limit.

              omvault login check ada --profile work
              omvault login check ada --profile work --mode offline
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var login: LoginOptions
    @OptionGroup var stretch: StretchOptions

    @Option(help: ArgumentHelp("Where the password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: "auto, online or offline; the profile's ConnectivityMode if not given.")
    var mode: Mode?

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: login.system)
        let user = try UserName(login.user)
        var asked = AskedLogin(
            profileName: try access.profileName(login.profile), user: user, mode: mode?.connectivity)
        do {
            let profile = try access.profiles.profile(asked.profileName)
            let request = LoginRequest(
                user, profile, domain: try login.identityDomain(profile), mode: mode?.connectivity)
            asked.take(request)
            let flow = try LoginFlow(
                profile, request.mode, in: access, context, stretch: try stretch.parameters(),
                passwords: ["--password-from": passwordFrom])
            let password = try flow.secrets.readLoginPassword("--password-from", prompt: "Password of \(user.text)")
            let receipt = try flow.attempt(request, password)
            try LoginReport(context.output).granted(receipt)
            flow.agent.drop(receipt, request, flow.provider)
        } catch { throw try access.denied(asked, error, context.output) }
    }
}
