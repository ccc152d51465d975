internal import ArgumentParser

struct HelperCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "helper",
        abstract: "Answer git, kubectl, docker and ssh.",
        discussion: """
            git, kubectl and docker start a helper when a server wants a credential. The helper answers with the access token of a session,
            as 'omvault token get' does, and only for the servers in RESTOrigins of the profile. Without that key it answers only
            for the profile's own server.

              git config --global credential.https://git.example.org.helper '!omvault helper git --profile work'
            """,
        subcommands: [GitHelper.self, KubectlHelper.self, DockerHelper.self, SSHAgentHelper.self])
}
