internal import ArgumentParser
internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault key`: the ways to open a vault.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "List, add, change and remove ways to open a vault.",
        subcommands: [KeySlots.self, KeyAddSlot.self, KeyRemoveSlot.self, KeyPassword.self, KeyRekey.self])
}

/// `omvault key slots`
struct KeySlots: Verb {
    static let configuration = CommandConfiguration(
        commandName: "slots",
        abstract: "List what opens the vault.",
        discussion: """
            It asks for no password if this device has noted the slots. With an option that unlocks, it unlocks first. A login
            slot is stale if its login was wiped, removed or enrolled again. 'omvault key add-slot --type login' renews it.

              omvault key slots
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let (slots, policy, openedBy) = try settings(access, secrets)
        let logins = try LoginAccess(context)
        let shown = try slots.map { slot in try ShownSlot(slot, policy, logins) }
        try context.output.list(
            "slots", shown, columns: ["ID", "TYPE", .time("CREATED"), "STRETCH", "STATE", "LOGIN"],
            head: ["vault": .text(access.location.name), "opened_by": openedBy.map { .number(Int($0)) } ?? .null],
            row: { $0.row(context.output) }, object: { slot, entry in slot.write(to: &entry) })
    }

    /// The slots and the policy, and the slot that opened the vault. Nil if none had to.
    private func settings(
        _ access: VaultAccess, _ secrets: borrowing SecretSources
    ) throws(Failure) -> ([KeySlot], VaultPolicy, UInt32?) {
        if !unlock.isGiven {
            let file = try access.file()
            // Attack: another user or program writes a header with forged slots. This device has not noted such a header, so
            // it is shown only after an unlock has checked its seal.
            if file.isNoted { return (file.slots, file.policy, nil) }
        }
        let unlocked = try access.openSlot(secrets, unlock)
        let (slots, policy) = try access.run { () throws(VaultError) in try unlocked.vault.settings() }
        return (slots, policy, unlocked.slot.id)
    }
}

/// A slot as it is printed.
private struct ShownSlot {
    let slot: KeySlot
    let owner: LoginOwner?
    let state: String

    init(_ slot: KeySlot, _ policy: VaultPolicy, _ logins: LoginAccess) throws(Failure) {
        self.slot = slot
        owner = try logins.owner(of: slot)
        if slot.kind == .login {
            // Each enrolment has a new key, so a slot from before it does not open.
            state = (owner?.enrolledAt).map { $0 > slot.created ? "stale" : "ok" } ?? "stale"
        } else {
            state = policy.isMet(by: slot) ? "ok" : "below policy"
        }
    }

    func row(_ output: Output) -> [String] {
        [
            "\(slot.id)", slot.kind.name, output.time(slot.created),
            slot.stretch.map { $0.words(output.format) } ?? "-", state,
            owner.map { "\($0.user.text) (\($0.profile.text))" } ?? "-",
        ]
    }

    func write(to entry: inout JSONDocument) {
        entry.field("id", .number(Int(slot.id)))
        entry.field("type", .text(slot.kind.name))
        entry.field("created", .text(Timestamp.text(slot.created)))
        entry.field("device_bound", .flag(slot.isDeviceBound))
        entry.field("kdf_mem", slot.stretch.map { .number(Int($0.memoryKiB >> 10)) } ?? .null)
        entry.field("kdf_time", slot.stretch.map { .number(Int($0.passes)) } ?? .null)
        entry.field("state", .text(state.replacing(" ", with: "_")))
        entry.field("user", owner.map { .text($0.user.text) } ?? .null)
        entry.field("profile", owner.map { .text($0.profile.text) } ?? .null)
    }
}

/// `omvault key rm-slot`
struct KeyRemoveSlot: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm-slot",
        abstract: "Remove a way to open the vault.",
        discussion: """
            The secret of the slot no longer opens the vault. An attacker who has that secret and an older copy of the vault's file
            can still open the copy; 'omvault key rekey' protects what you store later. The last slot cannot be removed, nor the
            last password or recovery slot beside a login slot.

              omvault key rm-slot 2
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The slot's id, as 'omvault key slots' shows it.")
    var id: UInt32

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let vault = try access.open(secrets, unlock)
        let (slots, _) = try access.run { () throws(VaultError) in try vault.settings() }
        guard let slot = slots.first(where: { $0.id == id }) else {
            throw Failure(VaultError.noSlot(id), vault: access.location.name)
        }
        try access.run { () throws(VaultError) in try Vault.checkRemoval(of: slot, from: slots) }
        try context.confirm("Remove slot \(id) (\(slot.kind.noun)) of vault \"\(access.location.name)\"?")
        let purge = try access.run { () throws(VaultError) in try vault.removeSlot(id) }
        try context.output.done(
            "removed slot \(id) (\(slot.kind.noun))",
            ["result": .text("removed"), "slot": .number(Int(id)), "purged": .flag(purge == .complete)])
        context.output.purged(purge)
    }
}

/// `omvault key passwd`
struct KeyPassword: Verb {
    static let configuration = CommandConfiguration(
        commandName: "passwd",
        abstract: "Change a password of the vault.",
        discussion: """
            Changes the password that you open the vault with, or the password of the slot that you name.

              omvault key passwd
              omvault key passwd 1 --recovery-from tty --new-password-from file:password
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The slot's id, as 'omvault key slots' shows it.")
    var slot: UInt32?

    @Option(help: ArgumentHelp("Where the new password comes from.", valueName: "source"))
    var newPasswordFrom: SecretSourceArgument?

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources + [(key: "--new-password-from", value: newPasswordFrom)])
        let unlocked = try access.openSlot(secrets, unlock)
        let (slots, policy) = try access.run { () throws(VaultError) in try unlocked.vault.settings() }
        let id = slot ?? (unlocked.slot.kind == .password ? unlocked.slot.id : slots.first { $0.kind == .password }?.id)
        guard let old = slots.first(where: { $0.id == id }) else {
            if let id { throw Failure(VaultError.noSlot(id), vault: access.location.name) }
            throw Failure(
                .notFound, "vault \"\(access.location.name.shown)\" has no password slot",
                hint: "omvault key add-slot --type password")
        }
        guard old.kind == .password else {
            throw Failure(
                .usage, "slot \(old.id) takes a \(old.kind.noun), which cannot be changed",
                hint: "add a new slot (omvault key add-slot), then remove this one (omvault key rm-slot \(old.id))")
        }
        let password = try secrets.readNewPassword(
            "--new-password-from", prompt: "New password for vault \"\(access.location.name)\"")
        let purge = try access.run { () throws(VaultError) in
            try unlocked.vault.replaceSlot(old, with: try NewSlot(password: password, policy.stretch)).purge
        }
        try context.output.done(
            "changed the password of slot \(old.id)",
            ["result": .text("changed"), "slot": .number(Int(old.id)), "purged": .flag(purge == .complete)])
        context.output.purged(purge)
    }
}
