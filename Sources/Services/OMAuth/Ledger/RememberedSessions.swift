// Sessions whose tokens the ledger remembers: kept, renewed, found again and deleted. Format: docs/formats/login-format.md,
// "Remembered sessions".
//
// A door writes the first state, and the agent each later one. The write transaction of the ledger is their lock: a state and its
// mark change only inside one. So no lock of the agent is held, and neither waits for the other for long.

internal import Glibc
internal import OMOnlineModel
package import OMSecrets
internal import OMStorage
internal import OMSystem

extension Authenticator {
    /// The time of a row for something that does not end.
    private static var never: Int64 { LastSeenTime.range.upperBound }

    /// Keeps the session of a login. It replaces that of an earlier login of this user.
    ///
    /// - Returns: nil if the session has no token that can be kept.
    package func rememberSession(
        _ receipt: borrowing LoginReceipt, _ profile: Profile, key: RememberingKey
    ) throws(AuthError) -> SessionRowKey? {
        guard let parts = receipt.tokenParts() else { return nil }
        let store = try makeStore(), now = clock(), time = LastSeenTime(starting: now)
        let login = LoginKey(receipt.details.user, profile, receipt.details.domain)
        let id = KeptTokenRow.sessionID(login, store.device)
        let accessEnd = receipt.sessionExpires.map { time.now(now) + max(0, $0 - now.sinceBoot) } ?? Self.never
        let end = profile.sessionTimeOut.map { time.now(now) + $0 } ?? Self.never
        let (sealed, written) = try store.ledger.write { () throws(AuthError) in
            try store.prepareMark(id, true)
            let known = max(try store.readMark(id)?.generation ?? 0, try store.keptToken(id)?.generation ?? 0)
            let row = KeptTokenRow(
                session: login, profile, generation: known + 1, end: end, accessEnd: accessEnd, time: time, sealing: parts,
                key: key.key, store.device)
            return (row, try store.putSession(row))
        }
        try store.noteSession(written, id)
        return sealed.rowKey(key)
    }

    /// The users whose sessions are remembered under a profile at its server, in the order of their names.
    package func rememberedSessions(_ profile: Profile) throws(AuthError) -> [LoginKey] {
        guard let store = try openIfPresent() else { return [] }
        var found: [LoginKey] = []
        for id in try store.rememberedIDs() {
            guard let row = try store.keptToken(id), row.generation > 0, row.profile == profile.name else { continue }
            let key = LoginKey(profile: row.profile, user: row.user, server: profile.serverIdentity, domain: row.domain)
            if KeptTokenRow.sessionID(key, store.device) == id { found.append(key) }
        }
        return found.sorted { $0.user.utf8.lexicographicallyPrecedes($1.user.utf8) }
    }

    /// The session that is remembered of a login. This writes nothing, except that it deletes a session that never counts again.
    package func rememberedSession(
        _ login: LoginKey, _ profile: Profile, key: RememberingKey?
    ) throws(AuthError) -> RememberedSession {
        guard let store = try openIfPresent() else { return .none }
        let id = KeptTokenRow.sessionID(login, store.device), clock = clock()
        guard let row = try store.currentSession(id) else { return .none }
        let now = row.time.now(clock)
        guard now < row.end, row.digest == profile.digest.bytes else {
            try store.replace(row, by: nil)
            return .none
        }
        if row.isIdle(under: profile, now) { return .none }
        guard let key else { return .locked }
        guard row.isSealed(with: key.key) else { return .otherKey }
        guard let parts = row.open(with: key.key) else { return .none }
        let answer = ProviderAnswer.accepted(
            policy: nil, serverTime: nil, session: parts.session.duplicate(), access: parts.access.duplicate(),
            lifetime: row.accessEnd == Self.never ? nil : UInt32(clamping: max(0, row.accessEnd - now)))
        guard let accepted = AcceptedAnswer(answer, sent: clock) else { return .none }
        let request = LoginRequest(row.user, profile, domain: row.domain, mode: .online)
        return .live(
            LoginReceipt(online: accepted, notCached: .offlineNotAllowed, ReceiptNotes(), request, clock),
            row.rowKey(key),
            left: row.end == Self.never ? nil : row.end - now, since: row.since)
    }

    /// Writes the tokens that a session has now, as the next state. They are on the disk when this returns.
    ///
    /// - Parameter accessLeft: The seconds that the access token lives. Nil for a token without an end.
    /// - Returns: The generation of the state, and whether its mark names it too. If not, the session must be written again.
    /// - Throws: ``AuthError/noCredential`` if the ledger does not have the state that `rowKey` names: the session was deleted, or
    ///   another login or process has replaced it. Any other error leaves the ledger as it was.
    package func renewSession(
        _ login: LoginKey, _ parts: borrowing TokenParts, accessLeft: Int64?, _ rowKey: borrowing SessionRowKey
    ) throws(AuthError) -> (generation: UInt64, isMarked: Bool) {
        guard let store = try openIfPresent() else { throw .noCredential }
        let id = KeptTokenRow.sessionID(login, store.device), clock = clock()
        guard let key = try? Key<Sealing>(readFrom: rowKey.bytes.duplicate()) else { throw .noCredential }
        let generation = rowKey.generation
        let written: HighWaterMark
        do throws(AuthError) {
            written = try store.ledger.write { () throws(AuthError) in
                // Attack: a logout has deleted the session while its server was asked for new tokens, and they would bring it back.
                guard var row = try store.session(id), row.generation == generation else { throw .noCredential }
                let end = accessLeft.map { row.time.now(clock) + max(0, $0) } ?? Self.never
                row.renew(parts, accessEnd: min(end, Self.never), key: key, at: clock)
                return try store.putSession(row)
            }
        } catch {
            guard error == .rolledBack || error == .quarantined else { throw error }
            // This deletes it, unless another login has replaced it since.
            _ = try store.currentSession(id)
            throw .noCredential
        }
        let isMarked = (try? store.noteSession(written, id)) != nil
        return (written.generation, isMarked)
    }

    /// The state that the ledger has of a session. Nil if it has none.
    package func sessionGeneration(_ login: LoginKey) throws(AuthError) -> UInt64? {
        guard let store = try openIfPresent() else { return nil }
        return try store.currentSession(KeptTokenRow.sessionID(login, store.device))?.generation
    }

    /// Deletes a session that its server has ended, unless a later state is there.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    package func forgetSession(_ login: LoginKey, generation: UInt64) throws(AuthError) -> Bool {
        guard let store = try openIfPresent() else { return false }
        let id = KeptTokenRow.sessionID(login, store.device)
        let isDeleted = try store.ledger.write { () throws(AuthError) in
            guard let row = try store.keptToken(id), row.generation <= generation else { return false }
            try store.deleteKeptToken(id)
            return true
        }
        if isDeleted { _ = try? store.purge(wait: 0) }
        return isDeleted
    }
}

extension KeptTokenRow {
    /// Attack: the agent is ended and started again, so that a session that was left alone counts as used.
    func isIdle(under profile: Profile, _ now: Int64) -> Bool { profile.idleTimeOut.map { now - time.written >= $0 } ?? false }

    fileprivate func rowKey(_ key: RememberingKey) -> SessionRowKey {
        let sealing = sessionKey(key.key)
        return SessionRowKey(sealing.withExposedBytes { SecretBytes(copying: $0) }, generation: generation)
    }
}

extension LoginStore {
    /// The remembered session of an id, no older than its mark.
    ///
    /// - Throws: ``AuthError/rolledBack`` for an older one; ``AuthError/quarantined`` for a mark that cannot be read.
    borrowing func session(_ id: LoginID, isFirstLook: Bool = true) throws(AuthError) -> KeptTokenRow? {
        // The mark is read first, because a state is committed before its mark, as in ``load(_:isFirstLook:)``.
        let mark = try readMark(id)
        guard let bytes = try ledger.serverRow(id), let row = try? KeptTokenRow(bytes, under: id, device), row.generation > 0
        else { return nil }
        guard mark != nil || !isFirstLook else { return try session(id, isFirstLook: false) }
        // Attack: an attacker puts an older ledger back. The server has replaced its refresh token, and takes its use for a theft
        // that ends the newest token too. Or the session in it was ended by a logout.
        guard let mark, mark.compare(with: KeptTokenRow.mark(row.generation, bytes)) != .rolledBack else { throw .rolledBack }
        return row
    }

    /// The same. A session that does not count is deleted.
    borrowing func currentSession(_ id: LoginID) throws(AuthError) -> KeptTokenRow? {
        do throws(AuthError) { return try session(id) } catch {
            guard error == .rolledBack || error == .quarantined else { throw error }
        }
        // Another login may have replaced it since.
        return try ledger.write { () throws(AuthError) in
            do throws(AuthError) { return try session(id) } catch {
                guard error == .rolledBack || error == .quarantined else { throw error }
                try deleteKeptToken(id)
                return nil
            }
        }
    }

    /// Call this in a writing transaction.
    fileprivate borrowing func putSession(_ row: KeptTokenRow) throws(AuthError) -> HighWaterMark {
        let bytes = row.encode(under: device)
        guard bytes.count <= KeptTokenRow.maximumCount else { throw .storage(.io(EFBIG)) }
        try ledger.putServerRow(row.id, bytes)
        return KeptTokenRow.mark(row.generation, bytes)
    }

    /// Notes a state that is committed in its mark. If the session was deleted or replaced since, its mark is higher, and stays.
    fileprivate borrowing func noteSession(_ mark: HighWaterMark, _ id: LoginID) throws(AuthError) {
        try ledger.write { () throws(AuthError) in
            guard let bytes = try ledger.serverRow(id), Array(bytes.suffix(MAC.count)) == mark.digest else { return }
            try write(mark, id)
        }
    }

    /// Deletes a kept token or session. Call this in a writing transaction.
    borrowing func deleteKeptToken(_ id: LoginID) throws(AuthError) {
        let row = try keptToken(id), mark = (try? readMark(id)) ?? nil
        // The mark first, and above every state: a copy of the row that is put back later stays refused.
        if row?.generation ?? 0 > 0 || mark != nil {
            try writeVacant(id, max(row?.generation ?? 0, mark?.generation ?? 0) + 1)
        }
        try ledger.deleteServerRow(id)
    }
}
