// The change of a login's password without a server. The unlocking key stays, so vaults open with the new password.

public import OMSecrets

extension Authenticator {
    /// Changes the password of `user`. The old one is checked, and charged, like any attempt.
    ///
    /// The new slot holds the same unlocking key, so every vault slot of this login opens with the new password. A
    /// remembered password is deleted, because it is the old one.
    ///
    /// - Throws: What ``check(_:_:domain:password:)`` throws for the old password; ``AuthError/busy`` if another
    ///   process replaced the credential meanwhile.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func changePassword(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, from old: borrowing Password,
        to new: borrowing Password
    ) throws(AuthError) -> VerifiedLogin {
        let key = LoginKey(user, profile, domain)
        // Twice, because the check itself replaces a slot of another scheme.
        for _ in 0..<2 {
            let before = try open(key).find(key).verifier
            let login = try check(user, profile, domain: domain, password: old)
            guard case .live(let slot) = before else { continue }
            if let changed = try replace(slot, of: key, under: profile, around: login.unlock, new, in: open(key)) {
                return changed
            }
        }
        throw .busy
    }

    /// - Returns: nil if the row has another slot now, which the old password may not open.
    private func replace(
        _ old: LoginSlot, of key: LoginKey, under profile: Profile, around unlock: borrowing Key<Unlocking>,
        _ password: borrowing Password, in store: borrowing LoginStore
    ) throws(AuthError) -> VerifiedLogin? {
        let id = key.id(under: store.device)
        let policy = LoginPolicy(profile, try store.find(key).server)
        let derivation = SlotKeyDerivation(policy.cryptoScheme, parameters)
        let stretched = try stretch(derivation, password)
        let slot = LoginSlot(derivation, stretched, of: id, on: store.device, holding: unlock)
        return try store.exclusively(id, unless: cancellation) { () throws(AuthError) in
            try cancellation?.check()
            guard try store.find(key).verifier == .live(old) else { return nil }
            _ = try store.change(id, recording: { _ in [.enrolled(isReplaced: true)] }) { (row) throws(AuthError) in
                row.verifier = .live(slot)
                _ = try store.deleteRemembered(Clearing(after: .sessionTimeOut), of: row.key)
            }
            // Also erases the old slot's bytes. A reader may keep them for now; then the next operation erases them.
            _ = try? store.purgeDeletedPasswords(wait: 0)
            return try selfTest(key, under: policy, stretched)
        }
    }
}
