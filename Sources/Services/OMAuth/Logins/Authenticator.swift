// The offline check. Wrong guesses are counted so that no crash and no race earns one more.
//
// docs/login-format.md, "The order of an attempt", in the same steps and words.

public import OMSecrets
public import OMSystem

/// Checks passwords against cached credentials, and makes, lists and removes these.
///
///     let authenticator = Authenticator(stateFolder: "…/omvault", deviceFolder: "…/omvault-device")
///     let login = try await authenticator.check(UserName("ada"), profile, password: password)
///
/// Any number of processes and threads may work on one ledger. The calls block. `async` functions
/// await `login`, `check`, `end`, `remove`, `remember` and `enrollReplacingWithoutOldPassword`, and every other call in
/// ``awaiting(_:)``.
public struct Authenticator: Sendable {
    /// How long one who wiped waits for readers, in milliseconds. Others try once.
    static let wipeWait: Int32 = 2_000

    typealias Stretch = @Sendable (SlotKeyDerivation, borrowing Password) throws(AuthError) -> Key<Unlocking>

    var backend: any LoginBackend
    var parameters: Argon2id.Parameters
    let clock: @Sendable () -> ClockReading
    /// Milliseconds.
    let lockWait: Int
    let stretch: Stretch
    /// Told at each named point of an attempt: a test looks at the disk there, or spoils it.
    let reached: @Sendable (AttemptPoint) -> Void
    /// Calls off what has not been charged yet; nil: nobody does.
    var cancellation: Cancellation?

    /// - Parameters:
    ///   - stateFolder: `$XDG_STATE_HOME/omvault`; holds `logins.db`.
    ///   - deviceFolder: `$XDG_STATE_HOME/omvault-device`; holds the device key and the marks.
    ///   - parameters: What new credentials are stretched with.
    ///   - clock: What time it is; the machine's own clocks, for whoever knows no better.
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
    /// Every attempt is charged on the disk before its check and settled after it. A success takes all charges back.
    ///
    /// - Throws: ``AuthError``: each of its verdicts, what was found damaged or put back, and what the machine refused.
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

    /// The same check, with what was charged told apart from what was refused before that, which is thrown.
    func attempt(
        on key: LoginKey, under profile: Profile, _ password: borrowing Password
    ) throws(AuthError) -> AttemptResult {
        // Without a server nobody but the profile can allow it: nothing has to be opened to refuse.
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

    /// Does the work of a check where there is nothing to check. Nothing is charged or written for it.
    ///
    /// Attack: take the time of a refusal. A stretch takes a tenth of a second, so a quick refusal would tell a stranger, at
    /// PAM's prompt too, which names are known here.
    func stretchForEqualTiming(refused error: AuthError, under profile: Profile, _ password: borrowing Password) {
        switch error {
        // The machine refused, and not the login.
        case .busy, .storage, .outOfMemory, .schemeUnavailable, .cancelled: return
        default: _ = try? stretch(SlotKeyDerivation(LoginPolicy(profile).cryptoScheme, parameters), password)
        }
    }

    private func chargeAndCheck(
        _ key: LoginKey, under profile: Profile, _ password: borrowing Password, in store: borrowing LoginStore
    ) throws(AuthError) -> AttemptResult {
        while true {
            try cancellation?.check()
            // 1. Salt and parameters. Whoever has no attempt left is told here, before the slow part.
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
            // 2. Outside the login's lock, so that two hundred at once wait for the processor and not for each other.
            let stretched = try stretch(slot.derivation, password)
            // 3. From here to the settlement nobody else is at this login.
            let result = try store.exclusively(row.id, unless: cancellation) { () throws(AuthError) in
                try chargeAndCheck(row.id, slot, stretched, under: profile, in: store)
            }
            guard let result else { continue }
            switch consume result {
            case .wrong(let error): return .wrong(error)
            case .right(let login):
                // 8. A credential of another scheme than the policy's is made again, around the same unlocking key.
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
    /// - Returns: nil when the attempt has to begin again: another process has replaced the slot, so `stretched` does not fit
    ///   it, or a wipe is due.
    private func chargeAndCheck(
        _ id: LoginID, _ slot: LoginSlot, _ stretched: borrowing Key<Unlocking>, under profile: Profile,
        in store: borrowing LoginStore
    ) throws(AuthError) -> AttemptResult? {
        // 4 and 5. Whatever fails in here ends the attempt before the check.
        let charge = try store.charge(id) { (row) throws(AuthError) in
            // The last moment: what is charged is judged, whoever has gone away.
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
                    // That would say that nothing was charged. The charge stays, and the password is wrong.
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

    /// Whatever fails in here: the login stands, and the next success tries again.
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
        // The row is waited for, its marks are not: what a power cut brings back is a mark below a row with no charges, and
        // the row of the charge in its place only counts an attempt too much. Each sync here is one under the lock.
        _ = try store.change(
            charged.id, recording: { _ in [.grantedOffline] + behind }, syncsMarks: false
        ) { (row) throws(AuthError) in
            guard row.verifier == charged.verifier else { throw .rolledBack }
            (row.charged, row.failed) = (0, 0)
        }
    }

    /// - Returns: What the wrong password has come to.
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
            // The slot leaves with the very commit that says it has to, and what is remembered with it.
            let isWiped = row.failed > policy.tolerated && policy.onAttemptsExceeded == .wipe
            if isWiped { row.verifier = .wipePending }
            hasDeleted = try store.deleteRemembered(Clearing(after: isWiped ? .limitExceeded : .wrongOffline), of: row.key)
        }
        if settled.verifier == .wipePending {
            // Whatever holds the wipe up, it is exceeded: the row says pending, and the next operation goes on.
            let isFinished = (try? store.finishWipe(charged.id, wait: Self.wipeWait)) ?? false
            return .attemptsExceeded(isFinished: isFinished)
        }
        if hasDeleted { _ = try? store.purgeDeletedPasswords(wait: 0) }
        if settled.failed > policy.tolerated { return .lockedOut }
        return .wrongPassword(
            attemptsLeft: settled.attemptsLeft(under: policy), consequence: policy.onAttemptsExceeded)
    }

    // MARK: - Shared with enrolment and status

    /// Opens what is stored for `key`; makes nothing.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/rolledBack``, ``AuthError/deviceKeyMissing``.
    func open(_ key: LoginKey) throws(AuthError) -> LoginStore {
        let device = try backend.loadDevice()
        let ledger = try backend.openLedger()
        guard let ledger else {
            guard let device else { throw .noCredential }
            // Attack: delete the whole ledger. The mark of each of its rows is still there.
            let marks = try backend.marks(key.id(under: device), under: device)
            let mark = try storing { () throws(StorageError) in try marks.read() }
            throw mark?.first?.isVacant ?? true ? .noCredential : .rolledBack
        }
        guard let device else {
            let isEmpty = try ledger.rows().isEmpty
            throw isEmpty ? .noCredential : .deviceKeyMissing
        }
        return try LoginStore(ledger, device, of: self)
    }

    /// Opens the ledger of this device, whoever is in it; makes nothing.
    ///
    /// - Returns: nil when there is no ledger, or no device key.
    func openIfPresent() throws(AuthError) -> LoginStore? {
        let ledger = try backend.openLedger()
        guard let ledger, let device = try backend.loadDevice() else { return nil }
        return try LoginStore(ledger, device, of: self)
    }

    /// Decides whether a row may be tried, and carries out the wipe that a lowered limit has made due.
    ///
    /// - Returns: The slot to try; nil when the row has changed meanwhile, so that the caller decides again.
    func slotToTry(
        _ row: LoginRow, under profile: Profile, in store: borrowing LoginStore
    ) throws(AuthError) -> LoginSlot? {
        switch row.permission(under: LoginPolicy(profile, row.server), at: clock()) {
        case .open(let slot): return slot
        // The last charge may be of an attempt that is running: whether it was wrong shows when the lock is free.
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
                // Whatever holds the wipe up: the credential is gone with the commit above.
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
    /// Writes down that somebody was refused. What cannot be written changes nothing about it.
    borrowing func record(refusal error: AuthError, of key: LoginKey) {
        switch error {
        // Nothing was decided.
        case .busy, .storage, .outOfMemory, .schemeUnavailable, .cancelled: return
        default: record(.refused(LoginEvent.Refusal(error)), of: key)
        }
    }

    /// Writes one event into the log, if that is possible.
    borrowing func record(_ event: LoginEvent, of key: LoginKey) {
        let id = key.id(under: device)
        // A user without a row is not named, not even by an id.
        let isKnown = (try? ledger.row(id)) != nil
        try? logging { (entries: inout LoginLog.Entries) throws(AuthError) in
            try ledger.write { () throws(AuthError) in
                // The clock is read while the log is locked: of two processes, the one that waited tells no earlier time.
                try entries.append([event], isKnown ? id : nil, at: authenticator.clock().wall)
            }
        }
    }
}
