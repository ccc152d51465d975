// Making a credential without a server, replacing it, and taking it away.

public import OMSecrets
internal import OMStorage

extension Authenticator {
    /// Makes the cached credential of `user`, the device key too if there is none.
    ///
    /// A wiped credential is replaced. A living one is not: see ``enroll(_:_:password:oldPassword:)``.
    ///
    /// - Returns: The login that the new credential gave in its self-test.
    /// - Throws: ``AuthError/offlineNotAllowed``, ``AuthError/oldPasswordRequired``, and what stands in the way of a
    ///   credential that is locked out, damaged or rolled back: it has to be removed first.
    public func enroll(
        _ user: UserName, _ profile: Profile, password: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        guard profile.offlineAuthAllowed else { throw .offlineNotAllowed }
        let key = LoginKey(profile: profile.name, user: user)
        let store = try make(key)
        try store.finishPendingWipes()
        while let row = try store.load(key.id(under: store.device)), row.credential != .wiped {
            // Nil: the row has changed meanwhile. Judge it anew.
            if try admit(row, profile, store) != nil { throw .oldPasswordRequired }
        }
        return try replace(nil, key, profile, password, store)
    }

    /// Replaces a living credential. The old password is checked, and charged, like any attempt.
    ///
    /// - Throws: What ``check(_:_:password:)`` throws for the old password; then as
    ///   ``enroll(_:_:password:)``.
    public func enroll(
        _ user: UserName, _ profile: Profile, password: borrowing Password, oldPassword: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        guard profile.offlineAuthAllowed else { throw .offlineNotAllowed }
        let key = LoginKey(profile: profile.name, user: user)
        let store = try open(key)
        let old = try store.find(key).credential
        _ = try check(user, profile, password: oldPassword)
        guard case .live(let slot) = old else { throw .oldPasswordRequired }
        return try replace(slot, key, profile, password, store)
    }

    /// Removes the credential of `user`, whatever state it is in: the administrator's way out of a lock-out, damage or a
    /// rollback. Everything about it goes but its generation, so that a copy of it stays refused.
    ///
    /// A ledger that cannot even be opened is moved aside whole: the other logins in it are refused as rolled back from
    /// then on, each until it is removed too.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    public func remove(_ user: UserName, _ profile: ProfileName) throws(AuthError) -> Removal {
        do throws(AuthError) { return try removeRow(user, profile) ? .done : .pending } catch {
            guard error == .quarantined, let aside = try moveUnreadableAside() else { throw error }
            _ = try? removeRow(user, profile)
            return .movedAside(aside)
        }
    }

    public enum Removal: Hashable, Sendable {
        /// All of its bytes are gone.
        case done
        /// Another process reads an old state of the ledger and keeps its bytes until the next operation.
        case pending
        /// The ledger was beyond reading; it is here now.
        case movedAside(String)
    }

    /// - Returns: nil when the ledger can be opened.
    private func moveUnreadableAside() throws(AuthError) -> String? {
        do throws(StorageError) { _ = try Ledger.open(places.ledger) } catch {
            guard error == .corrupt else { throw AuthError(storage: error) }
            return try storing { () throws(StorageError) in try Database.moveAside(places.ledger) }
        }
        return nil
    }

    private func removeRow(_ user: UserName, _ profile: ProfileName) throws(AuthError) -> Bool {
        let key = LoginKey(profile: profile, user: user)
        let folder = try places.deviceFolder()
        let device = try storing { () throws(StorageError) in try folder?.load() }
        let file = try storing { () throws(StorageError) in try Ledger.open(places.ledger) }
        guard let file else {
            guard let folder, let device else { throw .noCredential }
            _ = try storing { () throws(StorageError) in try PrivateFolder.make(places.state) }
            let ledger = try storing { () throws(StorageError) in try Ledger.make(places.ledger) }
            return try remove(key, LoginStore(ledger, folder, device, clock))
        }
        guard let folder, let device else { return try removeWithoutKey(key, file) }
        return try remove(key, LoginStore(file, folder, device, clock))
    }

    // MARK: - Steps

    /// Opens the store, making what is missing.
    private func make(_ key: LoginKey) throws(AuthError) -> LoginStore {
        let ledger = try storing { () throws(StorageError) in
            _ = try PrivateFolder.make(places.state)
            return try Ledger.make(places.ledger)
        }
        let folder = try storing { () throws(StorageError) in try DeviceFolder.make(places.device) }
        let found = try storing { () throws(StorageError) in try folder.load() }
        if found == nil {
            // A new device key beside old rows would make "the key is gone" look like "another key's row".
            let isEmpty = try storing { () throws(StorageError) in try ledger.rows().isEmpty }
            guard isEmpty else { throw .deviceKeyMissing }
        }
        let device = try storing { () throws(StorageError) in try folder.make() }
        let store = LoginStore(ledger, folder, device, clock)
        do throws(AuthError) { _ = try store.find(key) } catch {
            guard error == .noCredential else { throw error }
        }
        return store
    }

    /// Puts a new slot where `old` is, or where none is, and tries it.
    private func replace(
        _ old: LoginSlot?, _ key: LoginKey, _ profile: Profile, _ password: borrowing Password,
        _ store: borrowing LoginStore
    ) throws(AuthError) -> VerifiedLogin {
        let id = key.id(under: store.device)
        let recipe = LoginRecipe(profile.cryptoScheme, parameters)
        let stretched = try recipe.stretch(password)
        let slot = LoginSlot(recipe, stretched, store.device, id)
        return try store.lock(id).hold(wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                // Two that enrol one user at once: the second finds the first one's slot, and does not know its password.
                guard Self.holds(try store.load(id)?.credential, old) else { throw .oldPasswordRequired }
                try store.insert(LoginRow(id, key, slot, store.device, profile, clock()))
                // The slot that was replaced. A reader may keep its bytes for now; the next purge gets them.
                if old != nil { _ = try? store.purge(wait: 0) }
                return try selfTest(key, profile, stretched)
            }
        }
    }

    private static func holds(_ found: LoginRow.Credential?, _ old: LoginSlot?) -> Bool {
        switch found {
        case nil, .wiped: old == nil
        case .live(let slot): slot == old
        case .wipePending: false
        }
    }

    /// Opens what was stored as a later process will: device key, mark and row read anew.
    private func selfTest(
        _ key: LoginKey, _ profile: Profile, _ stretched: borrowing Key<Unlocking>
    ) throws(AuthError) -> VerifiedLogin {
        let store = try open(key)
        let row = try store.find(key)
        guard let login = row.openNewSlot(with: stretched, store.device, profile, clock()) else {
            try store.remove(key)
            throw .selfTestFailed
        }
        return login
    }

    private func remove(_ key: LoginKey, _ store: borrowing LoginStore) throws(AuthError) -> Bool {
        let id = key.id(under: store.device)
        return try store.lock(id).hold(wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                // Whatever else is wrong with it, it can be removed.
                do throws(AuthError) { _ = try store.find(key) } catch {
                    if error == .noCredential { throw error }
                }
                try store.remove(key)
                return try store.purge(wait: Self.patience)
            }
        }
    }

    /// Without the device key there is no id, no mark and no lock: the rows that name this login go.
    private func removeWithoutKey(_ key: LoginKey, _ ledger: borrowing Ledger) throws(AuthError) -> Bool {
        let isThere = try storing { () throws(StorageError) in try ledger.deleteRows(naming: key) }
        guard isThere else { throw .noCredential }
        return try storing { () throws(StorageError) in try ledger.purge(wait: Self.patience) }
    }
}
