internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMShell
internal import OMSystem
internal import OMVault

/// `omvault vault rename`
struct VaultRename: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rename",
        abstract: "Give a vault another name.",
        discussion: """
            Needs no password. If the agent has the vault open, it is locked first; no other process may use it. If it is the
            default vault, it stays the default. Nothing is ever replaced. The old name elsewhere, such as om://OLD/ITEM in your
            scripts, does not change.

              omvault vault rename personal home
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The vault's name now.", completion: .vaults)
    var old: String

    @Argument(help: "Its new name.")
    var new: String

    func validate() throws { try global.refuseVault("OLD names the vault") }

    func run(_ context: CommandContext) throws {
        for name in [old, new] where !VaultLocation.isName(name) {
            throw Failure(
                .usage, "\"\(name)\" is not the name of a vault", hint: "a vault elsewhere can be moved with mv: lock it first")
        }
        let access = try VaultAccess(context, vault: old)
        let folders = try context.userFolders()
        let target = try VaultLocation(new, in: folders)
        let file = DefaultVault(folders)
        // Read before the rename: a file that is refused then changes nothing.
        let isDefault = try file.name() == old
        guard try access.run({ () throws(VaultError) in try VaultFile.exists(access.location.path) }) else {
            throw access.failure(.noVault)
        }
        guard try !VaultFile.exists(target.path) else { throw Failure(.vaultExists, vault: new) }
        let wasOpen = try forget(access)
        try rename(access, to: target)
        if isDefault { try follow(file) }
        try context.output.done(
            "vault \"\(old.shown)\" is now \"\(new.shown)\"" + (isDefault ? ", and the default vault" : ""),
            [
                "result": .text("renamed"), "vault": .text(new), "old": .text(old), "path": .text(target.path),
                "default": .flag(isDefault),
            ])
        if wasOpen {
            let option = isDefault ? "" : " --vault \(new.asShellWord)"
            context.output.notice("the agent locked it; omvault unlock\(option) opens it again")
        }
        if Environment.text("OMVAULT_VAULT") == old {
            context.output.notice("OMVAULT_VAULT is set, and still names \"\(old.shown)\"")
        }
    }

    /// Makes the agent close the vault and drop its keys.
    ///
    /// - Returns: Whether it was open there.
    private func forget(_ access: VaultAccess) throws(Failure) -> Bool {
        do throws(AgentError) { return try access.forgetInAgents { _ in true } } catch { throw Failure(error) }
    }

    private func rename(_ access: VaultAccess, to target: VaultLocation) throws(Failure) {
        do throws(VaultError) {
            try VaultFile.rename(access.location.path, to: target.path, device: access.device)
        } catch {
            switch error {
            case .vaultExists: throw Failure(error, vault: new)
            case .storage(.busy):
                throw Failure(
                    .busy, "another process has vault \"\(old.shown)\" open; nothing was changed",
                    hint: "end the commands that use it, then try again")
            case .storage(.io(EINVAL)):
                throw Failure(
                    .unsupported, "this file system cannot rename a file without replacing another; nothing was changed",
                    hint: "run omvault agent stop, then rename the file with mv -n")
            default: throw access.failure(error)
            }
        }
    }

    private func follow(_ file: DefaultVault) throws(Failure) {
        do throws(Failure) { try file.choose(new) } catch {
            throw Failure(
                error.status, "the vault was renamed, but the default vault could not be changed: \(error.message)",
                hint: "omvault vault default \(new.asShellWord)")
        }
    }
}
