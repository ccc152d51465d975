internal import ArgumentParser
internal import OMShell

/// `omvault vault ls`
struct VaultListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the vaults.",
        discussion: """
            Asks for no password, and opens no vault. DEFAULT marks the vault that a command without --vault means. STATE says how
            far the agent has it open. DEVICE says whether this device made or restored the vault: a vault of another device opens
            with a recovery code or a key file only, to read.

              omvault vault ls
              omvault vault ls --json
            """)

    @OptionGroup var global: GlobalOptions

    var printsRows: Bool { true }

    func validate() throws { try global.refuseVault("every vault is listed") }

    func run(_ context: CommandContext) throws {
        let overview = try VaultOverview(vault: context.vaultGiven)
        let vaults = overview.vaults.filter(\.condition.isThere)
        overview.others.tell(context.output)
        // In JSON a vault that is not there is not in the list, and a problem is a member.
        if context.output.format != .json { note(vaults, default: overview.meant, context.output) }
        try context.output.list(
            "vaults", vaults, columns: ["VAULT", "DEFAULT", "STATE", "DEVICE", .time("CHANGED"), "PATH"],
            head: ["default": .text(overview.meant.name)], row: { row($0, context.output) },
            object: { vault, entry in
                vault.write(to: &entry)
                entry.field("changed", vault.condition.changed.map { .text(Timestamp.text($0)) } ?? .null)
            })
    }

    private func note(_ vaults: [ShownVault], default meant: ShownVault, _ output: Output) {
        if !meant.condition.isThere {
            output.notice(
                "the default vault \"\(meant.name.shown)\" is not there; omvault init makes it"
                    + (vaults.isEmpty ? "" : ", omvault vault default NAME chooses another"))
        }
        for words in vaults.compactMap(\.problemWords) { output.notice(words) }
    }

    private func row(_ vault: ShownVault, _ output: Output) -> [String] {
        let isTable = output.format == .table
        let device =
            switch vault.condition.isOwnDevice {
            case true?: isTable ? "this device" : "this"
            case false?: isTable ? "another device" : "other"
            case nil: "-"
            }
        return [
            vault.name, vault.isDefault ? "default" : "-", isTable ? vault.shownState : vault.stateWord, device,
            vault.condition.changed.map { output.time($0) } ?? "-", vault.path,
        ]
    }
}
