// What a shell offers on Tab: names of items, vaults, profiles, levels and algorithms. CompletionFields has the names of
// fields and tags.

internal import ArgumentParser
internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMItems
internal import OMShell
internal import OMVault

extension CompletionKind {
    /// The items of the vault that the line names, if the agent has it open. Tab never asks for a password.
    static var items: CompletionKind { .custom { words, _, _ in CompletionNames.items(words) } }

    /// Those and the items in the trash.
    static var itemsAndTrash: CompletionKind {
        .custom { words, _, _ in CompletionNames.items(words, withTrash: true) }
    }

    /// Names that are not read as references: without quotes.
    static var namesOfItems: CompletionKind {
        .custom { words, _, _ in CompletionNames.items(words, asReference: false) }
    }

    /// The client identities of that vault.
    static var identities: CompletionKind { .custom { words, _, _ in CompletionNames.identities(words) } }

    /// The vaults in the user's folder.
    static var vaults: CompletionKind { .custom { _, _, _ in CompletionNames.vaults() } }

    /// The user's profiles.
    static var profiles: CompletionKind { .custom { words, _, _ in CompletionNames.profiles(words) } }

    /// What is known of public login servers.
    static var presets: CompletionKind {
        .custom { _, _, _ in (try? ProfilePresets.read(SystemStore.presets).all.map(\.name)) ?? [] }
    }

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
    /// - Parameters:
    ///   - words: The line so far, with the name of the program.
    ///   - asReference: Whether a name that has a colon gets the quotes that a reference needs.
    static func items(_ words: [String], withTrash: Bool = false, asReference: Bool = true) -> [String] {
        let found = names(words, trashed: false) + (withTrash ? names(words, trashed: true) : [])
        return offered(found.map { asReference ? $0.asReference : $0.text }.filter { asReference || !$0.hasPrefix("-") })
    }

    static func identities(_ words: [String]) -> [String] {
        offered(names(words, trashed: false).compactMap { ClientIdentity.name(of: $0) })
    }

    private static func names(_ words: [String], trashed: Bool) -> [ItemName] {
        switch reply(to: .names(trashed: trashed), words) {
        case .some(let reply): (try? reply.names())?.names ?? []
        case .none: []
        }
    }

    /// What the agent answers about the vault that the line names. Nil if the vault is not open there.
    static func reply(to request: consuming ItemRequest, _ words: [String]) -> ItemReply? {
        guard let folders = try? UserFolders(), let location = try? VaultLocation(vault(words), in: folders),
            let paths = VaultPaths(vault: AbsolutePath.absolute(location.path), device: folders.device),
            let socket = try? AgentSocket(Environment.text), let answer = try? AgentClient(socket).perform(paths, request),
            case .reply(let reply) = consume answer
        else { return nil }
        return reply
    }

    static func vaults() -> [String] {
        guard let folders = try? UserFolders() else { return [] }
        return VaultList.names(in: folders).filter(isOffered).map(inShell)
    }

    static func profiles(_ words: [String]) -> [String] {
        // The system store is for root, and has its own names.
        guard !words.contains("--system"), let folders = try? UserFolders(), let names = try? ProfileFolder(folders).names()
        else { return [] }
        return names.map(\.text).filter(isOffered).map(inShell)
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

    /// Names from outside, each once, as the shell may get them.
    static func offered(_ names: [String]) -> [String] { Set(names).sorted().filter(isOffered).map(inShell) }

    /// One line is one name, and a control character would be obeyed by the terminal.
    private static func isOffered(_ name: String) -> Bool { !name.unicodeScalars.contains(where: \.isUnsafeToShow) }

    /// Attack: an item is called `$(rm -r ~)`. Bash expands the words that a script offers, so Tab would run it.
    private static func inShell(_ name: String) -> String {
        CompletionShell.requesting == .bash ? name.asShellWord : name
    }
}
