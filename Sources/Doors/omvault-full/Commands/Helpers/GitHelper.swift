internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// `omvault helper git`: a credential helper of git.
struct GitHelper: Verb {
    static let configuration = CommandConfiguration(
        commandName: "git",
        abstract: "A credential helper of git.",
        discussion: """
            git starts this command with get, store or erase, and writes what it knows. Without --profile the passwords are those of
            items whose shown field url has exactly the scheme, the host and the port. store keeps a password that git got elsewhere,
            as an item with the tag git-credential. erase moves such an item to the trash, if it has the password that the server
            refused. An item of yours is never changed or removed. store and erase never ask for the vault's password.

            With --profile, get answers with the access token as the password, and when it ends. A git that knows other schemes
            (2.46) gets it as Bearer too. For a server that is not in RESTOrigins nothing is printed, so git asks the next helper.
            store does nothing. After erase the agent gets another token for the next get.

              git config --global credential.helper '!omvault helper git'
              git config --global credential.https://git.example.org.helper '!omvault helper git --profile work'
              omvault helper git --profile work get
            """)

    @OptionGroup var global: GlobalOptions

    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("Give the access token of this profile's session.", valueName: "name"), completion: .profiles)
    var profile: String?

    @OptionGroup var session: SessionUserOptions

    @Argument(help: "get, store or erase. git gives it; any other word does nothing.")
    var action: String

    func validate() throws {
        guard profile == nil else { return }
        if session.user != nil || session.domain != nil {
            throw ValidationError("--user and --domain choose a session: give --profile too")
        }
    }

    func run(_ context: CommandContext) throws {
        guard let profile else { return try passwords() }
        guard ["get", "erase"].contains(action) else { return }
        let request = try GitRequest(HelperInput.read("git"))
        let token = try HelperToken(profile, session, context)
        guard let server = request.server, token.isFor(server) else { return }
        guard action == "get" else { return try token.forget(request.password?.duplicate()) }
        let found = try token.get()
        var answer = SecretBuffer(capacity: 4096)
        if request.knowsSchemes {
            let start = "capability[]=authtype\nauthtype=Bearer\ncredential="
            try found.token.append(to: &answer, before: start, after: "\nephemeral=1\n")
        }
        // Many servers take any name, and some a certain one. The address, or credential.username, can have that one.
        let user = request.user ?? found.user.text
        let end = found.token.end.map { "password_expiry_utc=\($0)\n" } ?? ""
        try found.token.append(to: &answer, before: "username=\(user)\npassword=", after: "\n" + end)
        try context.output.writeSecret(answer.finish())
    }

    /// git calls store and erase after each command. So only get may ask.
    private func passwords() throws {
        guard ["get", "store", "erase"].contains(action) else { return }
        let request = try GitRequest(HelperInput.read("git"))
        var global = global
        if action != "get" || Environment.text("GIT_TERMINAL_PROMPT") == "0" { global.noInput = true }
        let passwords = GitPasswords(context: try CommandContext(global), unlock: unlock)
        switch action {
        case "get": try passwords.get(request)
        case "store": try passwords.store(request)
        default: try passwords.erase(request)
        }
    }
}
