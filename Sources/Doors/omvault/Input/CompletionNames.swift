// What a shell offers on Tab: names of items, vaults, levels and algorithms. The generated script calls omvault for them.

internal import ArgumentParser
internal import OMAgent
internal import OMVault

extension CompletionKind {
    /// The items of the vault that the line names, if the agent has it open. Tab never asks for a password.
    static var items: CompletionKind { .custom { words, _, _ in CompletionNames.items(words) } }

    /// The vaults in the user's folder.
    static var vaults: CompletionKind { .custom { _, _, _ in CompletionNames.vaults() } }

    /// The commands, word by word.
    static var commands: CompletionKind { .custom { words, index, _ in CompletionNames.commands(words, index) } }

    static var levels: CompletionKind { .list(["when-unlocked", "after-first-unlock", "always"]) }

    /// - Parameter kinds: as `omvault crypto algs` calls them.
    static func algorithms(_ kinds: String...) -> CompletionKind {
        .custom { _, _, _ in ToolkitName.all.filter { kinds.contains($0.kind) }.map(\.name) }
    }
}

enum CompletionNames {
    /// None after any error: a question or a message would appear in the middle of the user's line.
    ///
    /// - Parameter words: The line so far, with the name of the program.
    static func items(_ words: [String]) -> [String] {
        guard let folders = try? UserFolders(), let location = try? VaultLocation(vault(words), in: folders),
            let paths = VaultPaths(vault: AbsolutePath.absolute(location.path), device: folders.device),
            let socket = try? AgentSocket(Environment.text),
            let answer = try? AgentClient(socket).perform(paths, .items(trashed: false))
        else { return [] }
        guard case .reply(let reply) = consume answer, let items = try? reply.items() else { return [] }
        return items.map(\.name.text).filter(isOffered).map(inShell)
    }

    static func vaults() -> [String] {
        guard let folders = try? UserFolders() else { return [] }
        return VaultList.names(in: folders).filter(isOffered).map(inShell)
    }

    /// The words that can follow those between `manual` and the word that is completed.
    static func commands(_ words: [String], _ index: Int) -> [String] {
        let typed = words.prefix(index).drop { $0 != "manual" }.dropFirst().filter { !$0.hasPrefix("-") }
        var command: any ParsableCommand.Type = CommandTree.self
        for word in typed {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == word }) else { return [] }
            command = next
        }
        return command.configuration.subcommands.map { $0._commandName }
    }

    /// The vault of `--vault`, else of the environment.
    private static func vault(_ words: [String]) -> String? {
        for (index, word) in words.enumerated().reversed() {
            if word.hasPrefix("--vault=") { return String(word.dropFirst("--vault=".count)) }
            if word == "--vault" || word == "-V", index + 1 < words.count { return words[index + 1] }
        }
        return Environment.text("OMVAULT_VAULT")
    }

    /// One line is one name, and a control character would be obeyed by the terminal.
    private static func isOffered(_ name: String) -> Bool { !name.unicodeScalars.contains(where: \.isUnsafeToShow) }

    /// Attack: an item is called `$(rm -r ~)`. Bash expands the words that a script offers, so Tab would run it.
    private static func inShell(_ name: String) -> String {
        CompletionShell.requesting == .bash ? name.asShellWord : name
    }
}
