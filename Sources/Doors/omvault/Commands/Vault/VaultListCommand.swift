internal import ArgumentParser

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

    func validate() throws { try global.refuseVault("every vault is listed") }

    func run(_ context: CommandContext) throws {
        let overview = try VaultOverview(vault: context.vaultGiven)
        let vaults = overview.vaults.filter(\.condition.isThere)
        guard context.output.format == .json else {
            if !overview.meant.condition.isThere {
                context.output.notice(
                    "the default vault \"\(overview.meant.name.shown)\" is not there; omvault init makes it"
                        + (vaults.isEmpty ? "" : ", omvault vault default NAME chooses another"))
            }
            for vault in vaults {
                guard let problem = vault.condition.problem else { continue }
                context.output.notice(problem.message + "; " + problem.hints.joined(separator: "; "))
            }
            return try context.output.rows(
                vaults.map { row($0, context.output.format) },
                header: ["VAULT", "DEFAULT", "STATE", "DEVICE", "CHANGED (UTC)", "PATH"])
        }
        var document = JSONDocument()
        document.field("default", .text(overview.meant.name))
        document.objects("vaults", vaults) { vault, entry in
            vault.write(to: &entry)
            entry.field("changed", vault.condition.changed.map { .text(Timestamp.text($0)) } ?? .null)
        }
        try context.output.document(document)
    }

    private func row(_ vault: ShownVault, _ format: OutputFormat) -> [String] {
        let device =
            switch vault.condition.isOwnDevice {
            case true?: format == .table ? "this device" : "this"
            case false?: format == .table ? "another device" : "other"
            case nil: "-"
            }
        return [
            vault.name, vault.isDefault ? "default" : "-", vault.stateWord, device,
            vault.condition.changed.map { Timestamp.text($0) } ?? "-", vault.path,
        ]
    }
}
