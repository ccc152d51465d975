// The offline check. Wrong guesses are counted so that no crash and no race earns one more.
//
// docs/login-format.md, "The order of an attempt", in the same steps and words.

public import OMSecrets
internal import OMStorage

/// Checks passwords against cached credentials, and makes, lists and removes these.
///
///     let authenticator = Authenticator(stateFolder: "…/omvault", deviceFolder: "…/omvault-device")
///     let login = try authenticator.check(UserName("ada"), profile, password: password)
///
/// Any number of processes and threads may work on one ledger. All calls block.
public struct Authenticator: Sendable {
    /// How long one who wiped waits for readers, in milliseconds. Others try once.
    static let patience: Int32 = 2_000

    let places: LoginPlaces
    let parameters: Argon2id.Parameters
    let clock: @Sendable () -> ClockReading
    /// Milliseconds.
    let lockWait: Int
    /// Told of the row of every check, just before it: how tests see that the charge is on the disk by then.
    let onCheck: @Sendable (LoginRow) -> Void

    /// - Parameters:
    ///   - stateFolder: `$XDG_STATE_HOME/omvault`; holds `logins.db`.
    ///   - deviceFolder: `$XDG_STATE_HOME/omvault-device`; holds the device key and the marks.
    ///   - parameters: What new credentials are stretched with.
    public init(stateFolder: String, deviceFolder: String, parameters: Argon2id.Parameters = .standard) {
        self.init(LoginPlaces(state: stateFolder, device: deviceFolder), parameters)
    }

    init(
        _ places: LoginPlaces, _ parameters: Argon2id.Parameters, lockWait: Int = 60_000,
        clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() },
        onCheck: @escaping @Sendable (LoginRow) -> Void = { _ in }
    ) {
        (self.places, self.parameters, self.lockWait, self.clock) = (places, parameters, lockWait, clock)
        self.onCheck = onCheck
    }

    /// Checks `password` without a server.
    ///
    /// Every attempt is charged on the disk before its check and settled after it. A success takes all charges back.
    ///
    /// - Throws: ``AuthError``: each of its verdicts, what was found damaged or put back, and what the machine refused.
    public func check(
        _ user: UserName, _ profile: Profile, password: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        guard profile.offlineAuthAllowed else { throw .offlineNotAllowed }
        let key = LoginKey(profile: profile.name, user: user)
        let store = try open(key)
        try store.finishPendingWipes()
        while true {
            // 1. Salt and parameters. Whoever has no attempt left is told here, before the slow part.
            let row = try store.find(key)
            guard let slot = try admit(row, profile, store) else { continue }
            // 2. Outside the login's lock, so that two hundred at once wait for the processor and not for each other.
            let stretched = try slot.recipe.stretch(password)
            // 3. From here to the settlement nobody else is at this login.
            let login = try store.lock(row.id).hold(wait: lockWait) { () throws(AuthError) in
                try Uninterrupted.run { () throws(AuthError) in
                    try attempt(row.id, slot, stretched, profile, store)
                }
            }
            // 8. A credential of another scheme than the policy's is made anew, around the same unlocking key.
            if let login {
                if slot.recipe.scheme != profile.cryptoScheme { remake(slot, login, password, profile, store, row.id) }
                return login
            }
        }
    }

    /// Steps 4 to 7, under the login's lock.
    ///
    /// - Returns: nil when there is another slot by now, for which `stretched` is no good.
    private func attempt(
        _ id: LoginID, _ slot: LoginSlot, _ stretched: borrowing Key<Unlocking>, _ profile: Profile,
        _ store: borrowing LoginStore
    ) throws(AuthError) -> VerifiedLogin? {
        // 4 and 5. Whatever fails in here ends the attempt before the check.
        let charge = try store.charge(id, onCheck) { (row) throws(AuthError) in
            switch row.standing(under: profile, at: row.time.now(clock())) {
            case .refused(let error): throw error
            case .wipeDue: row.credential = .wipePending
            case .open(slot):
                row.policy = LoginRow.PolicyNote(profile)
                return true
            case .open: break
            }
            return false
        }
        switch consume charge {
        case .nothingToCheck(let row):
            guard row.credential == .wipePending else { return nil }
            throw .wiped(isFinished: try store.finishWipe(id, wait: 0))
        case .charged(let charged):
            let row = charged.row
            // 6. The only line that looks at the password.
            let login = charged.check(stretched, store.device, profile, clock())
            // 7.
            guard var login else { throw try settleWrong(row, profile, store) }
            do { try settleRight(row, store) } catch { login.isDegraded = true }
            return login
        }
    }

    /// Whatever fails in here: the login stands, and the next success tries again.
    private func remake(
        _ old: LoginSlot, _ login: borrowing VerifiedLogin, _ password: borrowing Password, _ profile: Profile,
        _ store: borrowing LoginStore, _ id: LoginID
    ) {
        let recipe = LoginRecipe(profile.cryptoScheme, old.recipe.parameters)
        guard let slot = try? slot(recipe, password, store.device, id, holding: login.unlock) else { return }
        _ = try? store.lock(id).hold(wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                _ = try store.change(id) { (row) throws(AuthError) in
                    if row.credential == .live(old) { row.credential = .live(slot) }
                }
                _ = try store.purge(wait: 0)
            }
        }
    }

    private func slot(
        _ recipe: LoginRecipe, _ password: borrowing Password, _ device: borrowing DeviceKey, _ id: LoginID,
        holding unlock: borrowing Key<Unlocking>
    ) throws(AuthError) -> LoginSlot {
        LoginSlot(recipe, try recipe.stretch(password), device, id, holding: unlock)
    }

    private func settleRight(_ charged: LoginRow, _ store: borrowing LoginStore) throws(AuthError) {
        _ = try store.change(charged.id) { (row) throws(AuthError) in
            guard row.credential == charged.credential else { throw .rolledBack }
            (row.charged, row.failed) = (0, 0)
        }
    }

    /// - Returns: What the wrong password has come to.
    private func settleWrong(
        _ charged: LoginRow, _ profile: Profile, _ store: borrowing LoginStore
    ) throws(AuthError) -> AuthError {
        let settled = try store.change(charged.id) { (row) throws(AuthError) in
            row.failed = min(row.failed + 1, row.charged)
            // The slot leaves with the very commit that says it has to.
            let isExceeded = row.failed > profile.maxLoginAttempts
            if isExceeded, profile.onAttemptsExceeded == .wipe { row.credential = .wipePending }
        }
        if settled.credential == .wipePending {
            // Whatever holds the wipe up, it is exceeded: the row says pending, and the next operation goes on.
            let isFinished = (try? store.finishWipe(charged.id, wait: Self.patience)) ?? false
            return .attemptsExceeded(isFinished: isFinished)
        }
        if settled.failed > profile.maxLoginAttempts { return .lockedOut }
        return .wrongPassword(
            attemptsLeft: settled.attemptsLeft(under: profile), consequence: profile.onAttemptsExceeded)
    }

    // MARK: - Shared with enrolment and status

    /// Opens what is stored for `key`; makes nothing.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/rolledBack``, ``AuthError/deviceKeyMissing``.
    func open(_ key: LoginKey) throws(AuthError) -> LoginStore {
        let folder = try places.deviceFolder()
        let device = try storing { () throws(StorageError) in try folder?.load() }
        let ledger = try storing { () throws(StorageError) in try Ledger.open(places.ledger) }
        guard let ledger else {
            guard let folder, let device else { throw .noCredential }
            // Attack: delete the whole ledger. The mark of each of its rows is still there.
            let id = key.id(under: device)
            let mark = try storing { () throws(StorageError) in
                try folder.highWater(.login, id: id.bytes, under: device).read()
            }
            throw mark?.first?.isVacant ?? true ? .noCredential : .rolledBack
        }
        guard let folder, let device else {
            let isEmpty = try storing { () throws(StorageError) in try ledger.rows().isEmpty }
            throw isEmpty ? .noCredential : .deviceKeyMissing
        }
        return LoginStore(ledger, folder, device, clock)
    }

    /// Judges a row, and carries out the wipe that a lowered limit has made due.
    ///
    /// - Returns: The slot to try; nil when the row has changed meanwhile: to be judged anew.
    func admit(
        _ row: LoginRow, _ profile: Profile, _ store: borrowing LoginStore
    ) throws(AuthError) -> LoginSlot? {
        switch row.standing(under: profile, at: row.time.now(clock())) {
        case .open(let slot): return slot
        // The last charge may be of an attempt that is running: whether it was wrong shows when the lock is free.
        case .refused(.lockedOut), .wipeDue: break
        case .refused(let error):
            if case .expired = error { store.rememberTime(row.id) }
            throw error
        }
        return try store.lock(row.id).hold(wait: lockWait) { () throws(AuthError) in
            try Uninterrupted.run { () throws(AuthError) in
                let now = try store.change(row.id) { (row) throws(AuthError) in
                    let standing = row.standing(under: profile, at: row.time.now(clock()))
                    if standing == .wipeDue { row.credential = .wipePending }
                }
                if now.credential == .wipePending {
                    throw .wiped(isFinished: try store.finishWipe(row.id, wait: Self.patience))
                }
                if case .refused(let error) = now.standing(under: profile, at: now.time.now(clock())) { throw error }
                return nil
            }
        }
    }
}
