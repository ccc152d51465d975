// One login as it is stored: its counters, what it remembers of time and of its server, and its slot.
// docs/login-format.md, "A row".

internal import OMStorage
internal import OMSystem

/// A row of the ledger. Only an authentic one is ever decoded to this.
struct LoginRow: Hashable, Sendable {
    let id: LoginID
    let key: LoginKey
    /// Which device key the row belongs to.
    let deviceID: [UInt8]
    /// Rises with every write.
    var generation: UInt64
    /// Attempts that were allowed to check since the last success.
    var charged: UInt32
    /// Wrong verdicts since the last success.
    var failed: UInt32
    /// Passwords compared with the slot because a server had refused them, since the last online success.
    var onlineCompares: UInt32
    /// When the last attempt was charged, as judged then.
    var lastAttempt: Int64
    var verifier: StoredVerifier
    let enrolledAt: Int64
    /// 0: never.
    let lastOnline: Int64
    var time: LastSeenTime
    var lastPolicy: LastPolicy
    /// What the server said last about logins; nil: nothing.
    var server: ServerPolicy?

    /// Only a live row has a slot: in the others there is nowhere for one to be.
    enum StoredVerifier: Hashable, Sendable {
        case live(LoginSlot)
        /// The limit was exceeded. The slot is out of the row; its bytes may still be in the ledger's log.
        case wipePending
        case wiped
        /// The credential was taken away for another reason than the limit: a server's word, a logout.
        case clearPending
        case cleared
    }

    /// The policy at the last write, for those who look at the row later. It decides nothing.
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

    /// The row of a new credential; its generation is given when it is put in.
    ///
    /// - Parameters:
    ///   - verifier: A slot, or ``StoredVerifier/cleared`` for a row that only remembers what the server said.
    ///   - online: The verifier comes from a server that took the password now.
    init(
        _ id: LoginID, of key: LoginKey, _ verifier: StoredVerifier, on device: borrowing DeviceKey,
        under policy: LoginPolicy, at time: LastSeenTime, online: Bool = false, server: ServerPolicy? = nil,
        enrolled: Int64? = nil
    ) {
        (self.id, self.key, deviceID) = (id, key, device.fingerprint())
        (generation, charged, failed, onlineCompares, lastAttempt) = (0, 0, 0, 0, 0)
        self.verifier = verifier
        self.time = time
        // What was made under a clock that the server has set back since was made by then at the latest.
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

    /// Whether its slot is on its way out, with bytes of it perhaps still in the ledger's log.
    var isPending: Bool { verifier == .wipePending || verifier == .clearPending }
}

extension LoginRow {
    /// The one place that decides who may check.
    func permission(under policy: LoginPolicy, at clock: ClockReading) -> AttemptPermission {
        let slot: LoginSlot
        switch verifier {
        case .wiped: return .refused(.wiped(isFinished: true))
        case .wipePending: return .refused(.wiped(isFinished: false))
        // What the server said about offline logins outlives the credential.
        case .cleared, .clearPending: return .refused(policy.isOfflineAllowed ? .noCredential : .offlineNotAllowed)
        case .live(let live): slot = live
        }
        guard policy.isOfflineAllowed else { return .refused(.offlineNotAllowed) }
        // The policy was lowered below what has happened already, or the wipe was not written.
        if failed > policy.tolerated { return policy.onAttemptsExceeded == .wipe ? .wipeDue : .refused(.lockedOut) }
        // Crashes alone destroy nothing, but they earn no further check either.
        if charged > policy.tolerated { return .refused(.lockedOut) }
        if policy.clockRollback == .deny, time.isAhead(of: clock) { return .refused(.clockRolledBack) }
        let age = age(under: policy)
        if let expires = age.expires, age.isExpired(at: time.now(clock)) { return .refused(.expired(since: expires)) }
        let left = policy.delay(after: Int(charged)) - time.passed(since: lastAttempt, clock)
        return left > 0 ? .refused(.delayed(seconds: left)) : .open(slot)
    }
}
