internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMShell
internal import OMSystem
internal import OMVault

/// `omvault cert rm`: removes identities for good.
struct CertRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove client identities for good.",
        discussion: """
            Removes the private keys with all versions of their items, and leaves nothing in the trash. Asks first; --yes answers.
            All of them are removed or none. In the default vault no identity is removed that a profile names, and none at all while
            a profile cannot be read (13).

              omvault cert rm ada
              omvault cert rm --all
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions

    @Argument(help: "The identities.", completion: .identities)
    var names: [String] = []

    @Flag(help: "Remove all identities of the vault.")
    var all = false

    func validate() throws {
        if names.isEmpty, !all { throw ValidationError("no identity given") }
        if !names.isEmpty, all { throw ValidationError("--all removes every identity: give it without names") }
    }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let options = try unlock.options()
        try access.unlock(try SecretSources(context, options.sources), options)
        var found: [ClientIdentity] = []
        if all { found = try access.clientIdentities() }
        for name in names where !found.contains(where: { $0.name == name }) { found.append(try access.identity(name)) }
        guard !found.isEmpty else { return try report([], purged: true, context) }
        try refuseUsed(found, access.location, context)
        let listed = found.map { "\"\($0.name.shown)\"" }.joined(separator: ", ")
        try context.confirm(
            "Remove \(found.count == 1 ? "the identity" : "the identities") \(listed) with the private key for good?")
        guard case .removed(_, let purge) = try access.perform(.purge(found.map(\.item.name), ifRevision: nil)) else {
            throw Failure.unexpectedReply
        }
        try report(found.map(\.name), purged: purge != .pending, context)
        context.output.purged(purge)
    }

    /// A profile means the identities of the default vault.
    private func refuseUsed(_ found: [ClientIdentity], _ vault: VaultLocation, _ context: CommandContext) throws {
        let folders = try context.userFolders()
        let profiles = try ProfileFolder(folders)
        for name in try profiles.names() {
            guard let refusal = Self.refusal(of: found, by: name, profiles) else { continue }
            guard try Self.isDefault(vault, folders) else { return }
            throw refusal
        }
    }

    private static func refusal(
        of found: [ClientIdentity], by name: ProfileName, _ profiles: ProfileFolder
    ) -> Failure? {
        let used: Set<String>
        do throws(AuthError) { used = try profiles.profile(name).clientIdentities } catch {
            // Another process removed it meanwhile.
            if case .unknownProfile = error { return nil }
            // A repair can bring the name of an identity back. A removed key never comes back.
            return Failure(
                .policy, "the profile \"\(name.text)\" cannot be read, and may use an identity; nothing was removed",
                hint: "omvault profile show \(name.text) says what is wrong with it",
                "omvault profile rm \(name.text) removes the profile", details: ["profile": .text(name.text)])
        }
        return found.first { used.contains($0.name) }.map { identity in
            Failure(
                .policy, "the profile \"\(name.text)\" uses the identity \"\(identity.name)\"; nothing was removed",
                hint: "omvault profile show \(name.text), then profile set \(name.text) with --unset for the key that names it",
                details: ["profile": .text(name.text), "identity": .text(identity.name)])
        }
    }

    /// Whether it is the file of the default vault, or of the variable that replaces it, under any spelling of the path.
    private static func isDefault(_ vault: VaultLocation, _ folders: UserFolders) throws(Failure) -> Bool {
        guard let own = FileNumber(following: vault.path) else { return true }
        var defaults = [try VaultLocation(nil, in: folders)]
        if let given = Environment.text("OMVAULT_VAULT") { defaults.append(try VaultLocation(given, in: folders)) }
        return defaults.contains { FileNumber(following: $0.path) == own }
    }

    private func report(_ names: [String], purged: Bool, _ context: CommandContext) throws {
        let listed = names.map { "\"\($0.shown)\"" }.joined(separator: ", ")
        try context.output.done(
            "removed \(names.isEmpty ? "nothing" : listed)",
            ["result": .text("removed"), "identities": .list(names.map { .text($0) }), "purged": .flag(purged)])
    }
}
