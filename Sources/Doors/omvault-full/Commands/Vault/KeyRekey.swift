internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSyncKeys
internal import OMVault

/// `omvault key rekey`
struct KeyRekey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Give the vault new keys, and seal everything in it again.",
        discussion: """
            Use it when another person may have a slot's secret and a copy of the vault. The slot that you unlock with stays, and so
            does each slot of --also-from. A new recovery code replaces the old one and is printed. A shared recovery slot stays
            instead, and opens with the same code. The other slots are removed; it asks first. If it is interrupted, the vault is the old one or the new one. An older copy of the file still opens with
            the old secrets, but shows nothing that you stored later. In a vault that syncs, this device gets a new number among the
            devices, and all of them seal with new keys from then on.

              omvault key rekey
              omvault key rekey --also-from 3=file:/media/stick/personal.key --kdf-mem 256
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(
        help: ArgumentHelp("A slot that stays, and where its secret comes from; may be repeated.", valueName: "id=source"))
    var alsoFrom: [SlotSource] = []

    @Option(help: ArgumentHelp("Where the recovery code that you type back comes from.", valueName: "source"))
    var codeFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Memory for each guess at a password from now on, in MiB: 8 to 1024.", valueName: "mib"))
    var kdfMem: UInt32?

    @Option(help: ArgumentHelp("Passes over that memory from now on: 1 to 16.", valueName: "n"))
    var kdfTime: UInt32?

    func run(_ context: CommandContext) throws {
        _ = try StretchOptions.parameters(memory: kdfMem ?? 64, passes: kdfTime ?? 3)
        let others = try alsoFrom.map { other in (id: try other.slot(), option: other.option, source: other.source) }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(
            context,
            unlock.sources + others.map { (key: $0.option, value: $0.source) } + [(key: "--code-from", value: codeFrom)])
        let unlocked = try access.openSlot(secrets, unlock)
        var (slots, policy) = try access.run { () throws(VaultError) in try unlocked.vault.settings() }
        try access.run { () throws(VaultError) in
            try policy.stretch(
                memoryKiB: kdfMem.map { $0 << 10 } ?? policy.stretch.memoryKiB, passes: kdfTime ?? policy.stretch.passes)
        }
        let opening = unlocked.slot.id
        var kept = [Vault.RekeyedSlot(id: opening, try access.newSlot(unlocked.secret, like: unlocked.slot, policy))]
        for other in others where other.id != opening {
            guard let slot = slots.first(where: { $0.id == other.id }) else {
                throw Failure(VaultError.noSlot(other.id), vault: access.location.name)
            }
            kept.append(try access.keep(slot, secrets: secrets, option: other.option, policy: policy))
        }
        let shared = slots.first { $0.kind == .sharedRecovery }
        if let shared, !kept.contains(where: { $0.id == shared.id }), let same = try access.sameSlot(shared) { kept.append(same) }
        let rest = slots.filter { slot in !kept.contains { $0.id == slot.id } }
        // A new code here would take the place of the devices' code in the roll.
        let replaced = shared == nil ? rest.first { $0.kind == .recovery } : nil
        try confirm(rest.filter { $0 != replaced }, access)
        let remotes = try access.run { () throws(VaultError) in try unlocked.vault.remotes() }
        // What this device wrote last goes out under its old number.
        let exchanges = remotes.map { RemoteExchange(with: $0, of: unlocked.vault, access) }
        // What another copy of this vault wrote is read by a rejoin only, and would be lost with the old number.
        if let stopped = exchanges.first(where: { $0.state == .stopped })?.failure { throw stopped }

        let code = RecoveryCode.random()
        var isShown = false
        if let replaced {
            kept.append(Vault.RekeyedSlot(id: replaced.id, try access.newSlot(code, policy)))
            isShown = RecoveryCodeSheet.isTypedBack(wasGiven: codeFrom != nil, context)
            if isShown {
                try RecoveryCodeSheet.print(code.text(), context)
                try RecoveryCodeSheet.confirm(code, secrets, context)
            } else if context.output.format != .json {
                // Printed before the old code stops working. If printing fails, nothing is changed.
                try RecoveryCodeSheet.print(code.text(), context)
                isShown = true
            }
        }
        let (ids, seen, stretch) = (kept.map(\.id).sorted(), slots, policy.stretch)
        let hasRollCode =
            try access.run { () throws(VaultError) in try unlocked.vault.syncStatus() }?.members
            .contains { $0.kind == .recovery } ?? false
        let recovery = replaced == nil ? nil : RecoveryMember(code.secret, vault: unlocked.vault.id)
        let purge = try access.rekey(
            unlocked.vault, slots: kept, expecting: seen, stretch: stretch,
            with: RollRekey(recovery: recovery, now: secondsNow()))
        access.lockAgent()
        try report(
            slots: ids, code: replaced == nil || isShown ? nil : code.text(), purge: purge, access: access, context: context)
        if let shared, ids.contains(shared.id) {
            context.output.notice(
                "slot \(shared.id) still opens with the same recovery code; omvault key add-slot --type recovery makes another one"
            )
        }
        if hasRollCode, replaced != nil {
            context.output.notice("the new recovery code opens the remotes too; the one before, also of another device, does not")
        }
        access.announceChange(to: remotes, opening: opening, with: unlocked.secret)
    }

    private func confirm(_ going: [KeySlot], _ access: VaultAccess) throws(Failure) {
        let names = going.map { "slot \($0.id) (\($0.kind.noun))" }.joined(separator: ", ")
        let question = "Seal everything in vault \"\(access.location.name)\" under new keys"
        try access.context.confirm(going.isEmpty ? "\(question)?" : "\(question), and remove \(names)?")
    }

    private func report(
        slots: [UInt32], code: consuming SecretBytes?, purge: PurgeResult, access: VaultAccess, context: CommandContext
    ) throws(Failure) {
        if context.output.format == .json {
            var document = JSONDocument()
            document.field("result", .text("rekeyed"))
            document.field("slots", .list(slots.map { .number(Int($0)) }))
            document.field("purged", .flag(purge == .complete))
            let isWithCode = code != nil
            switch code {
            case .some(let code): document.secret("recovery_code", code)
            case .none: document.field("recovery_code", .null)
            }
            do throws(Failure) { return try context.output.document(document) } catch {
                throw isWithCode
                    ? RecoveryCodeSheet.lost(
                        error, hint: "the vault has its new keys: omvault key add-slot --type recovery prints another code")
                    : error
            }
        }
        context.output.notice("vault \"\(access.location.name.shown)\" has new keys")
        switch code {
        case .some(let code): try RecoveryCodeSheet.print(code, context)
        case .none: break
        }
        context.output.purged(purge)
    }
}

extension VaultAccess {
    fileprivate func newSlot(
        _ secret: borrowing SlotSecret, like old: KeySlot, _ policy: VaultPolicy
    ) throws(Failure) -> NewSlot {
        try run { () throws(VaultError) in try secret.newSlot(like: old, policy.stretch) }
    }

    /// A shared recovery slot, for the same code. The code is not needed.
    fileprivate func sameSlot(_ slot: KeySlot) throws(Failure) -> Vault.RekeyedSlot? {
        try run { () throws(VaultError) in try NewSlot(sharing: slot).map { Vault.RekeyedSlot(id: slot.id, $0) } }
    }

    fileprivate func newSlot(_ code: borrowing RecoveryCode, _ policy: VaultPolicy) throws(Failure) -> NewSlot {
        try run { () throws(VaultError) in try NewSlot(recovery: code, policy.stretch) }
    }

    /// Reads the secret of `slot` and tries it, so that a mistyped secret is found before the rekey.
    fileprivate func keep(
        _ slot: KeySlot, secrets: borrowing SecretSources, option: String, policy: VaultPolicy
    ) throws(Failure) -> Vault.RekeyedSlot {
        let tries = SecretTries(slot.kind, of: option, secrets, context, failure: failure)
        let secret = try tries.run { isFirst throws(Failure) in
            let file = try file()
            try tries.awaitUse(isFirst) { () throws(VaultError) in try file.checkUse(of: slot) }
            let secret = try read(slot, secrets, option: option)
            do throws(VaultError) { _ = try file.unlock(slot, with: try secret.key(for: slot)) } catch {
                throw error == .cannotUnlock ? Failure(wrong: slot.kind, vault: location.name) : failure(error)
            }
            return secret
        }
        return Vault.RekeyedSlot(id: slot.id, try newSlot(secret, like: slot, policy))
    }

    fileprivate func rekey(
        _ vault: consuming Vault, slots: [Vault.RekeyedSlot], expecting seen: [KeySlot], stretch: Argon2id.Parameters,
        with sync: consuming RollRekey
    ) throws(Failure) -> PurgeResult {
        do throws(VaultError) {
            return try vault.rekey(slots: slots, expecting: seen, with: sync) { policy throws(VaultError) in
                try policy.stretch(memoryKiB: stretch.memoryKiB, passes: stretch.passes)
            }
        } catch { throw Failure(error, vault: location.name) }
    }
}

extension VaultAccess {
    /// Tells the other devices of the new number. The vault has its new keys already, so a failure is a notice.
    fileprivate func announceChange(to remotes: [RemoteRow], opening id: UInt32, with secret: borrowing SlotSecret) {
        guard !remotes.isEmpty else { return }
        do throws(Failure) {
            RemoteExchange.announceChange(to: remotes, of: try reopen(id, with: secret), self)
        } catch {
            context.output.notice("\(error.message); the other devices hear of the new keys with omvault sync now")
        }
    }

    private func reopen(_ id: UInt32, with secret: borrowing SlotSecret) throws(Failure) -> Vault {
        let file = try file()
        do throws(VaultError) {
            guard let slot = file.slots.first(where: { $0.id == id }) else { throw .noSlot(id) }
            return try file.unlock(slot, with: try secret.key(for: slot))
        } catch { throw failure(error) }
    }
}

/// `ID=SRC`. It accepts any text, so that ArgumentParser never prints a secret that was typed in the wrong place.
struct SlotSource: ExpressibleByArgument {
    private let id: UInt32?
    let source: SecretSourceArgument

    init(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        id = parts.count == 2 ? UInt32(parts[0]) : nil
        source = SecretSourceArgument(argument: parts.count == 2 ? parts[1] : "")
    }

    var option: String { "--also-from \(id ?? 0)" }

    func slot() throws(Failure) -> UInt32 {
        guard let id else {
            throw Failure(
                .usage, "--also-from takes a slot's id and a source, as in 3=file:PATH",
                hint: "omvault key slots lists the ids; sources: \(SecretSource.grammar)")
        }
        return id
    }
}
