internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSyncKeys
internal import OMVault

/// The shared recovery slot of a vault: the recovery code that opens the remotes opens this device too.
struct SharedRecovery {
    private let access: VaultAccess

    init(of access: VaultAccess) { self.access = access }

    /// The slot. Nil if the vault has none, or does not sync.
    func slot(of vault: borrowing Vault) throws(Failure) -> KeySlot? {
        let slots = try access.run { () throws(VaultError) in try vault.settings() }.slots
        guard let slot = slots.first(where: { $0.kind == .sharedRecovery }),
            try access.run({ () throws(VaultError) in try vault.syncStatus() }) != nil
        else { return nil }
        return slot
    }

    /// Asks for the code that another device has made, and makes it open this one.
    func add(to vault: borrowing Vault, _ secrets: borrowing SecretSources) throws(Failure) {
        let status = try access.run { () throws(VaultError) in try vault.syncStatus() }
        guard let status else { throw Failure(vaultDoesNotSync: access.location) }
        guard status.members.contains(where: { $0.kind == .recovery }) else {
            throw Failure(
                .notFound, "no recovery code opens the remotes of vault \"\(access.location.name.shown)\"",
                hint: "omvault key add-slot --type recovery makes one")
        }
        let typed = try secrets.read(
            "--code-from", prompt: "Recovery code that opens the remotes of vault \"\(access.location.name)\"",
            name: "the recovery code", isShown: true)
        let slot = try take(RecoveryMember(try access.code(typed).secret, vault: vault.id), in: vault)
        try access.context.output.done(
            "slot \(slot.id) now opens vault \"\(access.location.name.shown)\" with a \(slot.kind.noun)",
            ["result": .text("added"), "slot": .number(Int(slot.id)), "type": .text(slot.kind.name)])
        let slots = try access.run { () throws(VaultError) in try vault.settings() }.slots
        for other in slots where other.kind == .recovery {
            access.context.output.notice(
                "slot \(other.id) still opens with the code that it was made for; omvault key rm-slot \(other.id) removes it")
        }
    }

    /// Makes a code open this vault, in the place of the shared code before.
    func take(_ recovery: borrowing RecoveryMember, in vault: borrowing Vault) throws(Failure) -> KeySlot {
        switch try access.run({ () throws(VaultError) in try vault.takeRecovery(recovery, now: secondsNow()) }) {
        case .made(let slot, let purge):
            if let purge { access.context.output.purged(purge) }
            return slot
        case .refused(.notAnchored):
            throw Failure(
                .corrupt, "the list of devices has this code, and was made without it: someone has forged the list",
                hint: "nothing was changed")
        case .refused:
            throw Failure(
                .badSecret, "that is not the recovery code that opens the remotes now; nothing was changed",
                hint: "if another device has just changed the code, run omvault sync now first")
        }
    }
}
