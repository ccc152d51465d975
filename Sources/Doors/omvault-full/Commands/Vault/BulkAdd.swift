internal import Glibc
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault add --from-jsonl`: many items in one change of the vault.
struct BulkAdd {
    let context: CommandContext
    /// A path, or `-`.
    let input: String
    /// The level for every item. Nil if it was not given.
    let level: ProtectionLevel?
    /// Whether only to check.
    let isDryRun: Bool

    func run(_ unlock: UnlockOptions) throws {
        let access = try VaultAccess(context)
        let isFromInput = InputFile.isStandardInput(input)
        let secrets = try SecretSources(
            context, unlock.sources, standardInputIsDataOf: isFromInput ? "--from-jsonl" : nil)
        let items = try lines()
        try access.unlock(secrets, unlock)
        let vault = access.location.name
        // Checked for an answer before the change, and again inside it.
        try items.refuse(existing: try access.perform(.names(trashed: false)).names(), vault: vault)
        let count = items.items.count.of("item")
        if !isDryRun { try store(items, count, access) }
        let names = items.items.map { JSONValue.text($0.name.text) }
        try context.output.done(
            isDryRun ? "would add \(count) to vault \"\(vault.shown)\"" : "added \(count) to vault \"\(vault.shown)\"",
            ["result": .text(isDryRun ? "checked" : "added"), "items": .list(names)])
    }

    private func lines() throws -> ItemLines {
        let file = try InputFile(input)
        guard !file.isStandardInput || isatty(STDIN_FILENO) == 0 else {
            throw Failure(
                .usage, "standard input is a terminal, which would show the secrets as you type them",
                hint: "give a file, or pipe the lines into the command")
        }
        let bytes = try file.readWhole(maximum: ItemLines.maximumCount, hint: "split it into several files")
        let bar = Progress(total: bytes.count, context)
        defer { bar.end() }
        return try ItemLines(bytes, level: level, bar)
    }

    /// All of them in one transaction, here or in the agent.
    private func store(_ items: ItemLines, _ count: String, _ access: VaultAccess) throws(Failure) {
        // No bar: the transaction may be in the agent.
        let isTold = items.items.count >= 100 && StandardError.showsProgress && !context.output.isQuiet
        if isTold { StandardError.write("storing \(count)") }
        defer { if isTold { StandardError.write("\r\u{1B}[K") } }
        do throws(Failure) { _ = try access.perform(.addAll(items.items)).items() } catch {
            throw items.located(error)
        }
    }
}
