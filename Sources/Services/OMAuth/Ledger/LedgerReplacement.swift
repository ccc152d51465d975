// The replacement of a ledger that cannot be read, by an online success or an administrator.
// docs/formats/login-format.md, "A ledger that cannot be read".

internal import OMStorage
internal import OMSystem

extension Authenticator {
    /// The paths of the unreadable ledgers that were set aside, the oldest first.
    ///
    /// Nothing deletes data in these files: no wipe, no ``remove(_:_:domain:server:)`` and no logout. They keep their
    /// credentials and remembered passwords until the user or an administrator deletes the files.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func damagedLedgers() throws(AuthError) -> [String] {
        try backend.damagedLedgers()
    }

    /// Replaces a ledger that cannot be read by an empty one, and renames the old one. Call this only after a server
    /// has accepted a password, or for an administrator.
    ///
    /// Attack: an attacker damages the ledger, and one online success makes it forget the counters of all other logins.
    /// The marks beside the device key remember them. So each other login is refused as rolled back until its own
    /// online success.
    ///
    /// - Returns: nil if the ledger can be read. Another process may have replaced it already.
    /// - Throws: ``AuthError/deviceKeyMissing``, ``AuthError/deviceKeyDamaged``: a lost device key is not replaced.
    func replaceUnreadableLedger() throws(AuthError) -> DamagedFile? {
        let device = try backend.makeDevice()
        let wall = clock().wall
        // If two processes found it damaged, the second finds the new ledger here and must not set that aside.
        return try LoginLog.marks(backend, device).hold(wait: LoginLog.wait) { () throws(AuthError) in
            guard let aside = try backend.renameUnreadableLedger(at: wall) else { return nil }
            let ledger = try backend.makeLedger()
            try LoginLog(ledger, backend, device).begin(at: wall)
            return aside
        }
    }
}
