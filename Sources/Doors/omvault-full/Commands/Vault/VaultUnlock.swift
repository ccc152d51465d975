// Unlocking a vault: the choice of the slots, the secret, and the work after the unlock.

internal import OMAuth
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

extension VaultAccess {
    /// Unlocks the vault in this process, for work that is not an ``ItemRequest``.
    func open(_ secrets: borrowing SecretSources, _ options: UnlockOptions) throws(Failure) -> Vault {
        try openSlot(secrets, options).intoVault()
    }

    /// The same, with the slot and the secret that unlocked it.
    func openSlot(_ secrets: borrowing SecretSources, _ options: UnlockOptions) throws(Failure) -> UnlockedVault {
        // The file is opened first, so that the user types no password for a vault that does not exist.
        try openSlot(secrets, options, in: try file())
    }

    /// - Parameter file: The vault's file, just opened.
    func openSlot(
        _ secrets: borrowing SecretSources, _ options: UnlockOptions, in file: borrowing VaultFile
    ) throws(Failure) -> UnlockedVault {
        let first = try slots(options, of: file)
        let option = options.option(for: first.tried[0]) ?? first.tried[0].kind.option
        let tries = SecretTries(first.tried[0].kind, of: option, secrets, context, failure: failure)
        let unlocked = try tries.run { isFirst throws(Failure) in
            if isFirst { return try open(file, first, secrets, option: option, tries: tries, isFirst: true) }
            // Another process may have changed the password while this one asked and waited.
            let file = try self.file()
            return try open(
                file, try slots(options, of: file), secrets, option: option, tries: tries, isFirst: false)
        }
        strengthenStretch(unlocked.slot, unlocked.secret, unlocked.vault)
        return unlocked
    }

    private func slots(_ options: UnlockOptions, of file: borrowing VaultFile) throws(Failure) -> TriedSlots {
        try TriedSlots(options, of: file.slots, in: "vault \"\(location.name.shown)\"") { id in
            Failure(VaultError.noSlot(id), vault: location.name)
        }
    }

    /// One try of one secret.
    private func open(
        _ file: borrowing VaultFile, _ slots: TriedSlots, _ secrets: borrowing SecretSources, option: String,
        tries: SecretTries, isFirst: Bool
    ) throws(Failure) -> UnlockedVault {
        let first = slots.tried[0]
        try tries.awaitUse(isFirst) { () throws(VaultError) in try file.checkUse(of: first) }
        let secret = try read(first, secrets, option: option)
        let vault = try slots.naming { () throws(Failure) in
            do throws(VaultError) {
                return try unlock(anyOf: slots.tried, of: file) { slot throws(VaultError) in try secret.key(for: slot) }
            } catch {
                throw error == .cannotUnlock ? Failure(wrong: first.kind, vault: location.name) : failure(error)
            }
        }
        let slot = vault.openedBy ?? first
        return UnlockedVault(vault: vault, slot: slot, secret: secret)
    }

    /// Unlocks with the first of several slots that opens, and warns if the unlock is not in the audit log.
    private func unlock(
        anyOf slots: [KeySlot], of file: borrowing VaultFile, with key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> Vault {
        let vault = try file.unlock(anyOf: slots, with: key)
        if vault.isUnlockUnlogged {
            context.output.notice(
                "warning: this unlock is not in the audit log: another process uses the vault, or the disk cannot be written; if "
                    + "this command changes the vault, that adds it")
        }
        return vault
    }

    /// Unlocks with a login that was verified just now.
    ///
    /// - Returns: Nil if the vault has no slot for the login.
    /// - Throws: ``VaultError/staleLogin(_:)`` if that slot belongs to an earlier enrolment.
    func unlock(
        _ file: borrowing VaultFile, with login: borrowing VerifiedLogin
    ) throws(VaultError) -> Vault? {
        let id = login.id
        guard let slot = file.slots.first(where: { $0.login == id }) else { return nil }
        try file.checkUse(of: slot)
        return try unlock(anyOf: [slot], of: file) { _ throws(VaultError) in login.unlock.duplicate() }
    }

    /// Reads the secret for slots of the same kind as `slot`.
    ///
    /// - Parameter option: The option for its source.
    func read(
        _ slot: KeySlot, _ secrets: borrowing SecretSources, option: String
    ) throws(Failure) -> SlotSecret {
        switch slot.kind {
        case .password:
            return .password(try secrets.readPassword(option, prompt: "Password for vault \"\(location.name)\""))
        case .recovery, .sharedRecovery:
            // It is long, and comes from paper. A typing error is found only by looking.
            let typed = try secrets.read(option, prompt: "Recovery code of vault \"\(location.name)\"", isShown: true)
            return .recovery(try code(typed))
        case .keyFile:
            let text = try secrets.read(option, prompt: "Text of the key file of vault \"\(location.name)\"")
            return .keyFile(try keyFile(text))
        case .login: return .login(try logIn(slot, secrets, option))
        }
    }

    func code(_ typed: borrowing SecretBytes) throws(Failure) -> RecoveryCode {
        do throws(VaultError) { return try RecoveryCode(typed: typed) } catch { throw Failure(error, vault: nil) }
    }

    func keyFile(_ text: borrowing SecretBytes) throws(Failure) -> VaultKeyFile {
        do throws(VaultError) { return try VaultKeyFile(text: text) } catch { throw Failure(error, vault: nil) }
    }

    /// Checks the login of a slot, online or offline and counted, as its profile says.
    private func logIn(
        _ slot: KeySlot, _ secrets: borrowing SecretSources, _ option: String
    ) throws(Failure) -> VerifiedLogin {
        let access = try LoginAccess(context)
        guard let owner = try access.owner(of: slot) else {
            throw Failure(
                .noOffline, "the login of slot \(slot.id) is no longer in this device's ledger",
                hint: "unlock another way; omvault key rm-slot \(slot.id) removes the slot")
        }
        return try access.check(owner.user, under: owner.profile, domain: owner.domain, secrets, option: option, context)
    }

    /// Raises the stretch of a slot to the policy. It runs after the unlock, so that an error here does not keep the user out.
    private func strengthenStretch(_ slot: KeySlot, _ secret: borrowing SlotSecret, _ vault: borrowing Vault) {
        guard !vault.policyAtUnlock.isMet(by: slot) else { return }
        do throws(VaultError) {
            guard let raised = try secret.raiseStretch(of: slot, in: vault), let now = raised.stretch else { return }
            context.output.notice(
                "slot \(slot.id) was stretched less than the policy asks for; it now uses \(now.memoryKiB >> 10) MiB and "
                    + "\(now.passes) passes. The \(slot.kind.noun) is the same. Older copies of the vault keep the weaker setting"
            )
        } catch {
            context.output.notice(
                "the stretch of slot \(slot.id) could not be compared with the policy, or not raised: "
                    + "\(Failure(error, vault: location.name).message). The next unlock tries again")
        }
    }

    /// The policy from a header that this device has noted, else from the unlocked vault.
    func policy(_ secrets: borrowing SecretSources, _ options: UnlockOptions) throws(Failure) -> VaultPolicy {
        let file = try file()
        // Attack: an attacker writes a header with another policy. Only an unlock can check its seal. So without an unlock only
        // a header that this device has noted is trusted.
        if file.isNoted { return file.policy }
        if let policy = try unlockedPolicy() { return policy }
        let vault = try open(secrets, options)
        return try run { () throws(VaultError) in try vault.settings() }.policy
    }
}
