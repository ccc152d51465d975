// `omvault device join --recovery`: all devices are lost, and the recovery code and a remote are left.

internal import OMItems
internal import OMParcels
internal import OMRemote
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMSync
internal import OMSyncKeys
internal import OMSystem
internal import OMVault

/// Joins a vault with its recovery code.
struct RecoveryJoin {
    private let location: VaultLocation
    private let folders: UserFolders
    private let name: DeviceName
    private let place: RemotePlace
    private let options: RecoveryJoinOptions
    private let account: ServerLoginOptions
    private let context: CommandContext

    init(
        _ location: VaultLocation, in folders: UserFolders, named name: DeviceName, from place: RemotePlace,
        options: RecoveryJoinOptions, _ account: ServerLoginOptions, _ context: CommandContext
    ) {
        (self.location, self.folders, self.name) = (location, folders, name)
        (self.place, self.options, self.account, self.context) = (place, options, account, context)
    }

    func run(_ new: NewVaultOptions, stretch: Argon2id.Parameters) throws {
        let secrets = try SecretSources(
            context, [(key: "--recovery-from", value: options.recoveryFrom)] + new.sources + account.sources)
        let typed = try secrets.read(
            "--recovery-from", prompt: "Recovery code of the vault", name: "the recovery code", isShown: true)
        let code: RecoveryCode
        do throws(VaultError) { code = try RecoveryCode(typed: typed) } catch { throw Failure(error, vault: nil) }
        let server = try account.logIn(at: place, secrets, device: name)
        var isJoined = false
        // Otherwise the server keeps the login of a device that does not exist.
        defer { if !isJoined { server.endHeldLogin() } }
        let (place, remote, recovered) = try find(code, in: server)
        let recovery = RecoveryMember(code.secret, vault: remote.vault)
        let device = try DeviceFolder.make(folders.device)
        let joining = try JoiningVault(id: remote.vault, in: folders, device)
        do {
            let ready = try new.prepare(
                location, stretch: stretch, secrets, in: folders, recovery: code.duplicate(), context)
            try join(ready, at: joining.path, recovered, with: recovery, from: place, remote)
            try VaultFile.rename(joining.path, to: location.path, device: device)
            isJoined = true
            joining.finish()
            try ready.exchange(at: location, named: name, context)
        } catch {
            if !isJoined { joining.remove() }
            throw error
        }
    }

    // MARK: - The remote of the code

    private func find(
        _ code: borrowing RecoveryCode, in given: RemotePlace
    ) throws -> (RemotePlace, RemoteFolderName, RecoveredVault) {
        let (place, names) = try given.namedRemotes()
        var found: [(RemoteFolderName, RecoveredVault)] = []
        var problem: RecoveryProblem?
        for name in names {
            let recovery = RecoveryMember(code.secret, vault: name.vault)
            let contents = try place.run { try RemoteContents(reading: place.store(name), vault: name.vault) }
            do throws(RecoveryProblem) {
                found.append((name, try RecoveredVault(contents, recovery, choosing: chosen(contents))))
            } catch {
                // Of a remote of another vault the code is always another one.
                if error != .otherCode { problem = error }
            }
        }
        if found.isEmpty, let problem { throw Self.failure(problem) }
        guard let first = found.first else {
            throw Failure(
                .badSecret, "\(place.words) has no remote that this code opens",
                hint:
                    "the code is that of 'omvault sync init --code-from', or the newest of 'omvault key add-slot --type recovery'"
            )
        }
        guard found.count == 1 else {
            throw Failure(
                .ambiguous, "\(place.words) has \(found.count) remotes that this code opens",
                hints: ["name one of them:"] + found.map { "\(place.path)/\($0.0.text)" }.sorted())
        }
        return (place, first.0, first.1)
    }

    /// The entries of `--entry`.
    private func chosen(_ contents: RemoteContents) -> Set<[UInt8]> {
        Set(contents.entries.map(\.digest).filter { options.entry.contains(Self.digits(ofEntry: $0)) })
    }

    private static func digits(ofEntry digest: [UInt8]) -> String { Hex.encode(Array(digest.prefix(8))) }

    private static func failure(_ problem: RecoveryProblem) -> Failure {
        switch problem {
        case .notMounted:
            Failure(.network, "the remote has no first entry yet", hint: "if a tool syncs the folder, wait for its files")
        case .otherCode: Failure(.badSecret, "the code opens no remote there", hint: "compare each letter")
        case .notAnchored:
            Failure(
                .corrupt, "the list of devices there was not made by a holder of this code: someone has forged it",
                hint: "nothing was joined")
        case .badRoll:
            Failure(.corrupt, "the list of devices there was changed without the keys", hint: "nothing was joined")
        case .undecided(let entries):
            Failure(
                .ambiguous, "two entries of the list of devices exclude each other",
                hints: ["choose one with --entry:"]
                    + entries.map { entry in
                        let removed = entry.contents.removed.map(SyncStatus.digits).joined(separator: ", ")
                        return "\(digits(ofEntry: entry.digest)), signed by \(SyncStatus.digits(entry.contents.signer)) at "
                            + "\(Timestamp.text(entry.contents.time))" + (removed.isEmpty ? "" : ", removes \(removed)")
                    })
        }
    }

    // MARK: - Joining

    /// Nothing is on the remote before the vault has its name: a failure leaves no trace.
    private func join(
        _ new: borrowing NewVault, at path: String, _ recovered: RecoveredVault, with recovery: borrowing RecoveryMember,
        from place: RemotePlace, _ remote: RemoteFolderName
    ) throws {
        try VaultFile.create(path, id: remote.vault, device: new.device, policy: new.policy, slots: new.slots)
        let vault = try new.unlock(path)
        let device = try NewDevice(of: vault)
        let roll = try recovered.adding(device, named: name, recovery, now: secondsNow())
        try vault.joinSync(roll, salt: device.salt, now: secondsNow())
        let row = try vault.addRemote(
            incarnation: remote.incarnation, path: place.path, login: place.heldLogin, now: secondsNow())
        let without = try members(options.without, try status(vault))
        if !without.isEmpty { try vault.removeDevices(Set(without), recovery, now: secondsNow()) }
        // From here on the vault keeps the tokens of a server.
        let joined = try RemotePlace(of: row, in: vault)
        let pull = try read(row, of: vault, from: joined.store(remote), in: joined)
        let status = try status(vault)
        let kept = try members(options.keep, status) + [status.own.device]
        let lost = status.members.filter { $0.kind == .device && !kept.contains($0.number) }
        tell(status, lost, pull, items: try vault.items().count)
        guard !lost.isEmpty else { return }
        try context.confirm("Remove \(lost.map(\.shownName.shown).joined(separator: ", ")), and join as \"\(name.text)\"?")
        try vault.removeDevices(Set(lost.map(\.number)), recovery, now: secondsNow())
    }

    private func read(
        _ row: RemoteRow, of vault: borrowing Vault, from store: RemotePlace.Store, in place: RemotePlace
    ) throws -> PullReport {
        let pull = try place.run { try vault.take(from: row, store, now: secondsNow()) }
        guard !pull.isStopped else {
            let names = try status(vault)
            let who = pull.notAccepted.filter(\.value.stops).keys.sorted().map { names.name(of: $0).shown }
            throw Failure(
                .rollback, "what \(who.joined(separator: ", ")) wrote does not fit what others wrote",
                hint: "--without NAME leaves out the last files of a device; a copy or a thief of it may have written them")
        }
        // Attack, or accident: nothing was merged. The devices must not be removed, and what they wrote be left behind.
        if let failure = RemoteExchange.failure(pull, row, try status(vault)) { throw failure }
        return pull
    }

    private func tell(_ status: SyncStatus, _ lost: [MemberStatus], _ pull: PullReport, items: Int) {
        context.output.notice(
            "\(items.of("item")) found; \(place.isServer ? "a server" : "a folder") can hold back what is newer than this:")
        for member in lost {
            let time = status.remotes.first?.news[member.number].map { "news from \(context.output.time($0))" } ?? "no news"
            let isLate = pull.notAccepted[member.number] != nil
            context.output.notice(
                "  \(member.shownName.shown): \(time)\(isLate ? "; its newest files are not whole, and will not be read" : "")")
        }
        if pull.waiting > 0 {
            context.output.notice("\(pull.waiting.of("version")) cannot be read now, and will not be if you go on")
        }
    }

    private func members(_ given: [String], _ status: SyncStatus) throws(Failure) -> [UInt32] {
        try given.map { given throws(Failure) in try status.member(given).number }
    }

    private func status(_ vault: borrowing Vault) throws -> SyncStatus {
        guard let status = try vault.syncStatus() else { throw VaultError.corrupt(.sync) }
        return status
    }
}
