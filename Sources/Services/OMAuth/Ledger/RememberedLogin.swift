// Auto Login, Remember Credentials, Remember User Name: what a success stores, and what a failure deletes.

public import OMSecrets
internal import OMStorage

/// The remembered data of a profile and its server.
public struct RememberedLogin: Hashable, Sendable {
    public let user: UserName?
    public let domain: IdentityDomain
    public let preferences: RememberPreferences
    public let hasPassword: Bool
    /// Whether an auto login may be submitted: none was since the last success.
    public let isArmed: Bool
}

extension Authenticator {
    /// Remembers what the profile allows and the user wants, after a success. The rest is deleted.
    ///
    /// - Parameters:
    ///   - preferences: If nil, they stay as they were.
    ///   - key: Seals the password. If nil (its level is locked), no password is kept.
    public func remember(
        _ receipt: borrowing LoginReceipt, _ profile: Profile, password: borrowing Password,
        _ preferences: RememberPreferences? = nil, key: RememberingKey?
    ) throws(AuthError) {
        try remember(receipt.details, profile, password: password, preferring: preferences, key: key)
    }

    func remember(
        _ login: LoginDetails, _ profile: Profile, password: borrowing Password,
        preferring preferences: RememberPreferences?, key: RememberingKey?
    ) throws(AuthError) {
        // A choice is stored even if it is to remember nothing: the default is for users who have not chosen.
        let isChosen = preferences ?? RememberPreferences() != RememberPreferences()
        guard
            let store = isChosen || RememberChoice(profile.remember, RememberPreferences()) != .nothing
                ? try makeStore() : try openIfPresent()
        else { return }
        let (user, domain) = (login.user, login.domain)
        let id = Self.rememberedID(profile, store.device)
        let hadPassword = try store.changeRemembered(id, profile.name) { row in
            if let preferences { row.preferences = preferences }
            let choice = RememberChoice(profile.remember, row.preferences)
            row.deletePassword()
            (row.user, row.domain) = choice == .nothing ? (nil, .none) : (user, domain)
            if choice.keepsPassword, let key {
                row.setPassword(password, of: user, domain, key: key.key)
                row.isArmed = choice == .autoLogin
            }
        }
        if hadPassword { _ = try store.purgeDeletedPasswords(wait: 0) }
    }

    /// The remembered data. None of it is secret.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func remembered(_ profile: Profile) throws(AuthError) -> RememberedLogin? {
        guard let store = try openIfPresent(), var row = try store.remembered(Self.rememberedID(profile, store.device)) else {
            return nil
        }
        row.limit(to: profile.remember)
        guard !row.isEmpty else { return nil }
        return RememberedLogin(
            user: row.user, domain: row.domain, preferences: row.preferences, hasPassword: row.password != nil,
            isArmed: row.isArmed)
    }

    /// Deletes what the profile no longer allows to be remembered, at each server that it has named. A login that asks
    /// a person begins with this.
    ///
    /// - Returns: Whether there was anything to delete.
    @discardableResult
    package func deleteDisallowed(_ profile: Profile) throws(AuthError) -> Bool {
        guard let store = try openIfPresent() else { return false }
        var (hasDeleted, isPurgeDue) = (false, false)
        for id in try store.rememberedIDs() {
            if !profile.remembersTokens, let row = try store.keptToken(id), row.profile == profile.name, row.generation > 0 {
                try store.ledger.write { () throws(AuthError) in try store.deleteKeptToken(id) }
                (hasDeleted, isPurgeDue) = (true, true)
                continue
            }
            guard let row = try store.remembered(id), row.profile == profile.name else { continue }
            var limited = row
            limited.limit(to: profile.remember)
            guard limited != row else { continue }
            hasDeleted = true
            let isDue = try store.changeRemembered(id, profile.name) { $0.limit(to: profile.remember) }
            isPurgeDue = isPurgeDue || isDue
        }
        if isPurgeDue { _ = try store.purgeDeletedPasswords(wait: 0) }
        return hasDeleted
    }

    /// The remembered password, to fill in a form that a user then submits.
    ///
    /// - Returns: nil if none is remembered, or if the profile no longer allows it.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func rememberedPassword(_ profile: Profile, key: RememberingKey) throws(AuthError) -> Password? {
        guard let store = try openIfPresent(),
            let row = try store.remembered(Self.rememberedID(profile, store.device)),
            RememberChoice(profile.remember, row.preferences).keepsPassword
        else { return nil }
        return row.openPassword(with: key.key)
    }

    /// Whether there is a remembered password that `key` opens.
    func canOpenRemembered(_ profile: Profile, key: RememberingKey) throws(AuthError) -> Bool {
        guard let store = try openIfPresent(),
            let row = try store.remembered(Self.rememberedID(profile, store.device)),
            RememberChoice(profile.remember, row.preferences).keepsPassword
        else { return false }
        return row.password?.keyID == RememberedRow.keyID(key.key)
    }

    /// The password to submit without asking the user. The disk notes that it was taken before this returns it. So
    /// neither a crash nor a loop of restarts submits it again, until a success remembers it again.
    ///
    /// - Returns: nil if there is no auto login: not wanted, not allowed, or already submitted.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func takeAutoLogin(_ profile: Profile, key: RememberingKey) throws(AuthError) -> AutoLogin? {
        guard let store = try openIfPresent() else { return nil }
        let id = Self.rememberedID(profile, store.device)
        guard let before = try store.remembered(id), before.isArmed,
            RememberChoice(profile.remember, before.preferences) == .autoLogin,
            let password = before.openPassword(with: key.key), let user = before.user
        else { return nil }
        var isTaken = false
        _ = try store.changeRemembered(id, profile.name) { row in
            // If two processes take it at once, one of them gets it.
            isTaken = row == before
            if isTaken { row.isArmed = false }
        }
        return isTaken ? AutoLogin(user: user, domain: before.domain, password: password) : nil
    }

    /// Allows an auto login again after one that failed because no server could be asked.
    func rearm(_ profile: Profile) throws(AuthError) {
        guard let store = try openIfPresent() else { return }
        _ = try store.changeRemembered(Self.rememberedID(profile, store.device), profile.name) { row in
            row.isArmed = row.password != nil
        }
    }

    /// The key for data that is remembered at the level `always`. It needs only this device.
    ///
    /// - Returns: nil while there is no device key.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func deviceRememberingKey() throws(AuthError) -> RememberingKey? {
        guard let device = try backend.loadDevice() else { return nil }
        return RememberingKey(device.key.derive(Context(.rememberKey), as: Remembering.self))
    }

    /// Like ``deviceRememberingKey()``, but creates a missing device key: for a first login that is remembered.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func makeDeviceRememberingKey() throws(AuthError) -> RememberingKey {
        // An unreadable ledger does not matter here: the login may replace it.
        if let key = try deviceRememberingKey() { return key }
        let store = try makeStore()
        return RememberingKey(store.device.key.derive(Context(.rememberKey), as: Remembering.self))
    }

    static func rememberedID(_ profile: Profile, _ device: borrowing DeviceKey) -> LoginID {
        LoginStore.rememberedID(profile.serverIdentity, profile.name, device)
    }
}

extension LoginStore {
    /// - Returns: nil too if the row is not authentic. Such a row has no effect, and stops no login.
    borrowing func remembered(_ id: LoginID) throws(AuthError) -> RememberedRow? {
        guard let bytes = try ledger.serverRow(id) else { return nil }
        return try? RememberedRow(bytes, under: id, device)
    }

    static func rememberedID(_ server: String, _ profile: ProfileName, _ device: borrowing DeviceKey) -> LoginID {
        let context = Context(.rememberID, .text(server), .text(profile.text))
        return LoginID(Array(device.key.fingerprint(context).prefix(LoginID.count)))
    }

    /// Changes remembered data in a transaction of its own. An unreadable row starts empty again.
    ///
    /// - Returns: Whether bytes of a password still have to be purged.
    borrowing func changeRemembered(
        _ id: LoginID, _ profile: ProfileName, _ body: (inout RememberedRow) -> Void
    ) throws(AuthError) -> Bool {
        try ledger.write { () throws(AuthError) in try changeRememberedInside(id, profile, body) }
    }

    /// Does the same inside a writing transaction.
    @discardableResult
    private borrowing func changeRememberedInside(
        _ id: LoginID, _ profile: ProfileName, _ body: (inout RememberedRow) -> Void
    ) throws(AuthError) -> Bool {
        let bytes = try ledger.serverRow(id)
        let found = bytes.flatMap { try? RememberedRow($0, under: id, device) }
        var row = found ?? RememberedRow(id, profile)
        // The unreadable row may have held a password.
        row.isPurgePending = row.isPurgePending || bytes != nil && found == nil
        let before = row
        body(&row)
        guard row != before || found == nil else { return row.isPurgePending }
        if row.isEmpty, !row.isPurgePending {
            try ledger.deleteServerRow(id)
        } else {
            try ledger.putServerRow(id, row.encode(under: device))
        }
        return row.isPurgePending
    }

    /// Deletes the parts of the remembered data that an event clears. Call this in a writing transaction.
    ///
    /// - Returns: Whether bytes of a password still have to be purged.
    borrowing func deleteRemembered(_ clearing: Clearing, of key: LoginKey) throws(AuthError) -> Bool {
        // A token that stays would open the session again.
        let tokens = clearing.session == .kept || clearing.session == .invalid ? [] : try keptTokens(naming: key)
        for id in tokens { try deleteKeptToken(id) }
        return try deleteRemembered(clearing, Self.rememberedID(key.server, key.profile, device), of: key) || !tokens.isEmpty
    }

    borrowing func deleteRemembered(_ clearing: Clearing, _ id: LoginID, of key: LoginKey) throws(AuthError) -> Bool {
        let bytes = try ledger.serverRow(id)
        guard let bytes else { return false }
        // A row that is not authentic belongs to no user and has no effect.
        guard let row = try? RememberedRow(bytes, under: id, device) else {
            try ledger.deleteServerRow(id)
            return true
        }
        // Attack: an attacker guesses at one user's password to log another user out. Only the user's own failure deletes data.
        guard row.user == key.user, row.domain == key.domain else { return false }
        return try changeRememberedInside(id, key.profile) { row in
            if !clearing.keepsPassword { row.deletePassword() }
            if !clearing.keepsUserName { (row.user, row.domain) = (nil, .none) }
            switch clearing.preferences {
            case .kept: break
            case .autoLoginOff: row.preferences.autoLogin = false
            case .deleted: row.preferences = RememberPreferences()
            }
        }
    }

    /// Erases the bytes of deleted passwords, if no process still reads an old state.
    ///
    /// - Returns: false if a process does. The next operation tries again.
    borrowing func purgeDeletedPasswords(wait: Int32) throws(AuthError) -> Bool {
        guard try purge(wait: wait) else { return false }
        try notePurged()
        return true
    }

    /// Notes after a purge that no bytes are left.
    borrowing func notePurged() throws(AuthError) {
        for id in try rememberedIDs() {
            guard let row = try? remembered(id), row.isPurgePending else { continue }
            _ = try changeRemembered(id, row.profile) { $0.isPurgePending = false }
        }
    }

    /// Whether a deleted password waits for its purge.
    borrowing func isPasswordPurgePending() throws(AuthError) -> Bool {
        for id in try rememberedIDs() {
            if let row = try? remembered(id), row.isPurgePending { return true }
        }
        return false
    }

    borrowing func rememberedIDs() throws(AuthError) -> [LoginID] {
        try ledger.serverRowIDs().filter { $0.count == LoginID.count }.map { LoginID($0) }
    }
}
