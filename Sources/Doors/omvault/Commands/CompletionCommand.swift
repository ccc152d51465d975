internal import ArgumentParser

/// `omvault completion`: the script that a shell reads once to complete omvault's words.
struct CompletionCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the script that completes words in a shell.",
        discussion: """
            Tab then completes commands, options, levels, algorithms and the names of vaults. It completes the names of items
            while the agent has the vault open; it never asks for a password.

              omvault completion bash > ~/.local/share/bash-completion/completions/omvault
              omvault completion zsh > ~/.zfunc/_omvault
              omvault completion fish > ~/.config/fish/completions/omvault.fish
            """)

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The shell.")
    var shell: Shell

    func run(_ context: CommandContext) throws {
        let script =
            switch shell {
            case .bash: CommandTree.completionScript(for: .bash)
            case .zsh: CommandTree.completionScript(for: .zsh)
            case .fish: CommandTree.completionScript(for: .fish)
            }
        try StandardOutput.write(script + "\n")
    }
}
