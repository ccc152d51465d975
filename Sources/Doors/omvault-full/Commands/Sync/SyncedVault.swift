// The vault of a command of sync, unlocked in this process. `SyncingAgent` is the other way.

internal import OMItems
internal import OMParcels
internal import OMSecrets
internal import OMShell
internal import OMSync
internal import OMVault

/// An unlocked vault, and what it knows of its sync.
struct SyncedVault: ~Copyable {
    let access: VaultAccess
    let vault: Vault

    init(_ context: CommandContext, _ unlock: UnlockOptions) throws(Failure) {
        try self.init(context, unlock, SecretSources(context, unlock.sources))
    }

    init(_ context: CommandContext, _ unlock: UnlockOptions, _ secrets: borrowing SecretSources) throws(Failure) {
        let access = try VaultAccess(context)
        self.init(access, try access.open(secrets, unlock))
    }

    init(_ access: VaultAccess, _ vault: consuming Vault) {
        self.access = access
        self.vault = vault
    }

    /// - Throws: ``ExitStatus/notFound`` if the vault does not sync.
    borrowing func status() throws(Failure) -> SyncStatus {
        let status: SyncStatus?
        do throws(VaultError) { status = try vault.syncStatus() } catch { throw access.failure(error) }
        guard let status else { throw Failure(vaultDoesNotSync: access.location) }
        return status
    }

    /// The folder or the server of a remote.
    borrowing func place(of remote: RemoteRow) throws(Failure) -> RemotePlace {
        do throws(VaultError) { return try RemotePlace(of: remote, in: vault) } catch { throw access.failure(error) }
    }

    /// Keeps a remote that shows another life of this file: only a rejoin reads what that life wrote. A remote that cannot be
    /// read shows nothing.
    borrowing func requireNoOtherLife(on remote: SyncStatus.Remote, _ status: SyncStatus) throws(Failure) {
        let row = remote.row
        guard let place = try? place(of: row),
            (try? vault.showsOtherLife(row, from: place.store(remote.name(status)))) ?? false
        else { return }
        throw Failure(
            .rollback, "another copy of this vault wrote to remote \(row.id), and only a rejoin reads that",
            hint: RemoteExchange.rejoin)
    }

    /// What sync leaves to the user.
    borrowing func questions() throws(Failure) -> QuestionList {
        do throws(VaultError) { return try vault.openQuestions(now: secondsNow()) } catch { throw access.failure(error) }
    }

    borrowing func concerns() throws(Failure) -> SyncConcerns {
        SyncConcerns(try questions(), try status(), now: secondsNow())
    }

    /// The remotes that a command works on.
    ///
    /// - Parameter number: Nil for all.
    static func chosen(_ number: UInt8?, of status: SyncStatus) throws(Failure) -> [SyncStatus.Remote] {
        guard !status.remotes.isEmpty else {
            throw Failure(
                .notFound, "the vault has no remote", hint: "omvault sync remote add FOLDER|URL --create makes one")
        }
        guard let number else { return status.remotes }
        guard let remote = status.remotes.first(where: { $0.row.id == number }) else {
            throw Failure(.notFound, "the vault has no remote \(number)", hint: "omvault sync remote ls lists them")
        }
        return [remote]
    }
}

extension SyncStatus {
    /// The device of this name or number.
    func member(_ given: String) throws(Failure) -> MemberStatus {
        let all = members.filter { $0.kind == .device }
        let exact = all.filter { Self.digits($0.number) == given }
        let found = exact.isEmpty ? all.filter { $0.name?.text == given } : exact
        guard let member = found.first else {
            throw Failure(.notFound, "the vault has no device \"\(given.shown)\"", hint: "omvault device ls lists them")
        }
        guard found.count == 1 else {
            throw Failure(
                .ambiguous, "\(found.count) devices are called \"\(given.shown)\"",
                hint: "give a number: \(found.map { Self.digits($0.number) }.joined(separator: ", "))")
        }
        return member
    }

    /// What the user called this device.
    func ownName() throws(Failure) -> DeviceName {
        guard let name = members.first(where: \.isThis)?.name else { return try DeviceNameOption.name(nil) }
        return name
    }

    /// The name of a device, as the user gave it; else its number.
    func name(of device: UInt32) -> String {
        members.first { $0.number == device }?.name?.text ?? Self.digits(device)
    }

    /// The number of a device, as the folders of a remote have it.
    static func digits(_ device: UInt32) -> String {
        let digits = String(device, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension MemberStatus {
    var shownName: String { name?.text ?? (kind == .recovery ? "recovery code" : SyncStatus.digits(number)) }
}
