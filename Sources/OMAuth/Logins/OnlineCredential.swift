// What a server's answer does to the cached credential: a yes stores a new one, a no may take the old one away.

internal import OMRecords
internal import OMSecrets
internal import OMStorage

extension Authenticator {
    /// S5, yes: stores a credential of the password that the server took, opens it, and makes the receipt.
    ///
    /// Whatever stands in the way of storing it, the server has said yes: the receipt says why nothing is cached.
    func accept(
        _ accepted: consuming AcceptedAnswer, _ request: LoginRequest, _ password: borrowing Password
    ) -> LoginReceipt {
        let reason: AuthError
        var (gap, aside) = (accepted.policyGap, SetAside?.none)
        if gap == nil, accepted.policy == nil, request.profile.profileURL != nil { gap = .notAsked }
        do throws(AuthError) {
            let stored = try store(accepted.policy, &gap, accepted.serverTime, request, password, settingAside: &aside)
            switch consume stored {
            case .some(let login): return LoginReceipt(online: accepted, stored: login, gap, aside, request, clock())
            case .none: reason = .offlineNotAllowed
            }
        } catch { reason = error }
        return LoginReceipt(online: accepted, notCached: reason, gap, aside, request, clock())
    }

    /// The same as below, into a new ledger where the one that is there cannot be read.
    private func store(
        _ offered: ServerPolicy?, _ gap: inout PolicyGap?, _ serverTime: Int64?, _ request: LoginRequest,
        _ password: borrowing Password, settingAside aside: inout SetAside?
    ) throws(AuthError) -> VerifiedLogin? {
        let given = gap
        do throws(AuthError) { return try store(offered, &gap, serverTime, request, password) } catch {
            // A row or a mark that is damaged has been replaced by then; what is left is the file.
            guard error == .quarantined else { throw error }
        }
        gap = given
        aside = try replaceUnreadableLedger()
        return try store(offered, &gap, serverTime, request, password)
    }

    /// - Parameter gap: Why there is no policy of the server's; set where the one that is offered is not taken.
    /// - Returns: nil where offline logins are not allowed.
    private func store(
        _ offered: ServerPolicy?, _ gap: inout PolicyGap?, _ serverTime: Int64?, _ request: LoginRequest,
        _ password: borrowing Password
    ) throws(AuthError) -> VerifiedLogin? {
        let (profile, key) = (request.profile, LoginKey(request.user, request.profile, request.domain))
        // Nothing is made for somebody who may not be cached, and of whom nothing is known.
        if offered == nil, gap == nil, !LoginPolicy(profile).isOfflineAllowed, try openAny() == nil { return nil }
        let store = try makeStore()
        try store.finishPendingWipes()
        let id = key.id(under: store.device)
        // Damaged, put back, wiped or locked out: the server's word makes it all anew.
        let row = try? store.load(id)
        // Whoever asks for no policy keeps the one of his own row; what others have seen is for those who ask.
        let known = offered == nil && gap == nil ? row?.server : try store.knownPolicy(for: key, row?.server)
        if let gap, known == nil {
            // The login stands. What was cached before stays as it is: it was made without this server's word.
            store.tell(.grantedOnline(isCached: false), of: key, at: clock())
            store.tell(.policyMissing(LoginEvent.Refusal(gap)), of: key, at: clock())
            throw .policyMissing(gap)
        }
        let (server, epochs) = Self.newer(known, offered, held: row?.server, &gap)
        let policy = LoginPolicy(profile, server)
        guard policy.isOfflineAllowed else {
            guard row != nil || server != nil else { return nil }
            try bar(row, key, id, policy, server, epochs, serverTime, store)
            return nil
        }
        // Both stretches outside the lock. The old slot's, because a vault's login slot needs the key that is in it.
        let recipe = LoginRecipe(policy.cryptoScheme, parameters)
        let stretched = try stretch(recipe, password)
        var old: LoginSlot?
        if case .live(let slot) = row?.credential, row?.standing(under: policy, at: clock()).mayCheck ?? false {
            old = slot
        }
        let oldStretched = if let old { try stretch(old.recipe, password) } else { Key<Unlocking>.random() }
        return try store.hold(id, wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                var slot: LoginSlot?
                if let old, let unlock = try kept(old, oldStretched, id, policy, store) {
                    slot = LoginSlot(recipe, stretched, store.device, id, holding: unlock)
                }
                let live = slot ?? LoginSlot(recipe, stretched, store.device, id)
                let time = time(after: try? store.load(id), serverTime)
                // With the key that vaults know, it is the credential of before.
                let new = LoginRow(
                    id, key, .live(live), store.device, policy, time, online: true, server: server,
                    enrolled: slot == nil ? nil : row?.enrolledAt)
                try store.insert(new, overridesDamage: true, telling: [.grantedOnline(isCached: true)] + epochs)
                if row != nil { _ = try? store.purge(wait: 0) }
                return try selfTest(key, policy, stretched)
            }
        }
    }

    /// The key in the slot that is replaced, if the password opens it. Charged like any check: a server that says yes to
    /// everything earns no guess beyond the limit.
    private func kept(
        _ slot: LoginSlot, _ stretched: borrowing Key<Unlocking>, _ id: LoginID, _ policy: LoginPolicy,
        _ store: borrowing LoginStore
    ) throws(AuthError) -> Key<Unlocking>? {
        let charge = try? store.charge(id, onCheck) { (row) throws(AuthError) in
            row.credential == .live(slot) && Int(row.charged) <= policy.tolerated
        }
        guard let charge else { return nil }
        switch consume charge {
        case .nothingToCheck: return nil
        case .charged(let charged):
            guard let login = charged.check(stretched, store.device, policy, clock()) else { return nil }
            return login.unlock.duplicate()
        }
    }

    /// Remembers that offline logins are not allowed, and takes away what would serve one where the server says so.
    private func bar(
        _ row: LoginRow?, _ key: LoginKey, _ id: LoginID, _ policy: LoginPolicy, _ server: ServerPolicy?,
        _ epochs: [LoginEvent], _ serverTime: Int64?, _ store: borrowing LoginStore
    ) throws(AuthError) {
        try store.hold(id, wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                let time = time(after: row, serverTime)
                let new = LoginRow(id, key, .clearPending, store.device, policy, time, online: true, server: server)
                try store.insert(new, overridesDamage: true, telling: [.grantedOnline(isCached: false)] + epochs)
                _ = try store.finishWipe(id, wait: 0)
            }
        }
    }

    /// The policy that counts, and what the log says about it. Attack: an old, laxer policy is played back.
    ///
    /// - Parameter held: What the login's own row has.
    private static func newer(
        _ known: ServerPolicy?, _ offered: ServerPolicy?, held: ServerPolicy?, _ gap: inout PolicyGap?
    ) -> (ServerPolicy?, [LoginEvent]) {
        var (taken, events) = (known, [LoginEvent]())
        if let known, let offered, offered.epoch < known.epoch {
            gap = .older(epoch: offered.epoch)
        } else if let offered {
            taken = known?.followed(by: offered) ?? offered
        }
        if let taken, taken != held { events.append(.policyTaken(epoch: taken.epoch)) }
        if let offered, taken != offered { events.append(.policyRefused(epoch: offered.epoch)) }
        if offered == nil, let gap { events.append(.policyMissing(LoginEvent.Refusal(gap))) }
        return (taken, events)
    }

    private func time(after row: LoginRow?, _ serverTime: Int64?) -> TimeMemory {
        let clock = clock()
        var time = row?.time ?? TimeMemory(starting: clock)
        if let serverTime { return TimeMemory(confirmed: serverTime, known: time.now(clock), clock) }
        time.note(clock)
        return time
    }

    // MARK: - No

    /// S5, no: takes away what the answer takes away. Nothing that fails in here turns the no into a yes, so nothing is
    /// thrown.
    func settle(_ refusal: OnlineRefusal, _ request: LoginRequest, _ password: borrowing Password) {
        guard let store = try? openAny() else { return }
        let key = LoginKey(request.user, request.profile, request.domain)
        store.tell(.refusedOnline(LoginEvent.Refusal(refusal)), of: key, at: clock())
        switch refusal {
        case .unreachable, .untrusted, .failed: return
        case .forbidden: clear(.forbidden, key, store)
        case .blocked: clear(.blocked, key, store)
        case .rejected:
            let cached = (try? comparedSlot(password, key, request.profile, store)) ?? nil
            clear(cached == nil ? .rejectedOther : .rejectedCached, key, store, only: cached)
        }
    }

    /// Whether the password that the server has refused is the cached one: then it was changed there.
    ///
    /// That is a way to guess, for a blocked account answers 401 to everything. So it has a budget of its own, charged on
    /// the disk before each comparison, that only an online success gives back.
    ///
    /// - Returns: The slot that the password opens; nil where it does not, or may not be compared.
    private func comparedSlot(
        _ password: borrowing Password, _ key: LoginKey, _ profile: Profile, _ store: borrowing LoginStore
    ) throws(AuthError) -> LoginSlot? {
        let row = try store.find(key)
        let policy = LoginPolicy(profile, row.server)
        guard case .live(let slot) = row.credential, row.onlineCompares < UInt32(policy.mostComparisons) else {
            return nil
        }
        let stretched = try stretch(slot.recipe, password)
        return try store.hold(row.id, wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                let charge = try store.chargeComparison(row.id, slot, most: policy.mostComparisons)
                guard let charge else { return nil }
                onCheck(charge.row)
                let isCached = charge.isCached(stretched, store.device)
                store.tell(.compared(isCached: isCached), of: key, at: clock())
                return isCached ? slot : nil
            }
        }
    }

    /// Takes away what an event takes away, row and remembered credential in one transaction.
    ///
    /// - Parameter only: The slot that the event is about: one that another process has stored since, of a password that
    ///   the server took, stays.
    func clear(_ event: ClearingEvent, _ key: LoginKey, _ store: borrowing LoginStore, only slot: LoginSlot? = nil) {
        let clearing = Clearing(after: event), id = key.id(under: store.device)
        var isPurgeDue = false
        _ = try? store.hold(id, wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                do throws(AuthError) {
                    let row = try store.change(id, telling: { _ in [.cleared(event)] }) { (row) throws(AuthError) in
                        if !clearing.keepsVerifier, case .live(let live) = row.credential, slot ?? live == live {
                            row.credential = .clearPending
                        }
                        isPurgeDue = try store.forget(clearing, of: key)
                    }
                    if row.isPending { _ = try store.finishWipe(id, wait: Self.patience) }
                } catch {
                    // No row, or none that is to be believed: what is remembered goes all the same.
                    guard error == .noCredential || error == .quarantined || error == .rolledBack else { throw error }
                    isPurgeDue = try store.ledger.write { () throws(AuthError) in try store.forget(clearing, of: key) }
                }
            }
        }
        if isPurgeDue { _ = try? store.finishForgetting(wait: 0) }
    }

    // MARK: - Ends that are no answer

    /// Carries out what the end of a session takes away of what is stored here.
    ///
    /// - Parameter event: ``ClearingEvent/sessionTimeOut``, ``ClearingEvent/idleTimeOut``, ``ClearingEvent/logout`` or
    ///   ``ClearingEvent/logoutClear``.
    /// - Returns: What it takes away of everything; what this room does not keep is the caller's to carry out.
    @discardableResult
    public func end(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, after event: ClearingEvent
    ) throws(AuthError) -> Clearing {
        try end(LoginKey(user, profile, domain), after: event)
    }

    /// The same for whoever kept the session and knows no profile.
    @discardableResult
    public func end(_ key: LoginKey, after event: ClearingEvent) throws(AuthError) -> Clearing {
        let clearing = Clearing(after: event)
        guard let store = try openAny() else { return clearing }
        if event == .logout || event == .logoutClear {
            store.tell(.loggedOut(isCleared: event == .logoutClear), of: key, at: clock())
        }
        clear(event, key, store)
        // Somebody who logs out expects his password to be gone, and not only where the profile points to by now.
        if event == .logout || event == .logoutClear { try followMoves(clearing, event, key, store) }
        return clearing
    }
}

extension Standing {
    /// Whether a slot may be opened; one that has expired, or waits, is not guessed at any more for that.
    fileprivate var mayCheck: Bool {
        switch self {
        case .open, .refused(.expired), .refused(.delayed): true
        case .wipeDue, .refused: false
        }
    }
}
