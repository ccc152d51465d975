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
        let clock = clock()
        let entry = SessionEntry(kept, since: since, at: clock)
        let pending = PendingSessionCheck(renewsTokens: false, isOfSession: false)
        let refused = entries.withLock { entries -> Restoring? in
            if entries[entry.login] != nil { return .done }
            guard makeRoom(in: &entries, at: clock) else { return .full }
            // No token leaves before the ledger has said that this is the newest state.
            (entry.pending, entry.isUnkept) = (pending, true)
            entries[entry.login] = entry
            return nil
        }
        if let refused { return refused }
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
                if entries[entry.login] === entry { entries[entry.login] = nil }
                return outcome == .gone ? .gone : .failed
            }
        }
        pending.fulfil(.none)
        return result
    }

    /// Confirms a session from a ticket. The agent may have been killed between the ledger and the ticket, so the ticket may be older.
    ///
    /// - Returns: Whether the session counts.
    func confirm(_ entry: SessionEntry) -> Bool {
        guard entry.isRemembered else { return true }
        let isWritten = note(write(entry), of: entry) == .written
        if isWritten { tickets?.renew(entry) }
        return isWritten
    }

    /// Writes tokens that the ledger could not take when they came.
    func settle(_ login: LoginReference) {
        while true {
            let next = entries.withLock { entries -> (SessionEntry, PendingSessionCheck, isOwn: Bool)? in
                guard let entry = entries[login], entry.isUnkept else { return nil }
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
                if note(outcome, of: entry) == .gone { drop(entry, in: &entries) }
            }
            pending.fulfil(.none)
            return
        }
    }

    enum Keeping {
        case written, failed, gone
    }

    /// Writes the session's present tokens, or those that it is about to get. Call this without the lock, and with a pending check.
    func write(_ entry: SessionEntry, taking tokens: borrowing NewTokens? = nil) -> SessionLedger.Outcome {
        let clock = clock()
        let update = entries.withLock { _ in entry.ledgerUpdate(taking: tokens, at: clock) }
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

    /// Ends a session here that the ledger does not have any more, and at its server. Call this under the lock.
    func drop(_ entry: SessionEntry, in entries: inout [LoginReference: SessionEntry]) {
        entry.isRemoved = true
        if entries[entry.login] === entry {
            entries[entry.login] = nil
            tickets?.remove(entry.login)
        }
        DetachedThread.startOrRunHere(stack: AgentServer.stack) { [self] in _ = endAtServer(entry, password: nil) }
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
