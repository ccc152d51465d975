// The offline check. It counts wrong guesses so that no crash and no race allows one more.
//
// It has the steps and words of docs/formats/login-format.md, "The order of an attempt".

public import OMSecrets
public import OMSystem

/// Checks passwords against cached credentials. It also makes, lists and removes these.
///
///     let authenticator = Authenticator(stateFolder: "…/omvault", deviceFolder: "…/omvault-device")
///     let login = try await authenticator.check(UserName("ada"), profile, password: password)
///
/// Any number of processes and threads can use one ledger. The calls block. In `async` functions, await `login`,
/// `check`, `end`, `remove`, `remember` and `enrollReplacingWithoutOldPassword`, and every other call in
/// ``awaiting(_:)``.
public struct Authenticator: Sendable {
    /// How long a wipe waits for readers, in milliseconds. Other purges try once.
    static let wipeWait: Int32 = 2_000

    typealias Stretch = @Sendable (SlotKeyDerivation, borrowing Password) throws(AuthError) -> Key<Unlocking>

    var backend: any LoginBackend
    var parameters: Argon2id.Parameters
    let clock: @Sendable () -> ClockReading
    /// In milliseconds.
    let lockWait: Int
    let stretch: Stretch
    /// Called at each named point of an attempt. A test reads or damages the disk there.
    let reached: @Sendable (AttemptPoint) -> Void
    /// Ends an attempt that is not charged yet. Nil if no caller can cancel.
    var cancellation: Cancellation?

    /// - Parameters:
    ///   - stateFolder: `$XDG_STATE_HOME/omvault`; holds `logins.db`.
    ///   - deviceFolder: `$XDG_STATE_HOME/omvault-device`; holds the device key and the marks.
    ///   - parameters: The stretch of new credentials.
    ///   - clock: The time. By default the machine's own clocks.
    public init(
        stateFolder: String, deviceFolder: String, parameters: Argon2id.Parameters = .standard,
        clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() }
    ) {
        self.init(FileLoginBackend(state: stateFolder, device: deviceFolder), parameters, clock: clock)
    }

    init(
        _ backend: any LoginBackend, _ parameters: Argon2id.Parameters,
        lockWait: Int = 60_000, clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() },
        stretch: @escaping Stretch = { (derivation, password) throws(AuthError) in try derivation.stretch(password) },
        reached: @escaping @Sendable (AttemptPoint) -> Void = { _ in }
    ) {
        (self.backend, self.parameters) = (backend, parameters)
        (self.lockWait, self.clock, self.stretch, self.reached) = (lockWait, clock, stretch, reached)
    }

    /// Checks `password` without a server.
    ///
    /// Every attempt is charged on the disk before its check and settled after it. A success resets the counter.
    ///
    /// - Throws: ``AuthError``: a verdict, damage or a rollback that was found, or a failure of the machine.
    public func check(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, password: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        switch try attempt(on: LoginKey(user, profile, domain), under: profile, password) {
        case .right(let login): return login
        case .wrong(let error): throw error
        }
    }

    /// The result of an attempt that was charged. Its log entry is written with its settlement.
    enum AttemptResult: ~Copyable {
        case right(VerifiedLogin)
        case wrong(AuthError)
    }

    /// Does the same check. It returns the result of a charged attempt, and throws what was refused before the charge.
    func attempt(
        on key: LoginKey, under profile: Profile, _ password: borrowing Password
    ) throws(AuthError) -> AttemptResult {
        // Without a server only the profile can allow offline logins, so this refusal opens no file.
        guard !key.server.isEmpty || LoginPolicy(profile).isOfflineAllowed else { throw .offlineNotAllowed }
        let store: LoginStore
        do throws(AuthError) { store = try open(key) } catch {
            stretchForEqualTiming(refused: error, under: profile, password)
            throw error
        }
        try store.finishPendingWipes()
        do throws(AuthError) { return try chargeAndCheck(key, under: profile, password, in: store) } catch {
            store.record(refusal: error, of: key)
            throw error
        }
    }

    /// Stretches the password although there is nothing to check. It charges and writes nothing.
    ///
    /// Attack: an attacker measures how long a refusal takes, also at PAM's prompt. A stretch takes a tenth of a
    /// second, so a quick refusal would reveal which names are known here.
    func stretchForEqualTiming(refused error: AuthError, under profile: Profile, _ password: borrowing Password) {
        switch error {
        // The machine refused, not the login.
        case .busy, .storage, .outOfMemory, .schemeUnavailable, .cancelled: return
        default: _ = try? stretch(SlotKeyDerivation(LoginPolicy(profile).cryptoScheme, parameters), password)
        }
    }

    private func chargeAndCheck(
        _ key: LoginKey, under profile: Profile, _ password: borrowing Password, in store: borrowing LoginStore
    ) throws(AuthError) -> AttemptResult {
        while true {
            try cancellation?.check()
            // 1. Salt and parameters. A user without an attempt left is refused here, before the slow part.
            let row: LoginRow
            let slot: LoginSlot
            do throws(AuthError) {
                row = try store.find(key)
                reached(.found(row))
                guard let open = try slotToTry(row, under: profile, in: store) else { continue }
                slot = open
            } catch {
                stretchForEqualTiming(refused: error, under: profile, password)
                throw error
            }
            // 2. Outside the login's lock: two hundred attempts at once wait for the processor and not for each other.
            let stretched = try stretch(slot.derivation, password)
            // 3. From here to the settlement no other process or thread works on this login.
            let result = try store.exclusively(row.id, unless: cancellation) { () throws(AuthError) in
                try chargeAndCheck(row.id, slot, stretched, under: profile, in: store)
            }
            guard let result else { continue }
            switch consume result {
            case .wrong(let error): return .wrong(error)
            case .right(let login):
                // 8. If the policy names another scheme, the credential is made again around the same unlocking key.
                let scheme = LoginPolicy(profile, row.server).cryptoScheme
                if slot.derivation.scheme != scheme {
                    migrateScheme(slot, of: row.id, as: scheme, around: login.unlock, password, in: store)
                }
                return .right(login)
            }
        }
    }

    /// Steps 4 to 7, under the login's lock.
    ///
    /// - Returns: nil if the attempt has to begin again. Either another process has replaced the slot, so `stretched`
    ///   does not fit it, or a wipe is due.
    private func chargeAndCheck(
        _ id: LoginID, _ slot: LoginSlot, _ stretched: borrowing Key<Unlocking>, under profile: Profile,
        in store: borrowing LoginStore
    ) throws(AuthError) -> AttemptResult? {
        // 4 and 5. Any error in here ends the attempt before the check.
        let charge = try store.charge(id) { (row) throws(AuthError) in
            // The last moment to cancel: after the charge, the attempt runs to its end.
            try cancellation?.check()
            let policy = LoginPolicy(profile, row.server), clock = clock()
            switch row.permission(under: policy, at: clock) {
            case .refused(let error): throw error
            case .open(slot):
                row.lastPolicy = LoginRow.LastPolicy(policy)
                row.lastAttempt = row.time.now(clock)
                return true
            case .open, .wipeDue: return false
            }
        }
        switch consume charge {
        case .nothingToCheck: return nil
        case .charged(let charged):
            let row = charged.row, policy = LoginPolicy(profile, row.server), clock = clock()
            // 6. The only line that looks at the password.
            let login = charged.check(stretched, on: store.device, under: policy, at: clock)
            reached(.checked(row))
            // 7.
            guard var login else {
                do throws(AuthError) { return .wrong(try settleWrong(row, under: policy, in: store)) } catch {
                    // `busy` would mean that nothing was charged. The charge stays, and the password is wrong.
                    guard error == .busy else { throw error }
                    return .wrong(
                        Int(row.charged) > policy.tolerated
                            ? .lockedOut
                            : .wrongPassword(
                                attemptsLeft: row.attemptsLeft(under: policy), consequence: policy.onAttemptsExceeded))
                }
            }
            do { try settleRight(row, secondsBehind: row.time.behind(clock), in: store) } catch { login.isDegraded = true }
            return .right(login)
        }
    }

    /// If this fails, the login still counts, and the next success tries again.
    private func migrateScheme(
        _ old: LoginSlot, of id: LoginID, as scheme: CryptoScheme, around unlock: borrowing Key<Unlocking>,
        _ password: borrowing Password, in store: borrowing LoginStore
    ) {
        let derivation = SlotKeyDerivation(scheme, old.derivation.parameters)
        guard let stretched = try? stretch(derivation, password) else { return }
        let slot = LoginSlot(derivation, stretched, of: id, on: store.device, holding: unlock)
        _ = try? store.exclusively(id) { () throws(AuthError) in
            _ = try store.change(id) { (row) throws(AuthError) in
                if row.verifier == .live(old) { row.verifier = .live(slot) }
            }
            _ = try store.purge(wait: 0)
        }
    }

    private func settleRight(
        _ charged: LoginRow, secondsBehind: UInt64?, in store: borrowing LoginStore
    ) throws(AuthError) {
        let behind = secondsBehind.map { [LoginEvent.clockBehind(seconds: $0)] } ?? []
        // The row is synced, its marks are not. A power cut may bring back the old mark, which is below this row and so
        // accepts it. It would also accept the row of the charge, but that one only counts an attempt too many. Every
        // sync here happens under the lock.
        _ = try store.change(
            charged.id, recording: { _ in [.grantedOffline] + behind }, syncsMarks: false
        ) { (row) throws(AuthError) in
            guard row.verifier == charged.verifier else { throw .rolledBack }
            (row.charged, row.failed) = (0, 0)
        }
    }

    /// - Returns: The verdict for the wrong password.
    private func settleWrong(
        _ charged: LoginRow, under policy: LoginPolicy, in store: borrowing LoginStore
    ) throws(AuthError) -> AuthError {
        var hasDeleted = false
        func event(_ row: LoginRow) -> LoginEvent {
            if row.verifier == .wipePending { return .wiped }
            return row.failed > policy.tolerated
                ? .lockedOut : .wrongPassword(attemptsLeft: UInt32(row.attemptsLeft(under: policy)))
        }
        let settled = try store.change(charged.id, recording: { [event($0)] }) { (row) throws(AuthError) in
            row.failed = min(row.failed + 1, row.charged)
            // The commit that decides the wipe also removes the slot and the remembered data.
            let isWiped = row.failed > policy.tolerated && policy.onAttemptsExceeded == .wipe
            if isWiped { row.verifier = .wipePending }
            hasDeleted = try store.deleteRemembered(Clearing(after: isWiped ? .limitExceeded : .wrongOffline), of: row.key)
        }
        if settled.verifier == .wipePending {
            // Even if the wipe is delayed, the limit is exceeded. The row says pending, and the next operation continues.
            let isFinished = (try? store.finishWipe(charged.id, wait: Self.wipeWait)) ?? false
            return .attemptsExceeded(isFinished: isFinished)
        }
        if hasDeleted { _ = try? store.purgeDeletedPasswords(wait: 0) }
        if settled.failed > policy.tolerated { return .lockedOut }
        return .wrongPassword(
            attemptsLeft: settled.attemptsLeft(under: policy), consequence: policy.onAttemptsExceeded)
    }

    // MARK: - Shared with enrolment and status

    /// Opens the stored data for `key`. This creates nothing.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/rolledBack``, ``AuthError/deviceKeyMissing``.
    func open(_ key: LoginKey) throws(AuthError) -> LoginStore {
        // Another process may enrol at the same time: it makes the ledger, the device key, the mark and the row, in this
        // order. So what seems to be missing is looked for again.
        let ledger = try backend.openLedger()
        guard let device = try backend.loadDevice() else {
            let isEmpty = try ledger?.rows().isEmpty ?? true
            guard !isEmpty else { throw .noCredential }
            guard try backend.loadDevice() != nil else { throw .deviceKeyMissing }
            return try open(key)
        }
        if let ledger { return try LoginStore(ledger, device, of: self) }
        let marks = try backend.marks(key.id(under: device), under: device)
        let mark = try storing { () throws(StorageError) in try marks.read() }
        guard let mark = mark?.first, !mark.isVacant else { throw .noCredential }
        // Attack: an attacker deletes the whole ledger. The marks of its rows still exist.
        guard let ledger = try backend.openLedger() else { throw .rolledBack }
        return try LoginStore(ledger, device, of: self)
    }

    /// Opens the ledger of this device, whether a login is in it or not. This creates nothing.
    ///
    /// - Returns: nil if there is no ledger, or no device key.
    func openIfPresent() throws(AuthError) -> LoginStore? {
        let ledger = try backend.openLedger()
        guard let ledger, let device = try backend.loadDevice() else { return nil }
        return try LoginStore(ledger, device, of: self)
    }

    /// Decides whether a row may be tried, and carries out a wipe that a lowered limit requires.
    ///
    /// - Returns: The slot to try. Nil if the row has changed meanwhile, so that the caller decides again.
    func slotToTry(
        _ row: LoginRow, under profile: Profile, in store: borrowing LoginStore
    ) throws(AuthError) -> LoginSlot? {
        switch row.permission(under: LoginPolicy(profile, row.server), at: clock()) {
        case .open(let slot): return slot
        // The last charge may belong to an attempt that is still running. Its result is known when the lock is free.
        case .refused(.lockedOut), .refused(.delayed), .wipeDue: break
        case .refused(let error):
            if case .expired = error { store.rememberTime(row.id) }
            throw error
        }
        return try store.exclusively(row.id, unless: cancellation) { () throws(AuthError) in
            var isWipedNow = false
            let now = try store.change(
                row.id, recording: { $0.verifier == .wipePending && isWipedNow ? [.wipedByPolicy] : [] }
            ) { (row) throws(AuthError) in
                guard row.permission(under: LoginPolicy(profile, row.server), at: clock()) == .wipeDue else { return }
                row.verifier = .wipePending
                isWipedNow = true
                _ = try store.deleteRemembered(Clearing(after: .limitExceeded), of: row.key)
            }
            if now.verifier == .wipePending {
                // Even if the wipe is delayed, the commit above has deleted the credential.
                throw .wiped(isFinished: (try? store.finishWipe(row.id, wait: Self.wipeWait)) ?? false)
            }
            if case .refused(let error) = now.permission(under: LoginPolicy(profile, now.server), at: clock()) {
                throw error
            }
            return nil
        }
    }
}

extension LoginStore {
    /// Logs a refusal. A failure to write changes nothing about the refusal.
    borrowing func record(refusal error: AuthError, of key: LoginKey) {
        switch error {
        // Nothing was decided.
        case .busy, .storage, .outOfMemory, .schemeUnavailable, .cancelled: return
        default: record(.refused(LoginEvent.Refusal(error)), of: key)
        }
    }

    /// Writes one event into the log, if that is possible.
    ///
    /// - Parameter times: How many equal events it counts for.
    borrowing func record(_ event: LoginEvent, times: UInt32 = 1, of key: LoginKey) {
        let id = key.id(under: device)
        // A user without a row is not named, not even by an id, unless the agent has a session of that user.
        let isKnown = event.isOfSession || (try? ledger.row(id)) != nil
        try? logging { (entries: inout LoginLog.Entries) throws(AuthError) in
            try ledger.write { () throws(AuthError) in
                // The clock is read while the log is locked. So of two processes, the one that waited gets no earlier time.
                try entries.append([event], times: times, isKnown ? id : nil, at: authenticator.clock().wall)
            }
        }
    }
}
