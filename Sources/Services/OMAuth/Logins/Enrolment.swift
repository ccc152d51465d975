// Credentials without a server: making, replacing and removing them.

public import OMSecrets
public import OMStorage
internal import OMSystem

extension Authenticator {
    /// Makes the cached credential of `user`. It also makes the device key if there is none.
    ///
    /// It replaces a wiped credential, but not a live one: see ``enroll(_:_:domain:password:oldPassword:)``.
    ///
    /// - Returns: The login that the new credential gave in its self-test.
    /// - Throws: ``AuthError/offlineNotAllowed``, ``AuthError/oldPasswordRequired``, and the refusal of a credential
    ///   that is locked out, damaged or rolled back. Such a credential has to be removed first.
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

    /// Replaces a live credential. The old password is checked, and charged, like any attempt.
    ///
    /// - Throws: What ``check(_:_:domain:password:)`` throws for the old password; then like
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

    /// Removes the credential of `user` in any state. An administrator uses this after a lock-out, damage or a
    /// rollback. Only its generation stays, so that a copy of the credential is refused later.
    ///
    /// A ledger that cannot be read is set aside as a whole. Its other logins are then refused as rolled back, each
    /// until its own login online or its removal.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    ///
    /// - Parameters:
    ///   - profile: The profile's name. The profile itself may be missing or unreadable.
    ///   - server: The profile's ``Profile/serverIdentity``, for a login whose row no longer names it.
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
        /// All of its bytes are gone from the ledger. Ledgers that were set aside may still have them:
        /// ``Authenticator/damagedLedgers()``.
        case done
        /// Another process reads an old state of the ledger and keeps its bytes until the next operation.
        case pending
        /// The ledger could not be read. It now has this name.
        case ledgerRenamed(DamagedFile)
    }

    /// Sets an unreadable ledger aside, even if the device key is lost: an administrator must be able to remove it.
    private func renameDamagedLedger() throws(AuthError) -> DamagedFile? {
        guard try backend.loadDevice() == nil else { return try replaceUnreadableLedger() }
        return try backend.renameUnreadableLedger(at: clock().wall)
    }

    /// - Returns: Whether all bytes of the login are gone from the ledger.
    private func removeLogin(_ key: LoginKey) throws(AuthError) -> Bool {
        // In this order: a device key is made before the rows of a ledger.
        let found = try backend.openLedger()
        let device = try backend.loadDevice()
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

    /// Opens the store, and creates what is missing.
    func makeStore() throws(AuthError) -> LoginStore {
        let ledger = try backend.makeLedger()
        if try backend.loadDevice() == nil {
            // A new device key beside old rows would turn "the key is missing" into "the row belongs to another key".
            // Another process may have made both since. A key is made before its rows, so it is looked for again.
            let isEmpty = try ledger.rows().isEmpty
            if !isEmpty, try backend.loadDevice() == nil { throw .deviceKeyMissing }
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

    /// Stores a new slot in place of `old`, or where there is none, and tests it.
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
            // If two processes enrol one user at once, the second finds the first one's slot and does not know its password.
            let now = try store.load(id)
            guard Self.holds(now?.verifier, old) else { throw .oldPasswordRequired }
            // This row must not undo a policy that came during the stretch.
            guard now?.server == server else { return nil }
            let row = LoginRow(
                id, of: key, .live(slot), on: store.device, under: policy, at: LastSeenTime(starting: clock()), server: server)
            try store.insert(row, recording: [.enrolled(isReplaced: old != nil)])
            // Erases the old slot. A reader may keep its bytes for now; then the next purge erases them.
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

    /// Opens the stored credential as a later process will: it reads device key, mark and row again.
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

    /// Removes every row that names the user, the profile and the domain, at each server. If one row cannot be removed,
    /// for example because another process holds it, the others are still removed.
    ///
    /// - Parameter event: If nil, an administrator removes the login, and its server's policy too.
    /// - Returns: Whether all bytes are gone. Nil if there is nothing to remove.
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
            // A row can be removed whatever else is wrong with it.
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

    /// Without the device key there is no id, no mark and no lock. So this deletes the rows that name the login.
    private func removeWithoutKey(_ key: LoginKey, _ ledger: any LedgerTables) throws(AuthError) -> Bool {
        let isThere = try ledger.deleteRows(naming: key)
        guard isThere else { throw .noCredential }
        return try ledger.purge(wait: Self.wipeWait)
    }
}
