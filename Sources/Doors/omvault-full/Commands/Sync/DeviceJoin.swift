internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMSync
internal import OMSyncKeys
internal import OMVault

/// `omvault device join`
struct DeviceJoin: Verb {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Get the vault of another device, on a new device.",
        discussion: """
            'omvault device add' on the other device prints a code. This command asks for it, and for the password of the vault on
            this device: each device has its own. Then it shows six digits to type on the other device. If it is ended before that
            is done, there is no vault.

            The recovery code that opens the remotes opens this device too, without being typed here; --no-recovery leaves that out.
            If there is no such code, this device gets one of its own.

            If all devices are lost, --recovery takes the recovery code instead. It shows the devices of the vault and when their
            news are from, and asks. Then it removes them all, but for those of --keep. It cannot tell whether the folder or the server
            holds back their newest state. If what a device wrote stops the remote, --without leaves out what that device wrote and no other
            one had read.

              omvault device join /media/stick
              omvault device join ~/Shared work --device laptop
              omvault device join https://vault.example.org --user ann
              omvault device join /media/stick --recovery --keep phone
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(
        help: ArgumentHelp("The folder with the remote, or its server: https://HOST[:PORT][/PATH].", valueName: "folder|url"),
        completion: .directory)
    var folder: String

    @Argument(help: "The vault's name on this device.")
    var name: String?

    @Option(help: ArgumentHelp("This device's name for the others; that of the machine if not given.", valueName: "name"))
    var device: String?

    @Option(help: ArgumentHelp("Where the code of the other device comes from.", valueName: "source"))
    var pairingCodeFrom: SecretSourceArgument?

    @OptionGroup var options: NewVaultOptions

    @OptionGroup var account: ServerLoginOptions

    @OptionGroup var recovery: RecoveryJoinOptions

    func validate() throws {
        try global.refuseVault("NAME is the new vault")
        try recovery.check(isPairing: pairingCodeFrom != nil, options)
    }

    func run(_ context: CommandContext) throws {
        let deviceName = try DeviceNameOption.name(device)
        let folders = try context.userFolders()
        let location = try VaultLocation(name, in: folders)
        guard VaultLocation.isName(location.name), location.path == "\(folders.vaults)/\(location.name).omv" else {
            throw Failure(.usage, "\"\(location.name)\" is not the name of a vault", hint: "a name has no / and no .omv")
        }
        guard try !VaultFile.exists(location.path) else { throw Failure(VaultError.vaultExists, vault: location.name) }
        let parameters = try options.stretch.parameters()
        let given = try RemotePlace(given: folder)
        guard !recovery.recovery else {
            let join = RecoveryJoin(
                location, in: folders, named: deviceName, from: given, options: recovery, account, context)
            return try join.run(options, stretch: parameters)
        }
        let secrets = try SecretSources(
            context, [(key: "--pairing-code-from", value: pairingCodeFrom)] + options.sources + account.sources)
        let server = try account.logIn(at: given, secrets, device: deviceName)
        var isJoined = false
        // Otherwise the server keeps the login of a device that does not exist.
        defer { if !isJoined { server.endHeldLogin() } }
        let (place, remotes) = try server.namedRemotes()
        let messages = PairingMessages(try code(secrets))
        let (remote, invitation) = try find(messages, in: place, remotes)
        let sharesCode = try !options.noRecovery && hasRecoveryCode(invitation, messages, on: place.store(remote), context)
        if sharesCode, options.codeFrom != nil {
            throw Failure(
                .usage, "the devices have a recovery code, which will open this device too", hint: "leave out --code-from")
        }
        let device = try DeviceFolder.make(folders.device)
        let joining = try JoiningVault(id: remote.vault, in: folders, device)
        do {
            let ready = try options.prepare(
                location, stretch: parameters, secrets, in: folders, sharesCode: sharesCode, context)
            let recovery = try pair(
                ready, at: joining.path, named: deviceName, messages, answering: invitation, on: remote, in: place, context)
            try VaultFile.rename(joining.path, to: location.path, device: device)
            isJoined = true
            joining.finish()
            try ready.exchange(at: location, named: deviceName, opensWith: recovery, context)
        } catch {
            if !isJoined { joining.remove() }
            try PairingWait.end(error)
        }
    }

    /// Whether a recovery code of all devices will open this one. The files that say so may come later than the invitation.
    private func hasRecoveryCode(
        _ invitation: PairingInvitation, _ messages: borrowing PairingMessages, on store: RemotePlace.Store,
        _ context: CommandContext
    ) throws -> Bool {
        var isTold = false
        do {
            return try awaited(messages, on: store) {
                if let found = try NewDevicePairing.hasRecoveryCode(invitation, in: store) { return found }
                if !isTold { context.output.notice("waiting for the list of devices: some of its files are not there yet") }
                isTold = true
                return nil
            }
        } catch { try PairingWait.end(error) }
    }

    /// Makes the vault, and makes it a device of the roll.
    ///
    /// - Returns: What made the recovery code of all devices that opens it. Nil if none does.
    private func pair(
        _ new: borrowing NewVault, at path: String, named name: DeviceName, _ messages: borrowing PairingMessages,
        answering invitation: PairingInvitation, on remote: RemoteFolderName, in place: RemotePlace, _ context: CommandContext
    ) throws -> RecoveryChange? {
        try VaultFile.create(path, id: remote.vault, device: new.device, policy: new.policy, slots: new.slots)
        let vault = try new.unlock(path)
        let store = place.store(remote)
        let pairing = try NewDevicePairing(invitation, vault, named: name)
        var recovery: RecoveryChange?
        do {
            try place.run { try pairing.putRequest(messages, on: store) }
            context.output.notice("waiting for the other device; Ctrl-C ends this, and leaves no vault")
            let digits = try awaited(messages, on: store, until: { try pairing.digits(messages, from: store) })
            try show(digits, context)
            let roll = try awaited(messages, on: store, until: { try pairing.roll(messages, from: store) })
            try pairing.join(vault, roll, now: secondsNow())
            if !options.noRecovery { recovery = try vault.makeRecoverySlot(now: secondsNow()) }
            let row = try vault.addRemote(
                incarnation: remote.incarnation, path: place.path, login: place.heldLogin, now: secondsNow())
            // From here on the vault keeps the tokens. To refresh others beside it would end the login.
            let joined = try RemotePlace(of: row, in: vault).store(remote)
            try? pairing.removeRequest(messages, from: joined)
            return recovery
        } catch {
            try? pairing.removeRequest(messages, from: store)
            throw error
        }
    }

    private func awaited<R>(
        _ messages: borrowing PairingMessages, on store: RemotePlace.Store, until look: () throws -> R?
    ) throws -> R {
        try PairingWait.result {
            if let found = try look() { return found }
            guard try !NewDevicePairing.isEnded(messages, on: store) else {
                throw Failure(
                    .aborted, "the other device has ended the pairing; there is no vault",
                    hint: "omvault device add there prints a new code")
            }
            return nil
        }
    }

    private func show(_ digits: String, _ context: CommandContext) throws(Failure) {
        guard context.output.format != .json else {
            return try context.output.done("", ["result": .text("answered"), "digits": .text(digits)])
        }
        context.output.notice("the digits to type on the other device:")
        try context.output.line(digits)
    }

    private func code(_ secrets: borrowing SecretSources) throws(Failure) -> PairingCode {
        let typed = try secrets.read(
            "--pairing-code-from", prompt: "Code that the other device shows", name: "the code of the other device", isShown: true
        )
        do throws(SecretsError) { return try PairingCode(typed: typed) } catch {
            throw Failure(
                .usage, "that is no code of 'omvault device add': a letter is wrong or missing", hint: "compare each letter")
        }
    }

    /// The remote that has the invitation of the code.
    private func find(
        _ messages: borrowing PairingMessages, in place: RemotePlace, _ remotes: [RemoteFolderName]
    ) throws(Failure) -> (RemoteFolderName, PairingInvitation) {
        for remote in remotes {
            let found = try place.run {
                try NewDevicePairing.invitation(
                    in: messages, place.store(remote), vault: remote.vault, incarnation: remote.incarnation)
            }
            if let found { return (remote, found) }
        }
        throw Failure(
            .notFound, "\(place.words) has no invitation of that code",
            hint: place.isServer
                ? "the command on the other device must still wait, and use the same account"
                : "the command on the other device must still wait; if a tool syncs the folder, wait for its files")
    }
}
