internal import OMAgent
internal import OMAgentProtocol
internal import OMShell
internal import OMVault

/// The vaults, and how far each is open in this user's agent.
struct StatusReport {
    private let overview: VaultOverview

    /// - Parameter given: The vault's name or path, if the user gave one.
    init(vault given: String?) throws(Failure) { overview = try VaultOverview(vault: given) }

    private var meant: ShownVault { overview.meant }

    var isUnlocked: Bool { meant.state == .unlocked }

    func print(_ output: Output) throws(Failure) {
        overview.others.tell(output)
        guard output.format == .json else {
            for vault in overview.vaults { note(vault, output) }
            if output.format == .table, overview.agent == nil, overview.others.isEmpty {
                output.notice("no agent is running, so no vault is open; omvault unlock opens one")
            }
            guard output.format == .table else {
                return try output.rows(
                    overview.vaults.map(\.plainRow), header: ["VAULT", "STATE", "IDLE", "HARD", "READABLE"])
            }
            return try output.rows(
                overview.vaults.map(\.tableRow), header: ["VAULT", "STATE", "LOCKS", "READABLE WITHOUT A PASSWORD"])
        }
        var document = JSONDocument()
        document.field("agent", .flag(overview.agent != nil))
        document.field("vault", .text(meant.name))
        document.field("state", .text(meant.stateWord))
        document.field("readable", .list(meant.readable.map { .text($0) }))
        document.field("purge_pending", .flag(meant.condition.isPurgePending))
        document.field("file_replaced", .flag(meant.condition.isReplaced))
        document.objects("open", overview.vaults.filter(\.isOfAgent)) { vault, entry in
            vault.write(to: &entry)
            entry.field("purge_pending", .flag(vault.condition.isPurgePending))
            entry.field("file_replaced", .flag(vault.condition.isReplaced))
            entry.field("idle_left", .number(Int(vault.idleLeft)))
            entry.field("hard_left", .number(Int(vault.hardLeft)))
        }
        document.objects("vaults", overview.vaults.filter(\.condition.isThere)) { vault, entry in vault.write(to: &entry) }
        try output.document(document)
    }

    /// Prints the notices about a vault that its row has no place for.
    private func note(_ vault: ShownVault, _ output: Output) {
        let condition = vault.condition
        if vault.isOfAgent || vault.path == meant.path {
            // This is read after the agent's answer, since the agent finishes a pending purge if it can.
            if condition.isPurgePending { output.pendingPurge(of: vault.name) }
            if condition.isReplaced { output.replacedFile(of: vault.name) }
        }
        // Scripts get these by the exit code of the command that needs the vault.
        guard output.format == .table else { return }
        if !condition.isThere { output.notice("vault \"\(vault.name.shown)\" is not there; omvault init makes a vault") }
        if let words = vault.problemWords { output.notice(words) }
        if let failure = condition.otherDevice, !vault.isOfAgent { output.notice("\(failure.message); \(failure.hints[0])") }
    }
}
