internal import ArgumentParser
internal import OMItems
internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMSyncKeys
internal import OMVault

/// `omvault device add`
struct DeviceAdd: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a new device, from a device that has the vault.",
        discussion: """
            Prints a code of 32 letters, and waits until 'omvault device join' on the new device has answered. Then type the six
            digits that the new device shows. There is one try: other digits mean that another person may have the code. The code
            is good until this command ends.

              omvault device add
              omvault device add --remote 2 --expires 600
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Option(help: ArgumentHelp("The remote to add it over; needed if the vault has several.", valueName: "n"))
    var remote: UInt8?

    @Option(
        help: ArgumentHelp(
            "Seconds until the code ends: 60 to 86400. If not given, 600 with a server, and 86400 with a folder.",
            valueName: "seconds"))
    var expires: UInt32?

    @Option(help: ArgumentHelp("Where the six digits of the new device come from.", valueName: "source"))
    var digitsFrom: SecretSourceArgument?

    func validate() throws {
        guard (60...86_400).contains(expires ?? 60) else { throw ValidationError("--expires takes 60 to 86400 seconds") }
    }

    func run(_ context: CommandContext) throws {
        let secrets = try SecretSources(context, unlock.sources + [(key: "--digits-from", value: digitsFrom)])
        let synced = try SyncedVault(context, unlock, secrets)
        let remotes = try SyncedVault.chosen(remote, of: try synced.status())
        guard remotes.count == 1, let row = remotes.first?.row else {
            throw Failure(
                .ambiguous, "the vault has \(remotes.count) remotes",
                hint: "give --remote N; omvault sync remote ls lists them")
        }
        // The new device finds there what this device has now.
        let first = RemoteExchange(with: row, of: synced.vault, synced.access)
        if let failure = first.failure { throw failure }
        // Also looked at when the device is added. Here no one has waited yet.
        guard try synced.status().recoveryChange == nil else { throw Failure(PairingProblem.unknownCode) }
        let place = try synced.place(of: row)
        let store = place.store(RemoteFolderName(vault: synced.vault.id, incarnation: row.incarnation))
        let expiry = secondsNow() + Int64(expires ?? (place.isServer ? 600 : 86_400))
        guard var pairing = try synced.access.run({ () throws(VaultError) in try synced.vault.invite(until: expiry) }) else {
            throw Failure(.general, "this device has written to no remote yet", hint: "omvault sync now")
        }
        var isAdded = false
        do {
            try place.run { try pairing.putInvitation(on: store) }
            try show(pairing.messages.code.text(), until: expiry, for: row, context)
            let name = try PairingWait.result { try pairing.takeRequest(from: store, now: secondsNow()) }
            try compare(&pairing, with: name, secrets, for: synced, context)
            let entry: RollEntry
            do { entry = try pairing.add(to: synced.vault, now: secondsNow()) } catch let error as VaultError {
                throw synced.access.failure(error)
            }
            isAdded = true
            try push(row, synced, context)
            try PairingWait.result { try pairing.putDone(entry, on: store) }
            let number = SyncStatus.digits(entry.contents.added[0].number)
            try context.output.done(
                "added \"\(name.text.shown)\" to the devices of vault \"\(synced.access.location.name.shown)\"",
                [
                    "result": .text("added"), "device": .text(name.text), "number": .text(number),
                    "entry": .number(Int(entry.contents.number)),
                ])
            try awaitEnd(pairing, store, context)
        } catch {
            // What is left after the device was added is its last message.
            if !isAdded { try? pairing.remove(from: store) }
            try PairingWait.end(error)
        }
    }

    private func show(
        _ code: consuming SecretBytes, until expiry: Int64, for row: RemoteRow, _ context: CommandContext
    ) throws(Failure) {
        guard context.output.format != .json else {
            var document = JSONDocument()
            document.field("result", .text("invited"))
            document.secret("code", code)
            document.field("expires", .text(Timestamp.text(expiry)))
            document.field("folder", .text(row.path))
            return try context.output.document(document)
        }
        context.output.notice(
            row.url == nil
                ? "on the new device: omvault device join FOLDER, with the folder that is \(row.path.shown) here"
                : "on the new device: omvault device join \(row.path.shown) --user NAME, with the same account")
        context.output.notice("the code to type there; it ends with this command, or at \(context.output.time(expiry)):")
        var line = SecretBuffer()
        line.append(code)
        line.append(UInt8(ascii: "\n"))
        try StandardOutput.write(line.finish())
        context.output.notice("waiting for the new device; Ctrl-C ends the code")
    }

    private func compare(
        _ pairing: inout OldDevicePairing, with name: DeviceName, _ secrets: borrowing SecretSources,
        for synced: borrowing SyncedVault, _ context: CommandContext
    ) throws {
        context.output.notice("a device that calls itself \"\(name.text.shown)\" has answered")
        let typed = try digits(secrets)
        let digits = typed.withBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }
        guard pairing.accepts(digits) else {
            throw Failure(
                .badSecret, "those are not the digits of this pairing; no device was added, and the code has ended",
                hint:
                    "if you typed what the new device shows, another person may have the code: keep it to yourself, and begin again"
            )
        }
        let question = "Add \"\(name.text)\" to the devices of vault \"\(synced.access.location.name)\"?"
        try PairingWait.answer { try context.confirm("\(question) It gets every item that is not bound to a device.") }
    }

    private func digits(_ secrets: borrowing SecretSources) throws -> SecretBytes {
        func read() throws -> SecretBytes {
            try secrets.read(
                "--digits-from", prompt: "The six digits that the new device shows", name: "the digits of the new device",
                isShown: true)
        }
        // Another source is not read at a prompt that a signal ends.
        return try secrets.isAsked("--digits-from") ? PairingWait.answer(read) : read()
    }

    /// The entry must be on the remote before the new device hears of it.
    private func push(_ row: RemoteRow, _ synced: borrowing SyncedVault, _ context: CommandContext) throws {
        var isTold = false
        try PairingWait.result { () throws -> Void? in
            let exchange = RemoteExchange(with: row, of: synced.vault, synced.access)
            guard let failure = exchange.failure else { return () }
            guard exchange.state == .offline else { throw failure }
            if !isTold { context.output.notice("\(failure.message); waiting for it") }
            isTold = true
            return nil
        }
    }

    /// The new device takes its request away once it has what it needs.
    private func awaitEnd(
        _ pairing: borrowing OldDevicePairing, _ store: RemotePlace.Store, _ context: CommandContext
    ) throws {
        context.output.notice("waiting until it has read that; it can also join after Ctrl-C")
        let end = pairing.invitation.expires
        do {
            try PairingWait.result { () throws -> Void? in
                try pairing.isOver(on: store) || secondsNow() > end ? () : nil
            }
            try? pairing.remove(from: store)
        } catch is InterruptedWait {}
    }
}

extension Failure {
    init(_ problem: PairingProblem) {
        switch problem {
        case .expired:
            self.init(.aborted, "no device answered in time; the code has ended", hint: "omvault device add prints a new one")
        case .otherReveal:
            self.init(
                .corrupt, "the other device has answered another request: another person may have the code",
                hint: "nothing was joined; end 'omvault device add' there, and begin again")
        case .unknownCode:
            self.init(
                .policy, "another device made a recovery code that this device does not know; a new device would take it",
                hint: "omvault sync status says which device, and what to do; nothing was added")
        case .otherInvitation, .badKeys, .notAdded:
            self.init(
                .corrupt, "the list of devices in the folder does not continue what the pairing said; nothing was joined",
                hint: "begin again with omvault device add on the other device")
        }
    }
}
