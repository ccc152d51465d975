// Would an offline login work now, and if not, why. Nothing is charged to find out.

internal import OMStorage
internal import OMSystem

/// One login of the ledger.
public struct LoginStatus: Hashable, Sendable {
    /// nil when the row is too damaged to name anybody. While ``details`` is nil the names are only what the row says.
    public let user: UserName?
    public let profile: ProfileName?
    public let domain: IdentityDomain
    /// What a check would be refused with now; nil: it would be let through to its password.
    public let refusal: AuthError?
    /// What an authentic row says.
    public let details: Details?

    public struct Details: Hashable, Sendable {
        /// Attempts let through to a check since the last success, and how many of them were wrong passwords. More
        /// charged than failed: the rest were cut short by a crash, or run now.
        public let charged: Int
        public let failed: Int
        /// How many more wrong passwords are tolerated.
        public let attemptsLeft: Int
        /// nil after a wipe.
        public let scheme: CryptoScheme?
        /// Seconds since 1970.
        public let enrolledAt: Int64
        /// Seconds since 1970; nil: never.
        public let lastOnline: Int64?
        /// The last second (since 1970) in which the credential is good; nil: it does not expire.
        public let expires: Int64?
        /// The wall clock lies more than two minutes behind what this login has seen before.
        public let clockIsBehind: Bool
        /// What it is judged by.
        public let policy: LoginPolicy
        /// The epoch of the server's policy that is in force; nil: none is.
        public let serverEpoch: Int64?
    }
}

extension Authenticator {
    /// Every login of the ledger, by profile and user. Like every operation it first finishes wipes that were held up.
    ///
    /// - Parameter profiles: The policies to judge by; a login of any other profile is refused as
    ///   ``AuthError/unknownProfile(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func status(_ profiles: [Profile]) throws(AuthError) -> [LoginStatus] {
        let device = try backend.loadDevice()
        let ledger = try backend.openLedger()
        guard let ledger else { return [] }
        guard let device else {
            let rows = try ledger.rows()
            return Self.sorted(rows.map { LoginStatus(unusable: $0.bytes, .deviceKeyMissing) })
        }
        let store = try LoginStore(ledger, device, of: self)
        try store.finishPendingWipes()
        var found: [LoginStatus] = []
        for row in try store.rows() { found.append(status(ofRow: row.id, row.bytes, profiles, in: store)) }
        return Self.sorted(found)
    }

    /// The login of one user, also when its row is gone and only its mark tells of it.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func status(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none
    ) throws(AuthError) -> LoginStatus {
        let key = LoginKey(user, profile, domain)
        do throws(AuthError) {
            let store = try open(key)
            try store.finishPendingWipes()
            return status(try store.find(key), profile)
        } catch {
            switch error {
            case .busy, .storage: throw error
            default: return LoginStatus(user: user, profile: profile.name, domain: key.domain, refusal: error, details: nil)
            }
        }
    }

    private func status(
        ofRow id: [UInt8], _ bytes: [UInt8], _ profiles: [Profile], in store: borrowing LoginStore
    ) -> LoginStatus {
        guard id.count == LoginID.count else { return LoginStatus(unusable: bytes, .quarantined) }
        do throws(AuthError) {
            guard let row = try store.load(LoginID(id)) else { throw .noCredential }
            guard let profile = profiles.first(where: { $0.name == row.key.profile }) else {
                throw .unknownProfile(row.key.profile)
            }
            return status(row, profile)
        } catch {
            let claimed = LoginRow(unauthenticated: bytes)
            let isOfOtherKey = claimed.map { $0.deviceID != store.device.fingerprint() } ?? false
            return LoginStatus(unusable: bytes, error == .quarantined && isOfOtherKey ? .otherDeviceKey : error)
        }
    }

    private func status(_ row: LoginRow, _ profile: Profile) -> LoginStatus {
        let clock = clock(), policy = LoginPolicy(profile, row.server)
        var refusal: AuthError? =
            switch row.permission(under: policy, at: clock) {
            case .open: nil
            case .refused(let error): error
            // The next attempt will find the limit lowered below what has happened, and wipe.
            case .wipeDue: .wiped(isFinished: false)
            }
        // The profile names another server by now: a login there is another one.
        if row.key.server != profile.serverIdentity { refusal = .noCredential }
        return LoginStatus(
            user: row.key.user, profile: row.key.profile, domain: row.key.domain, refusal: refusal,
            details: LoginStatus.Details(row, policy, clock))
    }

    private static func sorted(_ found: [LoginStatus]) -> [LoginStatus] {
        found.sorted { one, other in
            let names = (one.profile?.text ?? "", other.profile?.text ?? "")
            if names.0 != names.1 { return names.0 < names.1 }
            return (one.user?.utf8 ?? []).lexicographicallyPrecedes(other.user?.utf8 ?? [])
        }
    }
}

extension LoginStatus {
    /// A row that is refused before it is believed.
    fileprivate init(unusable bytes: [UInt8], _ refusal: AuthError) {
        let claimed = LoginRow(unauthenticated: bytes)?.key
        self.init(
            user: claimed?.user, profile: claimed?.profile, domain: claimed?.domain ?? .none, refusal: refusal,
            details: nil)
    }
}

extension LoginStatus.Details {
    fileprivate init(_ row: LoginRow, _ policy: LoginPolicy, _ clock: ClockReading) {
        (charged, failed) = (Int(row.charged), Int(row.failed))
        attemptsLeft = row.attemptsLeft(under: policy)
        self.policy = policy
        if case .live(let slot) = row.verifier { scheme = slot.derivation.scheme } else { scheme = nil }
        enrolledAt = row.enrolledAt
        lastOnline = row.lastOnline == 0 ? nil : row.lastOnline
        expires = row.age(under: policy).expires
        clockIsBehind = row.time.isAhead(of: clock)
        serverEpoch = row.server?.epoch
    }
}
