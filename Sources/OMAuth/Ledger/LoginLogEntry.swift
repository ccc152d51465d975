// One entry of the log of logins: ids and numbers, never a name or anything of a password.
// Format: docs/login-format.md, "The log".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// Something that was decided about a login.
public enum LoginEvent: Hashable, Sendable {
    case grantedOffline
    /// `isCached`: and a credential for offline logins is stored.
    case grantedOnline(isCached: Bool)
    case wrongPassword(attemptsLeft: UInt32)
    /// A wrong password exceeded the limit; the credential is gone.
    case wiped
    /// A wrong password exceeded the limit; the credential is locked.
    case lockedOut
    /// The limit was lowered below what had failed already; the credential is gone.
    case wipedByPolicy
    /// Refused before anything was looked at.
    case refused(Refusal)
    case refusedOnline(Refusal)
    /// A password that the server refused was compared with the cached one.
    case compared(isCached: Bool)
    case enrolled(isReplaced: Bool)
    case removed
    /// The credential was taken away, because of this.
    case cleared(ClearingEvent)
    case policyTaken(epoch: Int64)
    /// The server offered a policy that is older than the one that is kept, or another one of the same epoch.
    case policyRefused(epoch: Int64)
    /// So many seconds behind the time that the login has seen.
    case clockBehind(seconds: UInt64)
    case loggedOut(isCleared: Bool)
    /// The server granted a login, and its policy did not come with it.
    case policyMissing(Refusal)

    /// Why somebody was refused; each has a number of its own in the log.
    public enum Refusal: UInt8, CaseIterable, Hashable, Sendable {
        case offlineNotAllowed = 1
        case noCredential, expired, wiped, lockedOut, delayed, clockRolledBack, quarantined, rolledBack, deviceKey
        case rejected, forbidden, blocked, untrusted, unreachable, failed
        case other
        /// The server was not asked: what the profile or the user says cannot be sent, or this machine failed.
        case notAsked
    }
}

/// An entry of the log of logins.
public struct LoginLogEntry: Hashable, Sendable {
    /// 1 for the first entry, and 1 more with each.
    public let sequence: UInt64
    /// Seconds since 1970, as judged by the login, or by the clock where there is no login.
    public let time: Int64
    /// The id of a login that is known here; nil where none is.
    public let login: [UInt8]?
    public let event: LoginEvent
    /// The MAC of the entry before: 32 bytes, zeros for the first.
    public let previous: [UInt8]
    /// 32 bytes.
    public let mac: [UInt8]

    /// sequence (8) ‖ time (8) ‖ login (16) ‖ kind (1) ‖ detail (8) ‖ previous (32) ‖ MAC (32)
    static let count = 41 + 2 * MAC.count
    private static let noLogin = [UInt8](repeating: 0, count: LoginID.count)

    init(
        after last: HighWaterMark, time: Int64, _ id: LoginID?, _ event: LoginEvent,
        _ key: borrowing Key<Authenticating>
    ) {
        (sequence, previous) = (last.generation + 1, last.digest)
        self.time = min(max(time, TimeMemory.range.lowerBound), TimeMemory.range.upperBound)
        (login, self.event) = (id?.bytes, event)
        mac = MAC.tag(
            of: Self.body(sequence, self.time, login, event, previous), using: key, context: Context(.loginLogMAC))
    }

    /// - Throws: `Malformed` for bytes that are no entry, or were not written under `key`.
    init(_ bytes: [UInt8], _ key: borrowing Key<Authenticating>) throws(Malformed) {
        guard bytes.count == Self.count else { throw Malformed() }
        var reader = ByteReader(bytes)
        sequence = try reader.number64(1...UInt64(Int64.max) - 1)
        time = try reader.time()
        let login = try reader.bytes(LoginID.count)
        self.login = login == Self.noLogin ? nil : login
        let kind = try reader.byte()
        event = try LoginEvent(kind, try reader.number64(0...UInt64.max))
        previous = try reader.bytes(MAC.count)
        mac = try reader.bytes(MAC.count)
        do throws(SecretsError) {
            try MAC.check(
                mac, of: Array(bytes.dropLast(MAC.count)), using: key, context: Context(.loginLogMAC))
        } catch { throw Malformed() }
    }

    /// The entry as a place in the log's history.
    var mark: HighWaterMark { HighWaterMark(generation: sequence, digest: mac) }

    /// Whether the entry stands right behind `last`.
    func follows(_ last: HighWaterMark) -> Bool {
        sequence == last.generation + 1 && previous == last.digest
    }

    /// The bytes of its row, from which its MAC can be computed again.
    public var encoded: [UInt8] { Self.body(sequence, time, login, event, previous) + mac }

    private static func body(
        _ sequence: UInt64, _ time: Int64, _ login: [UInt8]?, _ event: LoginEvent, _ previous: [UInt8]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(sequence)
        bytes.append(UInt64(time))
        bytes += login ?? noLogin
        let (kind, detail) = event.code
        bytes.append(kind)
        bytes.append(detail)
        return bytes + previous
    }
}

// MARK: - Bytes

extension LoginEvent {
    fileprivate var code: (kind: UInt8, detail: UInt64) {
        switch self {
        case .grantedOffline: (1, 0)
        case .grantedOnline(let isCached): (2, isCached ? 1 : 0)
        case .wrongPassword(let left): (3, UInt64(left))
        case .wiped: (4, 0)
        case .lockedOut: (5, 0)
        case .wipedByPolicy: (6, 0)
        case .refused(let refusal): (7, UInt64(refusal.rawValue))
        case .refusedOnline(let refusal): (8, UInt64(refusal.rawValue))
        case .compared(let isCached): (9, isCached ? 1 : 0)
        case .enrolled(let isReplaced): (10, isReplaced ? 1 : 0)
        case .removed: (11, 0)
        case .cleared(let event): (12, UInt64(event.code))
        case .policyTaken(let epoch): (13, UInt64(clamping: epoch))
        case .policyRefused(let epoch): (14, UInt64(clamping: epoch))
        case .clockBehind(let seconds): (15, seconds)
        case .loggedOut(let isCleared): (16, isCleared ? 1 : 0)
        case .policyMissing(let refusal): (17, UInt64(refusal.rawValue))
        }
    }

    fileprivate init(_ kind: UInt8, _ detail: UInt64) throws(Malformed) {
        switch kind {
        case 1: self = .grantedOffline
        case 2: self = .grantedOnline(isCached: detail == 1)
        case 3: self = .wrongPassword(attemptsLeft: UInt32(clamping: detail))
        case 4: self = .wiped
        case 5: self = .lockedOut
        case 6: self = .wipedByPolicy
        case 7: self = .refused(try Self.refusal(detail))
        case 8: self = .refusedOnline(try Self.refusal(detail))
        case 9: self = .compared(isCached: detail == 1)
        case 10: self = .enrolled(isReplaced: detail == 1)
        case 11: self = .removed
        case 12:
            guard let event = ClearingEvent(code: detail) else { throw Malformed() }
            self = .cleared(event)
        case 13: self = .policyTaken(epoch: Int64(clamping: detail))
        case 14: self = .policyRefused(epoch: Int64(clamping: detail))
        case 15: self = .clockBehind(seconds: detail)
        case 16: self = .loggedOut(isCleared: detail == 1)
        case 17: self = .policyMissing(try Self.refusal(detail))
        default: throw Malformed()
        }
        // One meaning, one encoding.
        guard code.detail == detail else { throw Malformed() }
    }

    private static func refusal(_ detail: UInt64) throws(Malformed) -> Refusal {
        guard let refusal = UInt8(exactly: detail).flatMap(Refusal.init(rawValue:)) else { throw Malformed() }
        return refusal
    }
}

extension LoginEvent.Refusal {
    init(_ error: AuthError) {
        switch error {
        case .offlineNotAllowed: self = .offlineNotAllowed
        case .noCredential: self = .noCredential
        case .expired: self = .expired
        case .wiped, .attemptsExceeded: self = .wiped
        case .lockedOut: self = .lockedOut
        case .delayed: self = .delayed
        case .clockRolledBack: self = .clockRolledBack
        case .quarantined: self = .quarantined
        case .rolledBack: self = .rolledBack
        case .deviceKeyMissing, .deviceKeyDamaged, .otherDeviceKey: self = .deviceKey
        case .online(let refusal), .neither(let refusal, _): self.init(refusal)
        default: self = .other
        }
    }

    init(_ refusal: OnlineRefusal) {
        switch refusal {
        case .rejected: self = .rejected
        case .forbidden: self = .forbidden
        case .blocked: self = .blocked
        case .untrusted: self = .untrusted
        case .unreachable: self = .unreachable
        case .failed(let failure, _, _): self = failure.isOurs ? .notAsked : .failed
        }
    }

    init(_ gap: PolicyGap) {
        switch gap {
        case .notFetched(let refusal): self.init(refusal)
        case .notUnderstood: self = .failed
        case .older: self = .rolledBack
        case .notAsked: self = .notAsked
        }
    }
}
