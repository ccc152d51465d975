// The data of a login at all servers that its profile has named. The names stay the same, so they are what to look for.

extension LoginKey {
    /// Whether both are logins of one user under profiles of one name, at any servers.
    package func hasSameNames(of other: LoginKey) -> Bool {
        (profile, user, domain) == (other.profile, other.user, other.domain)
    }
}

extension Authenticator {
    /// Whether the ledger has any data of a login with these names, at any server.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func hasData(_ key: LoginKey) throws(AuthError) -> Bool {
        guard let store = try openIfPresent() else { return false }
        return try store.keys(naming: key).isEmpty ? store.hasRemembered(naming: key) : true
    }

    /// Deletes the same parts of the user's remembered data at all other servers of the profile.
    func deleteRememberedElsewhere(
        _ clearing: Clearing, _ key: LoginKey, _ store: borrowing LoginStore
    ) throws(AuthError) {
        let isPurgeDue = try store.ledger.write { () throws(AuthError) in try store.deleteRemembered(clearing, naming: key) }
        if isPurgeDue { _ = try? store.purgeDeletedPasswords(wait: 0) }
    }
}

extension LoginStore {
    /// The logins with these names that have a row, at any server. The rows may not be authentic: each is checked when
    /// it is opened.
    borrowing func keys(naming key: LoginKey) throws(AuthError) -> Set<LoginKey> {
        Set(try rows().compactMap { LoginRow(unauthenticated: $0.bytes)?.key }.filter { $0.hasSameNames(of: key) })
    }

    /// Does what ``deleteRemembered(_:of:)`` does, for every server that the profile has named.
    borrowing func deleteRemembered(_ clearing: Clearing, naming key: LoginKey) throws(AuthError) -> Bool {
        var isPurgeDue = try deleteRemembered(clearing, of: key)
        for id in try rememberedIDs() where try remembered(id)?.profile == key.profile {
            if try deleteRemembered(clearing, id, of: key) { isPurgeDue = true }
        }
        return isPurgeDue
    }

    /// Whether anything is remembered of a login with these names. An unreadable row in the login's place counts too,
    /// so that it is deleted.
    borrowing func hasRemembered(naming key: LoginKey) throws(AuthError) -> Bool {
        let own = Self.rememberedID(key.server, key.profile, device)
        let isThere = try ledger.serverRow(own) != nil
        if isThere, try remembered(own) == nil { return true }
        if try !keptTokens(naming: key).isEmpty { return true }
        for id in try rememberedIDs() {
            guard let row = try remembered(id), row.profile == key.profile else { continue }
            if row.user == key.user, row.domain == key.domain { return true }
        }
        return false
    }
}
