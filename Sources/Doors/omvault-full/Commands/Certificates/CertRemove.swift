internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault cert rm`: removes identities for good.
struct CertRemove: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove client identities for good.",
        discussion: """
            Removes the private keys with all versions of their items, and leaves nothing in the trash. Asks first; --yes answers.
            All of them are removed or none. An identity that a profile names is not removed (13).

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
        try refuseUsed(found, context)
        let listed = found.map { "\"\($0.name.shown)\"" }.joined(separator: ", ")
        try context.confirm(
            "Remove \(found.count == 1 ? "the identity" : "the identities") \(listed) with the private key for good?")
        guard case .removed(_, let purge) = try access.perform(.purge(found.map(\.item.name), ifRevision: nil)) else {
            throw Failure.unexpectedReply
        }
        try report(found.map(\.name), purged: purge != .pending, context)
        context.output.purged(purge)
    }

    private func refuseUsed(_ found: [ClientIdentity], _ context: CommandContext) throws {
        let profiles = try ProfileFolder(try context.userFolders())
        for name in try profiles.names() {
            // A damaged profile names nothing: no login is possible with it.
            guard let used = try? profiles.profile(name).clientIdentities,
                let identity = found.first(where: { used.contains($0.name) })
            else { continue }
            throw Failure(
                .policy, "the profile \"\(name.text)\" uses the identity \"\(identity.name)\"; nothing was removed",
                hint: "omvault profile show \(name.text), then profile set \(name.text) with --unset for the key that names it",
                details: ["profile": .text(name.text), "identity": .text(identity.name)])
        }
    }

    private func report(_ names: [String], purged: Bool, _ context: CommandContext) throws {
        let listed = names.map { "\"\($0.shown)\"" }.joined(separator: ", ")
        try context.output.done(
            "removed \(names.isEmpty ? "nothing" : listed)",
            ["result": .text("removed"), "identities": .list(names.map { .text($0) }), "purged": .flag(purged)])
    }
}
