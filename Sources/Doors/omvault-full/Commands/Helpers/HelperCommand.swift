internal import ArgumentParser

struct HelperCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "helper",
        abstract: "Answer git, gpg, kubectl, docker, ssh, sudo.",
        discussion: """
            git, kubectl and docker start a helper when a server wants a credential. With --profile the helper answers with the
            access token of a session, as 'omvault token get' does, and only for the servers in RESTOrigins of the profile. Without
            that key it answers only for the profile's own server. For git without --profile, and for askpass, the vault has the
            passwords.

              git config --global credential.helper '!omvault helper git'
              git config --global credential.https://git.example.org.helper '!omvault helper git --profile work'
            """,
        subcommands: [
            GitHelper.self, AskpassHelper.self, PinentryHelper.self, KubectlHelper.self, DockerHelper.self, SSHAgentHelper.self,
        ])
}
