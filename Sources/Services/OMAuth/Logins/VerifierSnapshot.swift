// The effect of a server's yes on the cached credential. docs/formats/login-format.md, "An online success, and a 401".

internal import OMSecrets

extension Authenticator {
    /// S5, yes: stores a credential for the accepted password, opens it as a test, and makes the receipt.
    ///
    /// If it cannot be stored, the server has still accepted. Then the receipt says why nothing is cached.
    ///
    /// - Parameter found: The cached credential when the server was asked.
    func accept(
        _ accepted: consuming AcceptedAnswer, _ request: LoginRequest, _ password: borrowing Password,
        found: VerifierSnapshot
    ) -> LoginReceipt {
        let reason: AuthError
        let yes = OnlineYes(accepted, request, found)
        var notes = ReceiptNotes(policyProblem: yes.policyProblem)
        do throws(AuthError) {
            let stored = try storeInReadableLedger(yes, password, &notes)
            switch consume stored {
            case .some(let login): return LoginReceipt(online: accepted, stored: login, notes, request, clock())
            case .none: reason = .offlineNotAllowed
            }
        } catch { reason = error }
        return LoginReceipt(online: accepted, notCached: reason, notes, request, clock())
    }

    /// A yes to a login that brought no password. A credential that is still cached under these names is deleted: the profile
    /// allows none.
    func acceptUncached(_ accepted: consuming AcceptedAnswer, _ request: LoginRequest) -> LoginReceipt {
        let yes = OnlineYes(accepted, request, VerifierSnapshot(nil))
        if let store = (try? openIfPresent()) ?? nil {
            let row = (try? store.load(request.login.id(under: store.device))) ?? nil
            if let row {
                let taken = TakenPolicy(server: row.server, given: nil, events: [])
                _ = try? storeOfflineDenied(yes, row, taken, under: LoginPolicy(request.profile, row.server), in: store)
            }
        }
        return LoginReceipt(online: accepted, notCached: .offlineNotAllowed, ReceiptNotes(), request, clock())
    }

    /// The cached credential before a server is asked. Only this one may be replaced by the server's yes.
    func verifierSnapshot(_ request: LoginRequest) -> VerifierSnapshot {
        guard let store = try? openIfPresent() else { return VerifierSnapshot(nil) }
        return VerifierSnapshot(try? store.load(request.login.id(under: store.device)))
    }

    /// Stores the yes. If the existing ledger cannot be read, it stores the yes in a new one.
    ///
    /// - Returns: nil if offline logins are not allowed.
    private func storeInReadableLedger(
        _ yes: OnlineYes, _ password: borrowing Password, _ notes: inout ReceiptNotes
    ) throws(AuthError) -> VerifiedLogin? {
        do throws(AuthError) { return try store(yes, password, &notes) } catch {
            // A damaged row or mark was replaced already. So the file itself is damaged.
            guard error == .quarantined else { throw error }
        }
        notes.damagedLedger = try replaceUnreadableLedger()
        return try store(yes, password, &notes)
    }

    /// Stores the yes. It begins again if another process changes the row that the decision was made from, or replaces
    /// the ledger.
    private func store(
        _ yes: OnlineYes, _ password: borrowing Password, _ notes: inout ReceiptNotes, tries: Int = 3
    ) throws(AuthError) -> VerifiedLogin? {
        // Creates nothing for an unknown user who may not log in offline.
        if yes.policy == nil, yes.policyProblem == nil, !LoginPolicy(yes.request.profile).isOfflineAllowed,
            try openIfPresent() == nil
        {
            return nil
        }
        let store = try makeStore()
        do throws(AuthError) {
            try store.finishPendingWipes()
            while true {
                notes.policyProblem = yes.policyProblem
                switch try storeOnce(yes, password, &notes, in: store) {
                case .stored(let login): return login
                case .offlineDenied: return nil
                case .changed: continue
                }
            }
        } catch {
            guard tries > 1, error == .busy, !store.ledger.isInPlace else { throw error }
        }
        return try self.store(yes, password, &notes, tries: tries - 1)
    }

    /// The result of one attempt to store a yes.
    private enum StoreResult: ~Copyable {
        case stored(VerifiedLogin)
        /// Offline logins are not allowed.
        case offlineDenied
        /// Another process has written the row meanwhile, so the decision has to be made again.
        case changed
    }

    private func storeOnce(
        _ yes: OnlineYes, _ password: borrowing Password, _ notes: inout ReceiptNotes, in store: borrowing LoginStore
    ) throws(AuthError) -> StoreResult {
        let key = yes.request.login, id = key.id(under: store.device)
        // Damaged, put back, wiped or locked out: the server's yes replaces any of these.
        let row = try? store.load(id)
        let taken = try takePolicy(yes, row, &notes, in: store)
        let policy = LoginPolicy(yes.request.profile, taken.server)
        guard policy.isOfflineAllowed else {
            guard row != nil || taken.server != nil else { return .offlineDenied }
            return try storeOfflineDenied(yes, row, taken, under: policy, in: store) ? .offlineDenied : .changed
        }
        // Both stretches run outside the lock. The old slot is stretched too, because a vault's login slot needs the key in it.
        let derivation = SlotKeyDerivation(policy.cryptoScheme, parameters)
        let stretched = try stretch(derivation, password)
        var old: LoginSlot?
        if case .live(let slot) = row?.verifier, row?.permission(under: policy, at: clock()).mayCheck ?? false {
            old = slot
        }
        let oldStretched = if let old { try stretch(old.derivation, password) } else { Key<Unlocking>.random() }
        return try store.exclusively(id) { () throws(AuthError) in
            // Attack: an attacker delays a yes, so that it ends after a quicker one that brought a stricter policy. Or
            // it ends after the 401 to the same password. Then the decision is made again.
            let now = try? store.load(id)
            guard now?.server == row?.server, VerifierSnapshot(now).slot == VerifierSnapshot(row).slot else { return .changed }
            var slot: LoginSlot?
            if let old, let unlock = try unlockKey(in: old, of: id, oldStretched, under: policy, in: store) {
                slot = LoginSlot(derivation, stretched, of: id, on: store.device, holding: unlock)
            }
            guard slot != nil || VerifierSnapshot(now) == yes.found else {
                store.record(.grantedOnline(isCached: false), of: key)
                throw .overtaken
            }
            let live = slot ?? LoginSlot(derivation, stretched, of: id, on: store.device)
            let time = time(after: try? store.load(id), yes.serverTime)
            // If the new slot holds the key that vaults know, it is the same credential as before.
            let new = LoginRow(
                id, of: key, .live(live), on: store.device, under: policy, at: time, online: true, server: taken.server,
                enrolled: slot == nil ? nil : now?.enrolledAt)
            try store.insert(
                new, overridesDamage: true, recording: [.grantedOnline(isCached: true)] + taken.events, given: taken.given)
            if now != nil { _ = try? store.purge(wait: 0) }
            return .stored(try selfTest(key, under: policy, stretched))
        }
    }

    /// The key in the replaced slot, if the password opens that slot. It is charged like any check: a server that
    /// accepts everything allows no guess beyond the limit.
    private func unlockKey(
        in slot: LoginSlot, of id: LoginID, _ stretched: borrowing Key<Unlocking>, under policy: LoginPolicy,
        in store: borrowing LoginStore
    ) throws(AuthError) -> Key<Unlocking>? {
        let charge = try? store.charge(id) { (row) throws(AuthError) in
            row.verifier == .live(slot) && Int(row.charged) <= policy.tolerated
        }
        guard let charge else { return nil }
        switch consume charge {
        case .nothingToCheck: return nil
        case .charged(let charged):
            guard let login = charged.check(stretched, on: store.device, under: policy, at: clock()) else { return nil }
            return login.unlock.duplicate()
        }
    }

    /// Notes that offline logins are not allowed, and deletes the cached credential.
    ///
    /// - Returns: false if another process has brought another policy meanwhile.
    private func storeOfflineDenied(
        _ yes: OnlineYes, _ row: LoginRow?, _ taken: TakenPolicy, under policy: LoginPolicy, in store: borrowing LoginStore
    ) throws(AuthError) -> Bool {
        let key = yes.request.login, id = key.id(under: store.device)
        return try store.exclusively(id) { () throws(AuthError) in
            let now = try? store.load(id)
            guard now?.server == row?.server else { return false }
            let new = LoginRow(
                id, of: key, .clearPending, on: store.device, under: policy, at: time(after: now, yes.serverTime), online: true,
                server: taken.server)
            try store.insert(
                new, overridesDamage: true, recording: [.grantedOnline(isCached: false)] + taken.events, given: taken.given)
            // Bytes that cannot be erased now stay pending, and the row says so.
            _ = try? store.finishWipe(id, wait: 0)
            return true
        }
    }

    /// The server's policy that counts, and the log's entries about it.
    private struct TakenPolicy {
        let server: ServerPolicy?
        /// The same, if the server gave exactly this one now.
        let given: ServerPolicy?
        let events: [LoginEvent]
    }

    /// Decides which policy of the server counts. Attack: an attacker sends an old, laxer policy again. Its epoch is
    /// lower, so the known policy stays.
    ///
    /// - Throws: ``AuthError/policyMissing(_:)`` if the profile asks for a policy, none came and none is known. The
    ///   login is granted. The cached credential stays as it is: it was made without this server's policy.
    private func takePolicy(
        _ yes: OnlineYes, _ row: LoginRow?, _ notes: inout ReceiptNotes, in store: borrowing LoginStore
    ) throws(AuthError) -> TakenPolicy {
        let key = yes.request.login
        // A profile without a `ProfileURL` keeps the policy of its own row. The policies that other logins saw are for
        // profiles with one.
        let known = yes.policy == nil && yes.policyProblem == nil ? row?.server : try store.knownPolicy(for: key, row?.server)
        if let policyProblem = yes.policyProblem, known == nil {
            store.record(.grantedOnline(isCached: false), of: key)
            store.record(.policyMissing(LoginEvent.Refusal(policyProblem)), of: key)
            throw .policyMissing(policyProblem)
        }
        var (taken, events) = (known, [LoginEvent]())
        if let known, let offered = yes.policy, offered.epoch < known.epoch {
            notes.policyProblem = .older(epoch: offered.epoch)
        } else if let offered = yes.policy {
            taken = known?.merged(by: offered) ?? offered
        }
        if let taken, taken != row?.server { events.append(.policyTaken(epoch: taken.epoch)) }
        if let offered = yes.policy, taken != offered { events.append(.policyRefused(epoch: offered.epoch)) }
        if yes.policy == nil, let policyProblem = yes.policyProblem {
            events.append(.policyMissing(LoginEvent.Refusal(policyProblem)))
        }
        return TakenPolicy(server: taken, given: taken == yes.policy ? taken : nil, events: events)
    }

    private func time(after row: LoginRow?, _ serverTime: Int64?) -> LastSeenTime {
        let clock = clock()
        var time = row?.time ?? LastSeenTime(starting: clock)
        if let serverTime { return LastSeenTime(confirmed: serverTime, known: time.now(clock), clock) }
        time.update(clock)
        return time
    }
}

/// A server's yes to store, without its session.
private struct OnlineYes {
    let request: LoginRequest
    /// The policy that came with the yes.
    let policy: ServerPolicy?
    /// Why no policy came, if the profile asks for one.
    let policyProblem: PolicyProblem?
    let serverTime: Int64?
    /// The cached credential when the server was asked.
    let found: VerifierSnapshot

    init(_ accepted: borrowing AcceptedAnswer, _ request: LoginRequest, _ found: VerifierSnapshot) {
        (self.request, self.found) = (request, found)
        (policy, serverTime) = (accepted.policy, accepted.serverTime)
        let isPolicyMissing = accepted.policy == nil && request.profile.hasServerPolicy
        policyProblem = accepted.policyProblem ?? (isPolicyMissing ? .notAsked : nil)
    }
}

/// The cached credential when a server was asked. A yes is as old as its question. If another answer has changed the
/// credential since, that answer is newer.
struct VerifierSnapshot: Equatable {
    let slot: LoginSlot?
    /// If it rises, a server has refused another password than the cached one, and that may be this password.
    private let comparisons: UInt32

    init(_ row: LoginRow?) {
        if case .live(let live) = row?.verifier { slot = live } else { slot = nil }
        comparisons = row?.onlineCompares ?? 0
    }
}

extension AttemptPermission {
    /// Whether the slot may be opened. Expiry or a delay does not matter: opening it here allows no further guess.
    fileprivate var mayCheck: Bool {
        switch self {
        case .open, .refused(.expired), .refused(.delayed): true
        case .wipeDue, .refused: false
        }
    }
}
