// Deleting the cached credential for other reasons than the limit: a server's no, and the end of a session.

internal import OMOnlineModel
internal import OMSecrets

extension Authenticator {
    /// S5, no: deletes what the answer clears. An error in here must not turn the no into a yes, so nothing is thrown.
    func settle(_ refusal: OnlineRefusal, _ request: LoginRequest, _ password: borrowing Password) {
        guard let store = try? openIfPresent() else { return }
        let key = LoginKey(request.user, request.profile, request.domain)
        store.record(.refusedOnline(LoginEvent.Refusal(refusal)), of: key)
        switch refusal {
        case .unreachable, .untrusted, .failed: return
        case .forbidden: clear(.forbidden, key, store)
        case .blocked: clear(.blocked, key, store)
        case .rejected:
            let cached = (try? comparedSlot(of: key, under: request.profile, password, in: store)) ?? nil
            clear(cached == nil ? .rejectedOther : .rejectedCached, key, store, only: cached)
        }
    }

    /// Whether the refused password is the cached one. Then it was changed at the server.
    ///
    /// Attack: an attacker guesses this way, because a blocked account answers 401 to every password. So comparisons
    /// have their own budget. Each is charged on the disk first, and only an online success resets it.
    ///
    /// - Returns: The slot that the password opens. Nil if it opens none, or if the budget is used up.
    private func comparedSlot(
        of key: LoginKey, under profile: Profile, _ password: borrowing Password, in store: borrowing LoginStore
    ) throws(AuthError) -> LoginSlot? {
        let row: LoginRow
        do throws(AuthError) { row = try store.find(key) } catch {
            stretchForEqualTiming(refused: error, under: profile, password)
            throw error
        }
        let policy = LoginPolicy(profile, row.server)
        guard case .live(let slot) = row.verifier, row.onlineCompares < UInt32(policy.mostComparisons) else {
            stretchForEqualTiming(refused: .noCredential, under: profile, password)
            return nil
        }
        let stretched = try stretch(slot.derivation, password)
        return try store.exclusively(row.id) { () throws(AuthError) in
            let charge = try store.chargeComparison(row.id, slot, most: policy.mostComparisons)
            guard let charge else { return nil }
            reached(.checking(charge.row))
            let isCached = charge.isCached(stretched, store.device)
            store.record(.compared(isCached: isCached), of: key)
            return isCached ? slot : nil
        }
    }

    /// Deletes what an event clears, row and remembered data in one transaction.
    ///
    /// - Parameter only: The slot that the event is about. If another process has stored a new slot since, for a
    ///   password that the server accepted, that one stays.
    func clear(_ event: ClearingEvent, _ key: LoginKey, _ store: borrowing LoginStore, only slot: LoginSlot? = nil) {
        let clearing = Clearing(after: event), id = key.id(under: store.device)
        var isPurgeDue = false
        _ = try? store.exclusively(id) { () throws(AuthError) in
            do throws(AuthError) {
                let row = try store.change(id, recording: { _ in [.cleared(event)] }) { (row) throws(AuthError) in
                    if !clearing.keepsVerifier, case .live(let live) = row.verifier, slot ?? live == live {
                        row.verifier = .clearPending
                    }
                    isPurgeDue = try store.deleteRemembered(clearing, of: key)
                }
                if row.isPending { _ = try store.finishWipe(id, wait: Self.wipeWait) }
            } catch {
                // There is no row, or none that can be trusted. The remembered data is deleted anyway.
                guard error == .noCredential || error == .quarantined || error == .rolledBack else { throw error }
                isPurgeDue = try store.ledger.write { () throws(AuthError) in try store.deleteRemembered(clearing, of: key) }
            }
        }
        if isPurgeDue { _ = try? store.purgeDeletedPasswords(wait: 0) }
    }

    // MARK: - Ends of a session

    /// Deletes the data here that the end of a session clears.
    ///
    /// - Parameter event: ``ClearingEvent/sessionTimeOut``, ``ClearingEvent/idleTimeOut``, ``ClearingEvent/logout`` or
    ///   ``ClearingEvent/logoutClear``.
    /// - Returns: Everything that the event clears. The caller has to delete what this room does not store.
    @discardableResult
    public func end(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, after event: ClearingEvent
    ) throws(AuthError) -> Clearing {
        try end(LoginKey(user, profile, domain), after: event)
    }

    /// The same for a caller that kept the session and has no profile.
    @discardableResult
    public func end(_ key: LoginKey, after event: ClearingEvent) throws(AuthError) -> Clearing {
        let clearing = Clearing(after: event)
        guard let store = try openIfPresent() else { return clearing }
        if event == .logout || event == .logoutClear {
            store.record(.loggedOut(isCleared: event == .logoutClear), of: key)
        }
        // A user who logs out expects the password to be deleted, also at servers that the profile named earlier.
        if event == .logoutClear {
            try removeRows(key, store, after: event)
        } else {
            clear(event, key, store)
            if event == .logout { try deleteRememberedElsewhere(clearing, key, store) }
        }
        return clearing
    }
}
