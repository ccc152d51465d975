// One login as it is stored: its counters, its times, its server's policy and its slot.
// docs/formats/login-format.md, "A row".

internal import OMStorage
internal import OMSystem

/// A row of the ledger. Only an authentic row is decoded to this type.
struct LoginRow: Hashable, Sendable {
    let id: LoginID
    let key: LoginKey
    /// The device key that the row belongs to.
    let deviceID: [UInt8]
    /// Rises with every write.
    var generation: UInt64
    /// Attempts that were charged since the last success.
    var charged: UInt32
    /// Wrong passwords since the last success.
    var failed: UInt32
    /// Passwords that a server refused and that were then compared with the slot, since the last online success.
    var onlineCompares: UInt32
    /// When the last attempt was charged, by ``LastSeenTime/now(_:)``.
    var lastAttempt: Int64
    var verifier: StoredVerifier
    let enrolledAt: Int64
    /// 0 means never.
    let lastOnline: Int64
    var time: LastSeenTime
    var lastPolicy: LastPolicy
    /// The last policy of the server. Nil if it sent none.
    var server: ServerPolicy?

    /// Only a live row has a slot. The other cases have no place for one.
    enum StoredVerifier: Hashable, Sendable {
        case live(LoginSlot)
        /// The limit was exceeded. The slot is removed from the row, but its bytes may still be in the ledger's
        /// write-ahead log.
        case wipePending
        case wiped
        /// The credential was deleted for another reason than the limit, such as a server's refusal or a logout.
        case clearPending
        case cleared
    }

    /// The policy at the last write, for later readers of the row. It decides nothing.
    struct LastPolicy: Hashable, Sendable {
        let limit: UInt32
        let consequence: OnAttemptsExceeded
        let mode: LimitMode

        init(_ policy: LoginPolicy) {
            self.init(UInt32(policy.maxLoginAttempts), policy.onAttemptsExceeded, policy.limitMode)
        }

        init(_ limit: UInt32, _ consequence: OnAttemptsExceeded, _ mode: LimitMode) {
            (self.limit, self.consequence, self.mode) = (limit, consequence, mode)
        }
    }

    /// The row of a new credential. ``LoginStore`` sets its generation when it stores the row.
    ///
    /// - Parameters:
    ///   - verifier: A slot, or a cleared verifier for a row that only remembers the server's policy.
    ///   - online: Whether the verifier comes from a server that accepted the password now.
    init(
        _ id: LoginID, of key: LoginKey, _ verifier: StoredVerifier, on device: borrowing DeviceKey,
        under policy: LoginPolicy, at time: LastSeenTime, online: Bool = false, server: ServerPolicy? = nil,
        enrolled: Int64? = nil
    ) {
        (self.id, self.key, deviceID) = (id, key, device.fingerprint())
        (generation, charged, failed, onlineCompares, lastAttempt) = (0, 0, 0, 0, 0)
        self.verifier = verifier
        self.time = time
        // If the server has set the time back, the credential was enrolled at the corrected time at the latest.
        enrolledAt = min(enrolled ?? time.earliest, time.earliest)
        lastOnline = online ? time.earliest : 0
        (lastPolicy, self.server) = (LastPolicy(policy), server)
    }

    func age(under policy: LoginPolicy) -> VerifierAge {
        VerifierAge(since: max(enrolledAt, lastOnline), maximum: policy.offlineCredentialMaxAge)
    }

    /// How many more wrong passwords are tolerated.
    func attemptsLeft(under policy: LoginPolicy) -> Int {
        max(0, policy.tolerated - Int(charged))
    }

    /// Whether the slot was deleted, but bytes of it may still be in the ledger's write-ahead log.
    var isPending: Bool { verifier == .wipePending || verifier == .clearPending }
}

extension LoginRow {
    /// Decides whether a password may be checked. No other code decides that.
    func permission(under policy: LoginPolicy, at clock: ClockReading) -> AttemptPermission {
        let slot: LoginSlot
        switch verifier {
        case .wiped: return .refused(.wiped(isFinished: true))
        case .wipePending: return .refused(.wiped(isFinished: false))
        // The server's policy on offline logins outlives the credential.
        case .cleared, .clearPending: return .refused(policy.isOfflineAllowed ? .noCredential : .offlineNotAllowed)
        case .live(let live): slot = live
        }
        guard policy.isOfflineAllowed else { return .refused(.offlineNotAllowed) }
        // The limit was lowered below the number of wrong passwords, or the wipe was not written.
        if failed > policy.tolerated { return policy.onAttemptsExceeded == .wipe ? .wipeDue : .refused(.lockedOut) }
        // Crashes alone delete nothing, but they allow no further check either.
        if charged > policy.tolerated { return .refused(.lockedOut) }
        if policy.clockRollback == .deny, time.isAhead(of: clock) { return .refused(.clockRolledBack) }
        let age = age(under: policy)
        if let expires = age.expires, age.isExpired(at: time.now(clock)) { return .refused(.expired(since: expires)) }
        let left = policy.delay(after: Int(charged)) - time.passed(since: lastAttempt, clock)
        return left > 0 ? .refused(.delayed(seconds: left)) : .open(slot)
    }
}
