// What a server's yes does to the cached credential: it stores a new one. docs/login-format.md, "An online success, and a 401".

internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension Authenticator {
    /// S5, yes: stores a credential of the password that the server took, opens it, and makes the receipt.
    ///
    /// Whatever stands in the way of storing it, the server has said yes: the receipt says why nothing is cached.
    ///
    /// - Parameter found: What was cached when the server was asked.
    func accept(
        _ accepted: consuming AcceptedAnswer, _ request: LoginRequest, _ password: borrowing Password,
        found: CachedBefore
    ) -> LoginReceipt {
        let reason: AuthError
        var (gap, aside) = (accepted.policyGap, SetAside?.none)
        if gap == nil, accepted.policy == nil, request.profile.profileURL != nil { gap = .notAsked }
        do throws(AuthError) {
            let stored = try store(
                accepted.policy, &gap, accepted.serverTime, request, password, found, settingAside: &aside)
            switch consume stored {
            case .some(let login): return LoginReceipt(online: accepted, stored: login, gap, aside, request, clock())
            case .none: reason = .offlineNotAllowed
            }
        } catch { reason = error }
        return LoginReceipt(online: accepted, notCached: reason, gap, aside, request, clock())
    }

    /// What is cached before a server is asked: what its yes may take the place of.
    func cached(_ request: LoginRequest) -> CachedBefore {
        guard let store = try? openAny() else { return CachedBefore(nil) }
        return CachedBefore(try? store.load(LoginKey(request.user, request.profile, request.domain).id(under: store.device)))
    }

    /// The same as below, into a new ledger where the one that is there cannot be read.
    private func store(
        _ offered: ServerPolicy?, _ gap: inout PolicyGap?, _ serverTime: Int64?, _ request: LoginRequest,
        _ password: borrowing Password, _ found: CachedBefore, settingAside aside: inout SetAside?
    ) throws(AuthError) -> VerifiedLogin? {
        let given = gap
        do throws(AuthError) { return try store(offered, &gap, serverTime, request, password, found) } catch {
            // A row or a mark that is damaged has been replaced by then; what is left is the file.
            guard error == .quarantined else { throw error }
        }
        gap = given
        aside = try replaceUnreadableLedger()
        return try store(offered, &gap, serverTime, request, password, found)
    }

    /// The same, as often as others change under it what it was judged by.
    private func store(
        _ offered: ServerPolicy?, _ gap: inout PolicyGap?, _ serverTime: Int64?, _ request: LoginRequest,
        _ password: borrowing Password, _ found: CachedBefore
    ) throws(AuthError) -> VerifiedLogin? {
        // Nothing is made for somebody who may not be cached, and of whom nothing is known.
        if offered == nil, gap == nil, !LoginPolicy(request.profile).isOfflineAllowed, try openAny() == nil { return nil }
        let store = try makeStore()
        try store.finishPendingWipes()
        let given = gap
        while true {
            gap = given
            switch try storeOnce(offered, &gap, serverTime, request, password, found, store) {
            case .stored(let login): return login
            case .barred: return nil
            case .changed: continue
            }
        }
    }

    /// What one attempt to store a yes has come to.
    private enum Stored: ~Copyable {
        case stored(VerifiedLogin)
        /// Offline logins are not allowed.
        case barred
        /// Another process has written the row meanwhile: it is to be judged anew.
        case changed
    }

    /// - Parameter gap: Why there is no policy of the server's; set where the one that is offered is not taken.
    private func storeOnce(
        _ offered: ServerPolicy?, _ gap: inout PolicyGap?, _ serverTime: Int64?, _ request: LoginRequest,
        _ password: borrowing Password, _ found: CachedBefore, _ store: borrowing LoginStore
    ) throws(AuthError) -> Stored {
        let (profile, key) = (request.profile, LoginKey(request.user, request.profile, request.domain))
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
            guard row != nil || server != nil else { return .barred }
            return try bar(row, key, id, policy, server, epochs, serverTime, store) ? .barred : .changed
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
                // Attack: have a slow yes end after a quick one that brought a stricter policy, or after the 401 to the very
                // password that it is about.
                let now = try? store.load(id)
                guard now?.server == row?.server, CachedBefore(now).slot == CachedBefore(row).slot else { return .changed }
                var slot: LoginSlot?
                if let old, let unlock = try kept(old, oldStretched, id, policy, store) {
                    slot = LoginSlot(recipe, stretched, store.device, id, holding: unlock)
                }
                guard slot != nil || CachedBefore(now) == found else {
                    store.tell(.grantedOnline(isCached: false), of: key, at: clock())
                    throw .overtaken
                }
                let live = slot ?? LoginSlot(recipe, stretched, store.device, id)
                let time = time(after: try? store.load(id), serverTime)
                // With the key that vaults know, it is the credential of before.
                let new = LoginRow(
                    id, key, .live(live), store.device, policy, time, online: true, server: server,
                    enrolled: slot == nil ? nil : now?.enrolledAt)
                try store.insert(new, overridesDamage: true, telling: [.grantedOnline(isCached: true)] + epochs)
                if now != nil { _ = try? store.purge(wait: 0) }
                return .stored(try selfTest(key, policy, stretched))
            }
        }
    }

    /// The key in the slot that is replaced, if the password opens it. Charged like any check: a server that says yes to
    /// everything earns no guess beyond the limit.
    private func kept(
        _ slot: LoginSlot, _ stretched: borrowing Key<Unlocking>, _ id: LoginID, _ policy: LoginPolicy,
        _ store: borrowing LoginStore
    ) throws(AuthError) -> Key<Unlocking>? {
        let charge = try? store.charge(id) { (row) throws(AuthError) in
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
    ///
    /// - Returns: false where another process has brought another policy meanwhile.
    private func bar(
        _ row: LoginRow?, _ key: LoginKey, _ id: LoginID, _ policy: LoginPolicy, _ server: ServerPolicy?,
        _ epochs: [LoginEvent], _ serverTime: Int64?, _ store: borrowing LoginStore
    ) throws(AuthError) -> Bool {
        try store.hold(id, wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                let now = try? store.load(id)
                guard now?.server == row?.server else { return false }
                let time = time(after: now, serverTime)
                let new = LoginRow(id, key, .clearPending, store.device, policy, time, online: true, server: server)
                try store.insert(new, overridesDamage: true, telling: [.grantedOnline(isCached: false)] + epochs)
                _ = try store.finishWipe(id, wait: 0)
                return true
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
}

/// What was cached when a server was asked. A yes is as old as its question: what another answer has made of the credential
/// since is the newer word.
struct CachedBefore: Equatable {
    let slot: LoginSlot?
    /// One more: a server refused a password that was not the cached one, and may be this one.
    private let comparisons: UInt32

    init(_ row: LoginRow?) {
        if case .live(let live) = row?.credential { slot = live } else { slot = nil }
        comparisons = row?.onlineCompares ?? 0
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
