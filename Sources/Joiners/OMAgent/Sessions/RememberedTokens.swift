// Sessions that the ledger remembers: each new refresh token is in the ledger before any caller gets the access token.

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

extension SessionStore {
    /// How a session gets back into the agent.
    enum Restoring: Equatable {
        case done
        case full
        /// The ledger does not have the state that the client read. The client reads again.
        case gone
        case failed
    }

    /// Takes over a session that the ledger remembers. If the agent has one of this login, that one stays: its tokens are newer.
    ///
    /// - Parameter since: When the user logged in, in seconds since 1970.
    func restore(_ kept: consuming NewSession, since: Int64) -> Restoring {
        let pending = PendingSessionCheck(renewsTokens: false, isOfSession: false)
        var kept: NewSession? = kept
        var begun: (entry: SessionEntry, older: SessionEntry?)?
        let refused = entries.withLock { entries -> Restoring in
            guard let given = kept.take() else { return .failed }
            let clock = clock(), entry = SessionEntry(given, since: since, at: clock), older = entries[entry.login]
            if let older {
                // The session of an offline login that has no tokens gets those of the ledger, as if it had come later.
                guard entry.continues(with: older) else { return .done }
                entry.secretPlace = older.secretPlace
            } else {
                guard makeRoom(in: &entries, at: clock) else { return .full }
            }
            // No token leaves before the ledger has said that this is the newest state.
            (entry.pending, entry.isUnkept) = (pending, true)
            entries[entry.login] = entry
            begun = (entry, older)
            return .done
        }
        guard let (entry, older) = begun else { return refused }
        // Attack: another client has read the same state, and the refresh token in it was used since.
        let outcome = write(entry)
        let result = entries.withLock { entries -> Restoring in
            entry.pending = nil
            switch note(outcome, of: entry) {
            case .written:
                if !entry.isRemoved { tickets?.renew(entry) }
                return .done
            case .gone, .failed:
                entry.isRemoved = true
                if entries[entry.login] === entry { entries[entry.login] = older }
                return outcome == .gone ? .gone : .failed
            }
        }
        pending.fulfil(.none)
        return result
    }

    /// Whether the ledger still has the state that this session is. Ask this before the server gets the refresh token.
    ///
    /// Attack, or accident: an agent with another runtime folder has the same session and has renewed it, and the server takes the
    /// use of the spent refresh token for a theft. So the session ends here, and the ledger's newer state comes back in its place.
    /// If the ledger has none, a logout has deleted it, and the session ends at its server too.
    func isNewest(_ entry: SessionEntry) -> Bool {
        guard entry.isRemembered else { return true }
        let known = ledger.look(entry.login, entries.withLock { _ in entry.rowGeneration })
        if known == .same { return true }
        entries.withLock { entries in
            entry.pending = nil
            if known == .other { remove(entry, in: &entries) } else { drop(entry, in: &entries) }
        }
        finishEnd(of: entry)
        return false
    }

    /// Whether another agent has renewed the session, so that its newer tokens are in the ledger. Ask this without the lock, and
    /// with a pending check or after it: then a state that this agent writes is noted.
    ///
    /// Accident: a renewal of the other agent comes between the look of ``isNewest(_:)`` and the question. The server says that the
    /// refresh token is spent, and the user would have to log in again.
    func isOvertaken(_ entry: SessionEntry) -> Bool {
        entry.isRemembered && ledger.look(entry.login, entries.withLock { _ in entry.rowGeneration }) == .other
    }

    /// Deletes a session here if another agent has renewed it. This waits for no server: a session that asks one now was compared
    /// just before.
    func deleteOvertaken(_ login: LoginReference) {
        let known = entries.withLock { entries in entries[login].map { ($0, $0.rowGeneration) } }
        guard let (entry, generation) = known, entry.isRemembered, ledger.look(login, generation) == .other else { return }
        entries.withLock { entries in
            // Accident: this agent has written the newer state itself meanwhile.
            guard entry.pending == nil, entry.rowGeneration == generation else { return }
            remove(entry, in: &entries)
        }
    }

    /// Writes tokens that the ledger could not take when they came. From an idle session nothing is written: that would be a use.
    func settle(_ login: LoginReference) {
        while true {
            let next = entries.withLock { entries -> (SessionEntry, PendingSessionCheck, isOwn: Bool)? in
                guard let entry = entries[login], entry.isUnkept, let state = entry.description(at: clock())?.state,
                    state != .idle
                else { return nil }
                if let pending = entry.pending { return (entry, pending, false) }
                let pending = PendingSessionCheck(renewsTokens: false, isOfSession: false)
                entry.pending = pending
                return (entry, pending, true)
            }
            guard let (entry, pending, isOwn) = next else { return }
            guard isOwn else {
                _ = pending.wait()
                continue
            }
            let outcome = write(entry)
            entries.withLock { entries in
                entry.pending = nil
                switch note(outcome, of: entry) {
                case .written: if !entry.isRemoved { tickets?.renew(entry) }
                // The row has newer tokens, or a logout has deleted it. The server would take these for stolen ones.
                case .gone where entry.isUnconfirmed: remove(entry, in: &entries)
                case .gone: drop(entry, in: &entries)
                case .failed: break
                }
                if outcome != .failed { entry.isUnconfirmed = false }
            }
            pending.fulfil(.none)
            finishEnd(of: entry)
            return
        }
    }

    enum Keeping {
        case written, failed, gone
    }

    /// Writes the session's present tokens, or those that it is about to get. Call this without the lock, and with a pending check.
    func write(_ entry: SessionEntry, taking tokens: borrowing NewTokens? = nil) -> SessionLedger.Outcome {
        let update = entries.withLock { _ in entry.ledgerUpdate(taking: tokens, at: clock()) }
        switch consume update {
        case .none: return .written(0)
        case .some(let update): return ledger.write(entry.login, update)
        }
    }

    /// Call this under the lock.
    func note(_ outcome: SessionLedger.Outcome, of entry: SessionEntry) -> Keeping {
        switch outcome {
        case .written(let generation):
            (entry.rowGeneration, entry.isUnkept) = (generation, false)
            return .written
        case .unmarked(let generation):
            (entry.rowGeneration, entry.isUnkept) = (generation, true)
            return .failed
        case .failed:
            entry.isUnkept = true
            return .failed
        case .gone: return .gone
        }
    }

    /// Ends a session here that the ledger does not have any more, and at its server. Call this under the lock, and
    /// ``finishEnd(of:)`` after it.
    func drop(_ entry: SessionEntry, in entries: inout [LoginReference: SessionEntry]) {
        remove(entry, in: &entries)
        entry.unfinishedEnd = .server
    }
}

extension SessionEntry {
    /// Its tokens for the ledger. Nil for a session that is not remembered.
    ///
    /// - Parameter tokens: Those that it is about to take. Nil for those that it has.
    func ledgerUpdate(taking tokens: borrowing NewTokens?, at clock: ClockReading) -> SessionLedger.Update? {
        guard isRemembered else { return nil }
        let key = SessionRowKey(rowKey.duplicate(), generation: rowGeneration)
        switch tokens {
        case .none:
            return SessionLedger.Update(
                parts: TokenParts(session: serverSession, access: access.duplicate()), accessLeft: accessLeft(expires, clock),
                key: key)
        case .some(let new):
            switch new.access {
            case .none:
                return SessionLedger.Update(
                    parts: TokenParts(session: new.session.duplicate(), access: access.duplicate()),
                    accessLeft: accessLeft(expires, clock), key: key)
            case .some(let given):
                return SessionLedger.Update(
                    parts: TokenParts(session: new.session.duplicate(), access: given.duplicate(or: access)),
                    accessLeft: accessLeft(new.expires, clock), key: key)
            }
        }
    }

    private func accessLeft(_ expires: Int64?, _ clock: ClockReading) -> Int64? { expires.map { max(0, $0 - clock.sinceBoot) } }
}
