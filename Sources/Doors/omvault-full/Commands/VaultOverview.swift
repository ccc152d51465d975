internal import OMAgent
internal import OMAgentProtocol
internal import OMShell

/// Every vault that this user has: first those that the agent has open, then the vault that the command means, then the others
/// in the user's folder.
struct VaultOverview {
    /// Nil if no agent runs.
    let agent: AgentStatus?
    let others = OtherAgents()
    let vaults: [ShownVault]
    /// The vault that the command means. It is one of ``vaults``, even if it is not there.
    let meant: ShownVault

    /// - Parameter given: The name or path of the vault that the command means. Nil for the default vault.
    init(vault given: String?) throws(Failure) {
        let home = try UserFolders()
        let location = try VaultLocation(given, in: home)
        let meant = AbsolutePath.absolute(location.path)
        // The other vaults can be shown even if the file of the default vault is refused.
        let usual = (try? VaultLocation(Environment.text("OMVAULT_VAULT"), in: home)).map { AbsolutePath.absolute($0.path) }
        let device = try home.deviceFolder()
        let agent = try Self.askAgent()
        let open = agent?.vaults ?? []
        var places = open.map { (name: Self.name(of: $0.paths.vault, in: home), path: $0.paths.vault) }
        if !places.contains(where: { $0.path == meant }) { places.append((location.name, meant)) }
        for name in VaultList.names(in: home) {
            guard let path = try? AbsolutePath.absolute(VaultLocation(name, in: home).path) else { continue }
            if !places.contains(where: { $0.path == path }) { places.append((name, path)) }
        }
        let vaults = places.map { place in
            ShownVault(
                name: place.name, path: place.path, isDefault: place.path == usual,
                VaultCondition(place.path, name: place.name, device: device), open.first { $0.paths.vault == place.path })
        }
        (self.agent, self.vaults) = (agent, vaults)
        self.meant = vaults.first { $0.path == meant } ?? vaults[0]
    }

    private static func askAgent() throws(Failure) -> AgentStatus? {
        do throws(AgentError) { return try AgentClient(try AgentSocket(Environment.text)).status() } catch {
            guard error.meansNoAgent else { throw Failure(error) }
            return nil
        }
    }

    /// A vault in its usual place by its name, another by its path.
    private static func name(of path: String, in home: UserFolders) -> String {
        guard path.hasPrefix(home.vaults + "/"), path.hasSuffix(".omv") else { return path }
        return String(path.dropFirst(home.vaults.count + 1).dropLast(4))
    }
}
