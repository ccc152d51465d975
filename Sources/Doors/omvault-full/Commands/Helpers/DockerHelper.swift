internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMJSON
internal import OMSecrets
internal import OMShell

/// `omvault helper docker`: a credential helper of docker, also under the name that docker looks for.
struct DockerHelper: Verb {
    static let configuration = CommandConfiguration(
        commandName: "docker",
        abstract: "A credential helper of docker.",
        discussion: """
            docker starts the program docker-credential-NAME. So make a link of that name to omvault, and name the profile in
            OMVAULT_DOCKER_PROFILE. get prints the access token as the password of the session's user; for a registry that is not in
            RESTOrigins, and without a session, it says that there are no credentials. list prints the registries and the user,
            without a token. store does nothing. After erase the agent gets another token for the next get.

              ln -s "$(command -v omvault)" ~/bin/docker-credential-omvault
              omvault helper docker --profile work list
            """)

    /// The variable that names the profile, when the program is started under docker's name.
    static let profileVariable = "OMVAULT_DOCKER_PROFILE"

    @OptionGroup var global: GlobalOptions

    @OptionGroup var options: HelperOptions

    @Argument(help: "get, list, store or erase. docker gives it.")
    var action: String

    func run(_ context: CommandContext) throws {
        switch action {
        case "get": try get(context)
        case "list": try list(context)
        // docker has written the credential. It is not needed here.
        case "store": _ = try HelperInput.read("docker")
        case "erase":
            let token = try HelperToken(options, context)
            if let server = try Self.registry()?.server, token.isFor(server) { try token.forget(nil) }
        default: throw Failure(usage: "docker gives get, list, store or erase, and not \"\(action)\"")
        }
    }

    private func get(_ context: CommandContext) throws {
        let registry = try Self.registry()
        let token = try HelperToken(options, context)
        guard let registry, token.isFor(registry.server), try token.user() != nil else {
            // docker compares these words.
            try StandardOutput.write("credentials not found in native keychain\n")
            throw AlreadyReported(status: .general)
        }
        let found = try token.get()
        var answer = SecretBuffer(capacity: 4096)
        let start = #"{"ServerURL":\#(JSONText.quoted(registry.text)),"Username":\#(JSONText.quoted(found.user.text)),"Secret":""#
        try found.token.append(to: &answer, before: start, after: "\"}\n", escaping: "\"\\")
        try context.output.writeSecret(answer.finish())
    }

    private func list(_ context: CommandContext) throws {
        let token = try HelperToken(options, context)
        let user = try token.user()
        let rows = user.map { user in
            token.profile.restOrigins.map { "\(JSONText.quoted($0.shortOrigin)):\(JSONText.quoted(user.text))" }
        }
        try StandardOutput.write("{\((rows ?? []).joined(separator: ","))}\n")
    }

    /// The registry that docker names: an address, or a host with perhaps a port. Nil if it is neither.
    private static func registry() throws(Failure) -> (text: String, server: ServerURL)? {
        let bytes = try HelperInput.read("docker")
        let read = bytes.withBytes { bytes -> String? in
            guard let text = try? UTF8Span(validating: bytes) else { return nil }
            return String(copying: text)
        }
        guard let read, read.utf8.allSatisfy({ $0 != 0 && $0 != UInt8(ascii: "\r") }) else {
            throw Failure(
                .usage, "the request of docker has a NUL, a carriage return or no UTF-8",
                hint: "docker starts this command itself")
        }
        let text = read.hasSuffix("\n") ? String(read.dropLast()) : read
        if text.contains("://") { return ServerURL(text).map { (text, $0) } }
        guard let server = ServerURL("https://\(text)") else { return nil }
        // docker asks a registry on this machine without TLS.
        return (text, server.isLoopback ? ServerURL("http://\(text)") ?? server : server)
    }

    /// The arguments, if the program was started under docker's name for it.
    ///
    /// - Throws: ``ExitStatus/usage`` if the variable with the profile is not set.
    static func arguments(_ typed: [String]) throws(Failure) -> [String] {
        guard ProcessStart.isOfDocker else { return typed }
        guard let profile = Environment.text(profileVariable) else {
            throw Failure(
                .usage, "\(profileVariable) is not set", hint: "export \(profileVariable)=NAME, with the name of the profile")
        }
        return ["helper", "docker", "--profile=\(profile)"] + typed
    }
}
