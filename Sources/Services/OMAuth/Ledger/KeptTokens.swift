// Exchanged tokens that outlive the agent: kept, loaded and cleared. docs/reference/tokens.md, "Token exchange".

internal import OMOnlineModel
internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension Authenticator {
    /// Keeps the session of an exchange. It replaces the one before, which stays if this one cannot be kept.
    ///
    /// - Returns: The session that it replaces.
    /// - Throws: ``AuthError/noCredential`` if the session has no token or no end, so that there is nothing to keep.
    @discardableResult
    package func keepExchange(
        _ receipt: borrowing LoginReceipt, _ profile: Profile, key: RememberingKey
    ) throws(AuthError) -> ClearedToken {
        guard let expires = receipt.sessionExpires, let parts = receipt.tokenParts() else { throw .noCredential }
        let store = try makeStore(), now = clock()
        let time = LastSeenTime(starting: now), id = KeptTokenRow.exchangeID(profile, store.device)
        // A session that times out earlier would come back otherwise.
        let left = min(expires - now.sinceBoot, profile.sessionTimeOut ?? .max)
        let row = KeptTokenRow(
            id, profile, of: receipt.details.user, domain: receipt.details.domain, end: time.now(now) + max(0, left), time: time,
            backend: KeptTokenRow.backend(profile, store.device), sealing: parts, key: key.key)
        let bytes = row.encode(under: store.device)
        return try replaceExchange(profile, in: store, key: key) { () throws(AuthError) in
            try store.ledger.putServerRow(id, bytes)
        }
    }

    /// The exchanged token of a profile. This writes down the time: a clock that is set back later makes it live no longer.
    package func keptExchange(_ profile: Profile, key: RememberingKey?) throws(AuthError) -> KeptToken {
        guard let store = try openIfPresent() else { return .none }
        let id = KeptTokenRow.exchangeID(profile, store.device), clock = clock()
        guard let row = try store.keptToken(id) else { return .none }
        let now = row.time.now(clock)
        guard now < row.end else {
            try store.replace(row, by: nil)
            return .expired
        }
        guard row.backend == KeptTokenRow.backend(profile, store.device) else { return .otherBackend }
        guard row.digest == profile.digest.bytes else {
            try store.replace(row, by: nil)
            return .none
        }
        if row.isIdle(under: profile, now) { return .none }
        guard let key else { return .locked }
        guard row.isSealed(with: key.key) else { return .otherKey }
        guard let parts = row.open(with: key.key) else { return .none }
        let left = row.end - now
        var later = row
        later.time.update(clock)
        // Another process may have cleared it since, or kept another one.
        guard try store.replace(row, by: later) else { return try keptExchange(profile, key: key) }
        let answer = ProviderAnswer.accepted(
            policy: nil, serverTime: nil, session: parts.session.duplicate(), access: parts.access.duplicate(),
            lifetime: UInt32(clamping: left))
        guard let accepted = AcceptedAnswer(answer, sent: clock) else { return .none }
        let request = LoginRequest(row.user, profile, domain: row.domain, mode: .online)
        return .live(LoginReceipt(online: accepted, notCached: .offlineNotAllowed, ReceiptNotes(), request, clock))
    }

    /// The login whose session a profile's exchanged token is. Nil if there is none.
    package func exchangeLogin(_ profile: Profile) throws(AuthError) -> LoginKey? {
        guard let store = try openIfPresent() else { return nil }
        let row = try store.keptToken(KeptTokenRow.exchangeID(profile, store.device))
        return row.map { LoginKey($0.user, profile, $0.domain) }
    }

    /// Deletes the exchanged token of a profile. This needs no key.
    ///
    /// - Parameter key: Opens the session that was kept, for a caller that revokes it.
    package func deleteKeptExchange(_ profile: Profile, key: RememberingKey? = nil) throws(AuthError) -> ClearedToken {
        guard let store = try openIfPresent() else { return .none }
        let id = KeptTokenRow.exchangeID(profile, store.device)
        return try replaceExchange(profile, in: store, key: key) { () throws(AuthError) in
            // Also a row that is not authentic.
            if try store.ledger.serverRow(id) != nil { try store.deleteKeptToken(id) }
        }
    }

    /// What the ledger had before the change.
    private func replaceExchange(
        _ profile: Profile, in store: borrowing LoginStore, key: RememberingKey?, by change: () throws(AuthError) -> Void
    ) throws(AuthError) -> ClearedToken {
        let id = KeptTokenRow.exchangeID(profile, store.device)
        let (isThere, row) = try store.ledger.write { () throws(AuthError) in
            let before = (try store.ledger.serverRow(id) != nil, try store.keptToken(id))
            try change()
            return before
        }
        guard isThere else { return .none }
        _ = try? store.purge(wait: 0)
        guard let row else { return .damaged }
        let login = LoginKey(row.user, profile, row.domain)
        guard let key, let parts = row.open(with: key.key) else { return .locked(login) }
        return .cleared(login, parts.session.duplicate())
    }

    /// Deletes what was kept under a profile before it was changed. An exchanged token of another backend stays: the profile may be
    /// set back to it. This needs no key, so it asks no server.
    ///
    /// - Parameter profile: As it is now. Nil if it was removed.
    /// - Returns: How many there were.
    package func deleteOutdated(_ name: ProfileName, now profile: Profile?) throws(AuthError) -> Int {
        guard let store = try openIfPresent() else { return 0 }
        var count = 0
        for id in try store.rememberedIDs() {
            guard let row = try store.keptToken(id), row.profile == name else { continue }
            if let profile {
                guard row.digest != profile.digest.bytes else { continue }
                let isOwn = id == KeptTokenRow.exchangeID(profile, store.device)
                if isOwn, row.backend != KeptTokenRow.backend(profile, store.device) { continue }
            }
            if try store.replace(row, by: nil) { count += 1 }
        }
        return count
    }

    /// Deletes the remembered name of a user, and nothing else.
    package func forgetUserName(_ key: LoginKey) throws(AuthError) {
        guard let store = try openIfPresent() else { return }
        let id = LoginStore.rememberedID(key.server, key.profile, store.device)
        guard let row = try store.remembered(id), row.user == key.user, row.domain == key.domain else { return }
        _ = try store.changeRemembered(id, key.profile) { row in
            row.deletePassword()
            (row.user, row.domain) = (nil, .none)
        }
    }
}

extension LoginReceipt {
    /// The session and its access token. Nil if it lacks one of them.
    borrowing func tokenParts() -> TokenParts? {
        let held: SecretBytes
        switch session {
        case .none: return nil
        case .some(let session): held = session.duplicate()
        }
        switch access {
        case .none: return nil
        case .some(let access): return TokenParts(session: held, access: access.duplicate())
        }
    }
}

extension LoginStore {
    /// - Returns: nil too if the row is not authentic.
    borrowing func keptToken(_ id: LoginID) throws(AuthError) -> KeptTokenRow? {
        guard let bytes = try ledger.serverRow(id) else { return nil }
        return try? KeptTokenRow(bytes, under: id, device)
    }

    /// Writes `new` in the place of what was read, or deletes that.
    ///
    /// Accident: another process has kept a newer one since it was read, and loses it.
    ///
    /// - Returns: Whether the ledger still had what was read.
    @discardableResult
    borrowing func replace(_ read: KeptTokenRow, by new: KeptTokenRow?) throws(AuthError) -> Bool {
        let isReplaced = try ledger.write { () throws(AuthError) in
            guard try keptToken(read.id) == read else { return false }
            if let new { try ledger.putServerRow(read.id, new.encode(under: device)) } else { try deleteKeptToken(read.id) }
            return true
        }
        if isReplaced, new == nil { _ = try? purge(wait: 0) }
        return isReplaced
    }

    /// The ids of the kept tokens of a user under a profile, at any server.
    borrowing func keptTokens(naming key: LoginKey) throws(AuthError) -> [LoginID] {
        var found: [LoginID] = []
        for id in try rememberedIDs() {
            guard let row = try keptToken(id), row.profile == key.profile, row.user == key.user, row.domain == key.domain else {
                continue
            }
            found.append(id)
        }
        return found
    }
}
