// The making of a vault, for `init` and `vault create`.

internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMSystem
internal import OMVault

/// What a vault is made of, and its secrets.
struct NewVault: ~Copyable {
    let device: DeviceFolder
    let policy: VaultPolicy
    /// That of the password is the first.
    let slots: [NewSlot]
    let password: Password
    /// Nil for a vault without one.
    let code: RecoveryCode?
    /// Whether the user has seen the code, and typed it back.
    let isCodeShown: Bool
}

/// The options of the commands that make a vault.
struct NewVaultOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the new password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the recovery code that you type back comes from.", valueName: "source"))
    var codeFrom: SecretSourceArgument?

    @Flag(help: "Make no recovery code. If you forget the password, the vault is lost.")
    var noRecovery = false

    @OptionGroup var stretch: StretchOptions

    func validate() throws {
        if noRecovery, codeFrom != nil { throw ValidationError("give --no-recovery or --code-from, not both") }
    }

    /// The options for ``SecretSources``.
    var sources: [(key: String, value: SecretSourceArgument?)] {
        [("--password-from", passwordFrom), ("--code-from", codeFrom)]
    }

    /// Asks for the secrets, and makes the vault.
    func make(_ location: VaultLocation, in folders: UserFolders, _ context: CommandContext) throws {
        let parameters = try stretch.parameters()
        let secrets = try SecretSources(context, sources)
        let ready = try prepare(location, stretch: parameters, secrets, in: folders, context)
        try make(location, device: ready.device, policy: ready.policy, slots: ready.slots)
        guard !ready.isCodeShown else { return made(context, location) }
        try report(context, location, ready.code?.text())
    }

    /// Asks for the secrets of a vault that is made next.
    ///
    /// - Parameters:
    ///   - known: A recovery code that its user has on paper already. Nil: a new one is made.
    ///   - sharesCode: Whether the vault gets a shared recovery slot later, and so no new code.
    func prepare(
        _ location: VaultLocation, stretch parameters: Argon2id.Parameters, _ secrets: borrowing SecretSources,
        in folders: UserFolders, recovery known: consuming RecoveryCode? = nil, sharesCode: Bool = false,
        _ context: CommandContext
    ) throws -> NewVault {
        // Checked before the user types a password twice.
        guard try !VaultFile.exists(location.path) else { throw Failure(VaultError.vaultExists, vault: location.name) }
        let password = try secrets.readNewPassword(
            "--password-from", prompt: "New password for vault \"\(location.name)\"")
        let folder = try DeviceFolder.make(folders.device)
        if location.path.hasPrefix(folders.vaults + "/") { _ = try PrivateFolder.make(folders.vaults) }

        let policy = VaultPolicy(defaultLevel: .whenUnlocked, stretch: parameters)
        let slot = try NewSlot(password: password, parameters)
        if let known {
            let slots = [slot, try NewSlot(recovery: known, parameters)]
            return NewVault(
                device: folder, policy: policy, slots: slots, password: password, code: nil, isCodeShown: true)
        }
        guard !noRecovery, !sharesCode else {
            return NewVault(device: folder, policy: policy, slots: [slot], password: password, code: nil, isCodeShown: false)
        }
        let code = RecoveryCode.random()
        let slots = [slot, try NewSlot(recovery: code, parameters)]
        // The user types the code back before the vault is made, so that a typing error costs nothing.
        let isShown = RecoveryCodeSheet.isTypedBack(wasGiven: codeFrom != nil, context)
        if isShown {
            try RecoveryCodeSheet.print(code.text(), context)
            try RecoveryCodeSheet.confirm(code, secrets, context)
        }
        return NewVault(
            device: folder, policy: policy, slots: slots, password: password, code: code, isCodeShown: isShown)
    }

    private func make(
        _ location: VaultLocation, device folder: DeviceFolder, policy: VaultPolicy, slots: [NewSlot]
    ) throws(Failure) {
        do throws(VaultError) {
            try VaultFile.create(location.path, device: folder, policy: policy, slots: slots)
        } catch {
            guard error != .noVault else {
                throw Failure(.io, "the folder of \(location.path.shown) does not exist", hint: "make it with mkdir")
            }
            throw Failure(error, vault: location.name)
        }
    }

    private func report(_ context: CommandContext, _ location: VaultLocation, _ code: consuming SecretBytes?) throws(Failure) {
        let isWithCode = code != nil
        do throws(Failure) { try print(context, location, code) } catch {
            guard isWithCode else { throw error }
            throw RecoveryCodeSheet.lost(
                error, hint: "the vault was made: remove \(location.path.shown), then make it again")
        }
    }

    private func print(_ context: CommandContext, _ location: VaultLocation, _ code: consuming SecretBytes?) throws(Failure) {
        if context.output.format == .json {
            var document = JSONDocument()
            document.field("vault", .text(location.name))
            document.field("path", .text(location.path))
            switch code {
            case .some(let code): document.secret("recovery_code", code)
            case .none: document.field("recovery_code", .null)
            }
            return try context.output.document(document)
        }
        made(context, location)
        switch code {
        case .some(let code): try RecoveryCodeSheet.print(code, context)
        case .none:
            context.output.notice("the vault has no recovery code: only its password opens it, and only on this device")
        }
    }

    private func made(_ context: CommandContext, _ location: VaultLocation) {
        context.output.notice("made vault \"\(location.name.shown)\" at \(location.path.shown)")
        context.output.notice(
            "items can be read while the vault is unlocked, and can leave this device; omvault add --device-only keeps one here")
    }
}
