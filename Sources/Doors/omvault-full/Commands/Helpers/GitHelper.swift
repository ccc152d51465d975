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
            git starts this command with get, store or erase, and writes what it knows. get answers with the access token as the
            password, and when it ends. A git that knows other schemes (2.46) gets it as Bearer too. For a server that is not in
            RESTOrigins nothing is printed, so git asks the next helper. store does nothing. After erase the agent gets another
            token for the next get.

              git config --global credential.https://git.example.org.helper '!omvault helper git --profile work'
              omvault helper git --profile work get
            """)

    @OptionGroup var global: GlobalOptions

    @OptionGroup var options: HelperOptions

    @Argument(help: "get, store or erase. git gives it; any other word does nothing.")
    var action: String

    func run(_ context: CommandContext) throws {
        guard ["get", "erase"].contains(action) else { return }
        let request = try GitRequest(HelperInput.read("git"))
        let token = try HelperToken(options, context)
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
}
