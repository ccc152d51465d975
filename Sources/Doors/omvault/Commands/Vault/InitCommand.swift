internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem
internal import OMVault

/// `omvault init`: a new vault, with a password and a recovery code.
struct InitCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a vault.",
        discussion: """
            Prints the recovery code on standard output, once, and at a terminal wants it typed back. It opens the vault
            without the password and on another device: keep it on paper. Items are readable when unlocked and may leave this device; give --device-only
            with 'add' for those that may not.

              omvault init
              omvault init work --password-from file:password
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The vault's name, or a path.")
    var vault: String?

    @Option(help: ArgumentHelp("Where the new password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Where the recovery code is typed back from.", valueName: "source"))
    var codeFrom: SecretSourceArgument?

    @Flag(help: "Make no recovery code. A forgotten password then loses the vault.")
    var noRecovery = false

    @OptionGroup var stretch: StretchOptions

    func validate() throws {
        if vault != nil, global.vault != nil { throw ValidationError("the vault is named twice") }
        if noRecovery, codeFrom != nil { throw ValidationError("--code-from is for a recovery code") }
    }

    func run(_ door: Door) throws {
        let home = try door.home()
        let place = try vault.map { name throws(Failure) in try VaultPlace(name, in: home) } ?? door.vault(home)
        let parameters = try stretch.parameters()
        let secrets = try SecretSources(door, ["--password-from": passwordFrom, "--code-from": codeFrom])
        // Before anybody types a password twice.
        guard try !VaultFile.exists(place.path) else { throw Failure(VaultError.vaultExists, vault: place.name) }
        let password = try secrets.readPassword(
            "--password-from", prompt: "New password for vault \"\(place.name)\"", isNew: true)
        let folder = try DeviceFolder.make(home.device)
        if place.path.hasPrefix(home.vaults + "/") { _ = try PrivateFolder.make(home.vaults) }

        let policy = VaultPolicy(defaultLevel: .whenUnlocked, stretch: parameters)
        let slot = try NewSlot(password: password, parameters)
        guard !noRecovery else {
            try make(place, device: folder, policy: policy, slots: [slot])
            return try report(door, place, nil)
        }
        let code = RecoveryCode.random()
        let recovery = try NewSlot(recovery: code, parameters)
        // Whoever types it back does so before the vault is made: a slip of the pen then costs nothing.
        guard RecoveryCodeSheet.isTypedBack(wasGiven: codeFrom != nil, door) else {
            try make(place, device: folder, policy: policy, slots: [slot, recovery])
            return try report(door, place, code.text())
        }
        try RecoveryCodeSheet.print(code.text(), door)
        try RecoveryCodeSheet.confirm(code, secrets)
        try make(place, device: folder, policy: policy, slots: [slot, recovery])
        made(door, place)
    }

    private func make(
        _ place: VaultPlace, device folder: DeviceFolder, policy: VaultPolicy, slots: [NewSlot]
    ) throws(Failure) {
        do throws(VaultError) {
            try VaultFile.create(place.path, device: folder, policy: policy, slots: slots)
        } catch {
            guard error != .noVault else {
                throw Failure(.io, "the folder of \(place.path.shown) does not exist", hint: "make it with mkdir")
            }
            throw Failure(error, vault: place.name)
        }
    }

    private func report(_ door: Door, _ place: VaultPlace, _ code: consuming SecretBytes?) throws(Failure) {
        if door.output.format == .json {
            var document = JSONDocument()
            document.field("vault", .text(place.name))
            document.field("path", .text(place.path))
            switch code {
            case .some(let code): document.secret("recovery_code", code)
            case .none: document.field("recovery_code", .null)
            }
            return try door.output.document(document)
        }
        made(door, place)
        switch code {
        case .some(let code):
            do throws(Failure) { try RecoveryCodeSheet.print(code, door) } catch {
                throw Failure(
                    error.status, "\(error.message), so the recovery code was lost",
                    hint: "the vault was made: remove \(place.path.shown) and init again")
            }
        case .none:
            door.output.notice("it has no recovery code: without its password, or on another device, it stays closed")
        }
    }

    private func made(_ door: Door, _ place: VaultPlace) {
        door.output.notice("made vault \"\(place.name.shown)\" at \(place.path.shown)")
        door.output.notice(
            "items are readable when unlocked and may leave this device; 'add --device-only' keeps one here")
    }
}
