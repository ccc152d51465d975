internal import OMAgent
internal import OMStorage
internal import OMVault

/// The vaults that are open in this user's agent.
struct StatusReport {
    private let agent: AgentStatus?
    private let home: UserFolders
    /// The vault that the command names. It is shown even if it is locked.
    private let asked: AgentStatus.VaultStatus?
    private let name: String
    private let path: String
    /// First the agent's vaults, then the vault that the command names, then the others in the user's folder.
    private let vaults: [ShownVault]

    /// - Parameter given: The vault's name or path, if the user gave one.
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
        let home = home
        var shown = (agent?.vaults ?? []).map { ShownVault($0, name: Self.name(of: $0.paths.vault, in: home)) }
        if asked == nil { shown.append(ShownVault(name: name, path: path)) }
        for name in VaultList.names(in: home) {
            guard let path = try? AbsolutePath.absolute(VaultLocation(name, in: home).path) else { continue }
            if !shown.contains(where: { $0.path == path }) { shown.append(ShownVault(name: name, path: path)) }
        }
        vaults = shown
    }

    var isUnlocked: Bool { asked?.state == .unlocked }

    func print(_ output: Output) throws(Failure) {
        guard output.format == .json else {
            for vault in vaults where vault.isOfAgent || vault.path == path {
                if isPurgePending(vault.path) { output.pendingPurge(of: vault.name) }
                if isReplaced(vault.path) { output.replacedFile(of: vault.name) }
            }
            return try output.rows(
                vaults.map { output.format == .table ? $0.tableRow : $0.plainRow },
                header: ["VAULT", "STATE", "IDLE", "HARD", "READABLE"])
        }
        var document = JSONDocument()
        document.field("agent", .flag(agent != nil))
        document.field("vault", .text(name))
        document.field("state", .text((asked?.state ?? .locked).words))
        document.field("readable", (asked?.state ?? .locked).readableLevels)
        document.field("purge_pending", .flag(isPurgePending(path)))
        document.field("file_replaced", .flag(isReplaced(path)))
        document.objects("open", vaults.filter(\.isOfAgent)) { vault, entry in
            vault.write(to: &entry)
            entry.field("purge_pending", .flag(isPurgePending(vault.path)))
            entry.field("file_replaced", .flag(isReplaced(vault.path)))
            entry.field("idle_left", .number(Int(vault.idleLeft)))
            entry.field("hard_left", .number(Int(vault.hardLeft)))
        }
        document.objects("vaults", vaults.filter(\.isThere)) { vault, entry in vault.write(to: &entry) }
        try output.document(document)
    }

    /// Read after the agent's answer, since the agent finishes a pending purge if it can. This command does not report errors
    /// of a vault.
    private func isPurgePending(_ path: String) -> Bool { (try? VaultFile.isPurgePending(path)) ?? false }

    private func isReplaced(_ path: String) -> Bool {
        guard let device = try? DeviceFolder(home.device) else { return false }
        return (try? VaultFile.open(path, device: device, acceptsRollback: true).isReplaced) ?? false
    }

    /// A vault in its usual place by its name, another by its path.
    private static func name(of path: String, in home: UserFolders) -> String {
        guard path.hasPrefix(home.vaults + "/"), path.hasSuffix(".omv") else { return path }
        return String(path.dropFirst(home.vaults.count + 1).dropLast(4))
    }
}
