// One login as it is stored: its counters, what it remembers of time, and its slot. docs/login-format.md, "A row".

internal import OMStorage

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
    var credential: Credential
    let enrolledAt: Int64
    /// 0: never.
    let lastOnline: Int64
    var time: TimeMemory
    var policy: PolicyNote

    /// A wiped row has no slot: there is nowhere for one to be.
    enum Credential: Hashable, Sendable {
        case live(LoginSlot)
        /// The slot is out of the row; its bytes may still be in the ledger's log.
        case wipePending
        case wiped
    }

    /// The policy at the last write, for those who look at the row later. It decides nothing.
    struct PolicyNote: Hashable, Sendable {
        let limit: UInt32
        let consequence: OnAttemptsExceeded

        init(_ profile: Profile) { self.init(UInt32(profile.maxLoginAttempts), profile.onAttemptsExceeded) }

        init(_ limit: UInt32, _ consequence: OnAttemptsExceeded) {
            (self.limit, self.consequence) = (limit, consequence)
        }
    }

    /// The row of a new credential; its generation is given when it is put in.
    init(
        _ id: LoginID, _ key: LoginKey, _ slot: LoginSlot, _ device: borrowing DeviceKey, _ profile: Profile,
        _ clock: ClockReading
    ) {
        (self.id, self.key, deviceID) = (id, key, device.fingerprint())
        (generation, charged, failed, lastOnline) = (0, 0, 0, 0)
        credential = .live(slot)
        time = TimeMemory(starting: clock)
        enrolledAt = time.floor
        policy = PolicyNote(profile)
    }

    func age(under profile: Profile) -> CredentialAge {
        CredentialAge(since: max(enrolledAt, lastOnline), maximum: profile.offlineCredentialMaxAge)
    }

    /// How many more wrong passwords are tolerated.
    func attemptsLeft(under profile: Profile) -> Int {
        max(0, profile.maxLoginAttempts - Int(charged))
    }
}

/// What a row allows under a policy at a time.
enum Standing: Hashable, Sendable {
    /// A check, after a charge.
    case open(LoginSlot)
    /// Nothing but a wipe: wrong passwords have exceeded the limit.
    case wipeDue
    case refused(AuthError)
}

extension LoginRow {
    /// The one place that decides who may check.
    func standing(under profile: Profile, at now: Int64) -> Standing {
        let slot: LoginSlot
        switch credential {
        case .wiped: return .refused(.wiped(isFinished: true))
        case .wipePending: return .refused(.wiped(isFinished: false))
        case .live(let live): slot = live
        }
        let limit = profile.maxLoginAttempts
        // The policy was lowered below what has happened already, or the wipe was not written.
        if failed > limit { return profile.onAttemptsExceeded == .wipe ? .wipeDue : .refused(.lockedOut) }
        // Crashes alone destroy nothing, but they earn no further check either.
        if charged > limit { return .refused(.lockedOut) }
        let age = age(under: profile)
        if let expires = age.expires, age.isExpired(at: now) { return .refused(.expired(since: expires)) }
        return .open(slot)
    }
}
