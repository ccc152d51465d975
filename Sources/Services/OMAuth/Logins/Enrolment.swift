// Making a credential without a server, replacing it, and taking it away.

public import OMSecrets
public import OMStorage
internal import OMSystem

extension Authenticator {
    /// Makes the cached credential of `user`, the device key too if there is none.
    ///
    /// A wiped credential is replaced. A living one is not: see ``enroll(_:_:domain:password:oldPassword:)``.
    ///
    /// - Returns: The login that the new credential gave in its self-test.
    /// - Throws: ``AuthError/offlineNotAllowed``, ``AuthError/oldPasswordRequired``, and what stands in the way of a
    ///   credential that is locked out, damaged or rolled back: it has to be removed first.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func enroll(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        guard LoginPolicy(profile).isOfflineAllowed else { throw .offlineNotAllowed }
        let key = LoginKey(user, profile, domain)
        let store = try make(key)
        try store.finishPendingWipes()
        while let row = try store.load(key.id(under: store.device)) {
            if row.verifier == .wiped || row.verifier == .cleared { break }
            // Nil: the row has changed meanwhile. Decide again.
            if try slotToTry(row, under: profile, in: store) != nil { throw .oldPasswordRequired }
        }
        return try replace(nil, of: key, under: profile, password, in: store)
    }

    /// Replaces a living credential. The old password is checked, and charged, like any attempt.
    ///
    /// - Throws: What ``check(_:_:domain:password:)`` throws for the old password; then as
    ///   ``enroll(_:_:domain:password:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func enroll(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password,
        oldPassword: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        guard LoginPolicy(profile).isOfflineAllowed else { throw .offlineNotAllowed }
        let key = LoginKey(user, profile, domain)
        let store = try open(key)
        let old = try store.find(key).verifier
        _ = try check(user, profile, domain: domain, password: oldPassword)
        guard case .live(let slot) = old else { throw .oldPasswordRequired }
        return try replace(slot, of: key, under: profile, password, in: store)
    }

    /// Removes the credential of `user`, whatever state it is in: the administrator's way out of a lock-out, damage or a
    /// rollback. Everything about it goes but its generation, so that a copy of it stays refused.
    ///
    /// A ledger that cannot even be read is set aside whole: the other logins in it are refused as rolled back from
    /// then on, each until its own login online, or until it is removed too.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    ///
    /// - Parameters:
    ///   - profile: Its name: the profile itself may be gone, or beyond reading.
    ///   - server: The profile's ``Profile/serverIdentity``, for a login whose row does not say it any more.
    public func remove(
        _ user: UserName, _ profile: ProfileName, domain: IdentityDomain = .none, server: String = ""
    ) throws(AuthError) -> Removal {
        let key = LoginKey(profile: profile, user: user, server: server, domain: domain)
        do throws(AuthError) { return try removeLogin(key) ? .done : .pending } catch {
            guard error == .quarantined, let aside = try renameDamagedLedger() else { throw error }
            _ = try? removeLogin(key)
            return .ledgerRenamed(aside)
        }
    }

    public enum Removal: Hashable, Sendable {
        /// All of its bytes are gone from the ledger. ``Authenticator/damagedLedgers()`` may have some of before.
        case done
        /// Another process reads an old state of the ledger and keeps its bytes until the next operation.
        case pending
        /// The ledger was beyond reading; it is here now.
        case ledgerRenamed(DamagedFile)
    }

    /// An administrator gets rid of a ledger also where the device key is lost.
    private func renameDamagedLedger() throws(AuthError) -> DamagedFile? {
        guard try backend.loadDevice() == nil else { return try replaceUnreadableLedger() }
        return try backend.renameUnreadableLedger(at: clock().wall)
    }

    /// - Returns: Whether all bytes of it are gone from the ledger.
    private func removeLogin(_ key: LoginKey) throws(AuthError) -> Bool {
        let device = try backend.loadDevice()
        let found = try backend.openLedger()
        guard let device else {
            guard let found else { throw .noCredential }
            return try removeWithoutKey(key, found)
        }
        let ledger = if let found { found } else { try backend.makeLedger() }
        let store = try LoginStore(ledger, device, of: self)
        guard let isFinished = try removeRows(key, store) else { throw .noCredential }
        return isFinished
    }

    // MARK: - Steps

    /// Opens the store, making what is missing.
    func makeStore() throws(AuthError) -> LoginStore {
        let ledger = try backend.makeLedger()
        if try backend.loadDevice() == nil {
            // A new device key beside old rows would make "the key is gone" look like "another key's row".
            let isEmpty = try ledger.rows().isEmpty
            guard isEmpty else { throw .deviceKeyMissing }
        }
        let device = try backend.makeDevice()
        return try LoginStore(ledger, device, of: self)
    }

    private func make(_ key: LoginKey) throws(AuthError) -> LoginStore {
        let store = try makeStore()
        do throws(AuthError) { _ = try store.find(key) } catch {
            guard error == .noCredential else { throw error }
        }
        return store
    }

    /// Puts a new slot where `old` is, or where none is, and tries it.
    private func replace(
        _ old: LoginSlot?, of key: LoginKey, under profile: Profile, _ password: borrowing Password,
        in store: borrowing LoginStore
    ) throws(AuthError) -> VerifiedLogin {
        let id = key.id(under: store.device)
        let server = try store.load(id)?.server
        let policy = LoginPolicy(profile, server)
        guard policy.isOfflineAllowed else { throw .offlineNotAllowed }
        let derivation = SlotKeyDerivation(policy.cryptoScheme, parameters)
        let stretched = try stretch(derivation, password)
        let slot = LoginSlot(derivation, stretched, of: id, on: store.device)
        let login = try store.exclusively(id, unless: cancellation) { () throws(AuthError) -> VerifiedLogin? in
            try cancellation?.check()
            // Two that enrol one user at once: the second finds the first one's slot, and does not know its password.
            let now = try store.load(id)
            guard Self.holds(now?.verifier, old) else { throw .oldPasswordRequired }
            // A policy that came during the stretch is not to be rolled back by this row.
            guard now?.server == server else { return nil }
            let row = LoginRow(
                id, of: key, .live(slot), on: store.device, under: policy, at: LastSeenTime(starting: clock()), server: server)
            try store.insert(row, recording: [.enrolled(isReplaced: old != nil)])
            // The slot that was replaced. A reader may keep its bytes for now; the next purge gets them.
            if old != nil { _ = try? store.purge(wait: 0) }
            return try selfTest(key, under: policy, stretched)
        }
        if let login { return login }
        return try replace(old, of: key, under: profile, password, in: store)
    }

    private static func holds(_ found: LoginRow.StoredVerifier?, _ old: LoginSlot?) -> Bool {
        switch found {
        case nil, .wiped, .cleared: old == nil
        case .live(let slot): slot == old
        case .wipePending, .clearPending: false
        }
    }

    /// Opens what was stored as a later process will: device key, mark and row read anew.
    func selfTest(
        _ key: LoginKey, under policy: LoginPolicy, _ stretched: borrowing Key<Unlocking>
    ) throws(AuthError) -> VerifiedLogin {
        let store = try open(key)
        let row = try store.find(key)
        guard let login = row.openNewSlot(with: stretched, on: store.device, under: policy, at: clock()) else {
            try store.remove(key)
            throw .selfTestFailed
        }
        return login
    }

    /// Removes every row that names the user, the profile and the domain, at each server. A row that cannot be removed, such
    /// as one that another process holds, does not stop the others from being removed.
    ///
    /// - Parameter event: nil: an administrator removes the login, and its server's policy too.
    /// - Returns: Whether all of its bytes are gone; nil when there is nothing to remove.
    /// - Throws: The first error, after the last row.
    @discardableResult
    func removeRows(
        _ key: LoginKey, _ store: borrowing LoginStore, after event: ClearingEvent? = nil
    ) throws(AuthError) -> Bool? {
        var (isFinished, failure): (Bool?, AuthError?) = (nil, nil)
        for key in try store.keys(naming: key).union([key]) {
            do throws(AuthError) {
                guard let isDone = try removeRow(key, store, after: event) else { continue }
                isFinished = isDone && isFinished ?? true
            } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
        return isFinished
    }

    private func removeRow(
        _ key: LoginKey, _ store: borrowing LoginStore, after event: ClearingEvent?
    ) throws(AuthError) -> Bool? {
        let id = key.id(under: store.device)
        return try store.exclusively(id) { () throws(AuthError) in
            // Whatever else is wrong with it, it can be removed.
            do throws(AuthError) { _ = try store.find(key) } catch {
                if error == .noCredential, try !store.hasRemembered(naming: key) { return nil }
            }
            if event != nil { try store.keepKnownPolicy(of: key) }
            try store.remove(key, recording: event.map { .cleared($0) } ?? .removed)
            // As after logout --clear: a password that is still remembered would log the user in again.
            try store.ledger.write { () throws(AuthError) in
                _ = try store.deleteRemembered(Clearing(after: .logoutClear), naming: key)
            }
            return try store.purgeDeletedPasswords(wait: Self.wipeWait)
        }
    }

    /// Without the device key there is no id, no mark and no lock: the rows that name this login go.
    private func removeWithoutKey(_ key: LoginKey, _ ledger: any LedgerTables) throws(AuthError) -> Bool {
        let isThere = try ledger.deleteRows(naming: key)
        guard isThere else { throw .noCredential }
        return try ledger.purge(wait: Self.wipeWait)
    }
}
