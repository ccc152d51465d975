internal import OMAgent
internal import OMStorage
internal import OMVault

/// What is open, as far as this user's agent says.
struct StatusReport {
    private let agent: AgentStatus?
    private let home: UserFolders
    /// The vault that the command names, which is told of though it is locked.
    private let asked: AgentStatus.VaultStatus?
    private let name: String
    private let path: String

    /// - Parameter given: what the user calls the vault, if anything.
    init(vault given: String?) throws(Failure) {
        home = try UserFolders()
        let vault = try VaultLocation(given, in: home)
        name = vault.name
        path = AbsolutePath.absolute(vault.path)
        let path = path
        do throws(AgentError) { agent = try AgentClient(try AgentSocket(Environment.text)).status() } catch {
            guard error == .notRunning || error == .noRuntimeFolder else { throw Failure(error) }
            agent = nil
        }
        asked = agent?.vaults.first { $0.paths.vault == path }
    }

    var isUnlocked: Bool { asked?.state == .unlocked }

    func print(_ output: Output) throws(Failure) {
        let open = agent?.vaults ?? []
        let names = open.map { name(of: $0.paths.vault) }
        guard output.format == .json else {
            var rows = zip(names, open).map { name, vault in
                [name, vault.state.words, DurationText.text(vault.idleLeft), DurationText.text(vault.hardLeft)]
            }
            if asked == nil { rows.append([name, AgentVaultState.locked.words, "0s", "0s"]) }
            for (name, path) in Array(zip(names, open.map(\.paths.vault))) + (asked == nil ? [(name, path)] : []) {
                if isPurgePending(path) { output.pendingPurge(of: name) }
                if isReplaced(path) { output.replacedFile(of: name) }
            }
            return try output.rows(rows, header: ["VAULT", "STATE", "IDLE", "HARD"])
        }
        var document = JSONDocument()
        document.field("agent", .flag(agent != nil))
        document.field("vault", .text(name))
        document.field("state", .text((asked?.state ?? .locked).words))
        document.field("purge_pending", .flag(isPurgePending(path)))
        document.field("file_replaced", .flag(isReplaced(path)))
        document.objects("open", zip(names, open)) { vault, entry in
            entry.field("vault", .text(vault.0))
            entry.field("path", .text(vault.1.paths.vault))
            entry.field("state", .text(vault.1.state.words))
            entry.field("purge_pending", .flag(isPurgePending(vault.1.paths.vault)))
            entry.field("file_replaced", .flag(isReplaced(vault.1.paths.vault)))
            entry.field("idle_left", .number(Int(vault.1.idleLeft)))
            entry.field("hard_left", .number(Int(vault.1.hardLeft)))
        }
        try output.document(document)
    }

    /// After the agent was asked, which finishes one that it can. What is wrong with a vault is not for this verb to say.
    private func isPurgePending(_ path: String) -> Bool { (try? VaultFile.isPurgePending(path)) ?? false }

    private func isReplaced(_ path: String) -> Bool {
        guard let device = try? DeviceFolder(home.device) else { return false }
        return (try? VaultFile.open(path, device: device, acceptsRollback: true).isReplaced) ?? false
    }

    /// A vault in its usual place by its name, another by its path.
    private func name(of path: String) -> String {
        guard path.hasPrefix(home.vaults + "/"), path.hasSuffix(".omv") else { return path }
        return String(path.dropFirst(home.vaults.count + 1).dropLast(4))
    }
}
