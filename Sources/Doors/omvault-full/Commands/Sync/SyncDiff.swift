internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// `omvault sync diff`
struct SyncDiff: Verb {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what sync leaves to you.",
        discussion: """
            copy: a conflict copy beside its item, and which fields differ. name: a name that means another item than before.
            held: a version that may not replace the item here, because its level is less strict. change: a change that waits
            because there are many. entry: a change of the list of devices that excludes another one.

            Never prints a value; 'omvault get' does. 'omvault sync resolve' settles each by its number, and only as it is shown
            here: another version of the item gets another number.

              omvault sync diff
              omvault sync diff github
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "Only what is about this item.", completion: .items)
    var name: String?

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let wanted = try name.map(ItemName.named)
        let synced = try SyncedVault(context, unlock)
        _ = try synced.status()
        let list = try synced.questions()
        let shown = list.questions.filter { question in wanted.map(question.names.contains) ?? true }
            .map { ShownQuestion($0, list.devices) }
        let changes = shown.filter(\.isChange).map(\.question)
        let all = changes.isEmpty ? nil : OpenQuestion.number(ofAll: changes)
        try context.output.list(
            "questions", shown, columns: ["NUMBER", "KIND", "ITEM", "WHAT", "DEVICE"],
            head: ["vault": .text(synced.access.location.name)], tail: ["all_changes": all.map { .text($0) } ?? .null],
            row: { [$0.question.number, $0.kind.rawValue, $0.item, $0.what, $0.device] },
            object: { question, entry in question.write(to: &entry) })
        guard let all, context.output.format != .json else { return }
        context.output.notice("the number of all changes that are shown: \(all)")
        context.output.notice("if they are yours: omvault sync resolve \(all) --accept; if not: --refuse")
    }
}

extension ItemName {
    /// The name that the user typed.
    static func named(_ text: String) throws(Failure) -> ItemName {
        do throws(VaultError) { return try ItemName(text) } catch { throw Failure(error, vault: "") }
    }
}
