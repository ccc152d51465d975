// The two most frequent commands, answered before ArgumentParser reads the command tree. That would take half of their time.

internal import ArgumentParser
internal import OMAgent
internal import OMSecrets
internal import OMVault

/// `get ITEM:FIELD` or `get ITEM` into a pipe, and `status`, both with or without `--vault NAME`.
enum FastPath {
    /// - Returns: Whether it was answered. If not, the usual way follows, which has a message for each error.
    static func answer(to arguments: [String]) throws -> Bool {
        var words = arguments[...]
        let vault = takeVault(&words) ?? Environment.text("OMVAULT_VAULT")
        guard vault?.hasPrefix("-") != true, !StandardOutput.isTerminal, Environment.text("OMVAULT_FORMAT") == nil
        else { return false }
        switch words.first {
        case "get" where words.count == 2: return try get(words[words.startIndex + 1], vault)
        case "status" where words.count == 1:
            return try status(vault)
        default: return false
        }
    }

    private static func takeVault(_ words: inout ArraySlice<String>) -> String? {
        guard words.count > 2, words.first == "--vault" || words.first == "-V" else { return nil }
        words = words.dropFirst()
        return words.popFirst()
    }

    private static func get(_ text: String, _ vault: String?) throws -> Bool {
        guard !text.hasPrefix("-") else { return false }
        let reference = ItemArgument(argument: text)
        if reference.field == nil || reference.meansMainField {
            try getHere(text, vault, hasAskedAgent: false)
            return true
        }
        guard let path = path(text), let paths = paths(vault) else { return false }
        let answer: AgentItemReply?
        do throws(AgentError) {
            answer = try AgentClient(try AgentSocket(Environment.text)).perform(paths, .secret(path, revision: nil))
        } catch {
            guard error == .notRunning || error == .noRuntimeFolder else { return false }
            answer = nil
        }
        switch consume answer {
        case .reply(let reply):
            guard let secret = secret(reply) else { return false }
            try StandardOutput.write(secret)
            return true
        case .failure: return false
        case .locked: break
        case nil: break
        }
        try getHere(text, vault, hasAskedAgent: true)
        return true
    }

    /// Runs `get` without the other verbs. An agent that was asked already is not asked again.
    private static func getHere(_ text: String, _ vault: String?, hasAskedAgent: Bool) throws {
        var command = try GetCommand.parse((vault.map { ["--vault", $0] } ?? []) + [text])
        command.unlock.hasAskedAgent = hasAskedAgent
        try command.run()
    }

    private static func status(_ vault: String?) throws(Failure) -> Bool {
        let output = Output(format: .plain, isQuiet: false)
        guard let report = try? StatusReport(vault: vault) else { return false }
        try report.print(output)
        return true
    }

    private static func path(_ text: String) -> FieldPath? {
        let reference = ItemArgument(argument: text)
        return reference.field == nil ? nil : try? reference.path()
    }

    private static func paths(_ vault: String?) -> VaultPaths? {
        guard let folders = try? UserFolders(), let location = try? VaultLocation(vault, in: folders) else { return nil }
        return VaultPaths(vault: AbsolutePath.absolute(location.path), device: folders.device)
    }

    private static func secret(_ reply: consuming ItemReply) -> SecretBytes? {
        switch consume reply {
        case .secret(let secret): secret
        default: nil
        }
    }
}
