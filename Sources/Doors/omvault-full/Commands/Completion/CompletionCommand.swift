internal import ArgumentParser
internal import OMShell

/// `omvault completion`: the script that a shell reads once to complete omvault's words.
struct CompletionCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the script that completes words in a shell.",
        discussion: """
            Tab then completes commands, options, files, levels, algorithms, sources of secrets and the names of vaults and
            profiles. While the agent has the vault open, it completes the names of items, fields and tags too; it never asks for a
            password.

              omvault completion bash > ~/.local/share/bash-completion/completions/omvault
              omvault completion zsh > ~/.zfunc/_omvault
              omvault completion fish > ~/.config/fish/completions/omvault.fish
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The shell.")
    var shell: CompletingShell

    func run(_ context: CommandContext) throws { try StandardOutput.write(shell.script) }
}
