// The way out of a ledger that cannot be read: an online success, or an administrator.
// docs/login-format.md, "A ledger that cannot be read".

internal import OMStorage
internal import OMSystem

extension Authenticator {
    /// Where the ledgers are that could not be read and were set aside, the oldest first.
    ///
    /// Nothing takes anything away from these: not a wipe, not ``remove(_:_:domain:server:)``, not a logout. They have the
    /// credentials and remembered passwords of then, until somebody deletes them.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func damagedLedgers() throws(AuthError) -> [String] {
        try backend.damagedLedgers()
    }

    /// Puts an empty ledger in the place of one that cannot be read, which gets another name. To be called after a server
    /// has taken a password, or for an administrator, and at nobody else's word.
    ///
    /// Attack: empty the ledger, and one online success makes it forget the counters of all others. The marks beside the
    /// device key remember them, so each of those is rolled back until its own online success.
    ///
    /// - Returns: nil when it can be read by now, for another process was faster, or never was damaged.
    /// - Throws: ``AuthError/deviceKeyMissing``, ``AuthError/deviceKeyDamaged``: no key is made where there was one.
    func replaceUnreadableLedger() throws(AuthError) -> DamagedFile? {
        let device = try backend.makeDevice()
        let wall = clock().wall
        // Of two that found it damaged, the second finds the new one here, and must not set that aside.
        return try LoginLog.marks(backend, device).hold(wait: LoginLog.wait) { () throws(AuthError) in
            guard let aside = try backend.renameUnreadableLedger(at: wall) else { return nil }
            let ledger = try backend.makeLedger()
            try LoginLog(ledger, backend, device).begin(at: wall)
            return aside
        }
    }
}
