// Whether an offline login would work now, and if not, why. Finding out charges nothing.

internal import OMStorage
internal import OMSystem

/// One login of the ledger.
public struct LoginStatus: Hashable, Sendable {
    /// Nil if the row is too damaged to name a user. While ``details`` is nil, the names are unauthenticated.
    public let user: UserName?
    public let profile: ProfileName?
    public let domain: IdentityDomain
    /// The refusal that a check would get now. Nil if the password would be checked.
    public let refusal: AuthError?
    /// The content of an authentic row.
    public let details: Details?

    public struct Details: Hashable, Sendable {
        /// Attempts that were charged since the last success, and how many of them had wrong passwords. If more are
        /// charged than failed, a crash ended the others or they are running now.
        public let charged: Int
        public let failed: Int
        /// How many more wrong passwords are tolerated.
        public let attemptsLeft: Int
        /// Nil after a wipe.
        public let scheme: CryptoScheme?
        /// Seconds since 1970.
        public let enrolledAt: Int64
        /// Seconds since 1970. Nil means never.
        public let lastOnline: Int64?
        /// The last second (since 1970) in which the credential is valid. Nil if it does not expire.
        public let expires: Int64?
        /// Whether the wall clock is more than two minutes behind the time that this login has seen.
        public let clockIsBehind: Bool
        /// The policy that counts for this login.
        public let policy: LoginPolicy
        /// The epoch of the server's policy in force. Nil if there is none.
        public let serverEpoch: Int64?
    }
}

extension Authenticator {
    /// Every login of the ledger, by profile and user. Like every operation, it first finishes pending wipes.
    ///
    /// - Parameter profiles: The profiles of the logins. A login of any other profile is refused as
    ///   ``AuthError/unknownProfile(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func status(_ profiles: [Profile]) throws(AuthError) -> [LoginStatus] {
        try status(profiles, finishingWipes: true)
    }

    /// The same, without finishing a wipe: nothing is changed.
    package func inspect(_ profiles: [Profile]) throws(AuthError) -> [LoginStatus] {
        try status(profiles, finishingWipes: false)
    }

    private func status(_ profiles: [Profile], finishingWipes: Bool) throws(AuthError) -> [LoginStatus] {
        guard let ledger = try backend.openLedger() else { return [] }
        guard let device = try backend.loadDevice() else {
            let rows = try ledger.rows()
            // A login may have made both since. The key is made before its row.
            if !rows.isEmpty, try backend.loadDevice() != nil { return try status(profiles, finishingWipes: finishingWipes) }
            return Self.sorted(rows.map { LoginStatus(unusable: $0.bytes, .deviceKeyMissing) })
        }
        let store = try LoginStore(ledger, device, of: self)
        if finishingWipes { try store.finishPendingWipes() }
        var found: [LoginStatus] = []
        for row in try store.rows() { found.append(status(ofRow: row.id, row.bytes, profiles, in: store)) }
        return Self.sorted(found)
    }

    /// The login of one user. It is also found if its row is gone and only its mark is left.
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
            // The next attempt will find the limit exceeded, and wipe.
            case .wipeDue: .wiped(isFinished: false)
            }
        // The profile now names another server, so this is another login.
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
    /// The status of a row that is refused and not trusted.
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
