// The events in the log of logins. They hold ids and numbers, never a part of a password.
// Only handouts of tokens have names.
// Format: docs/formats/login-format.md, "The log".

internal import OMOnlineModel
internal import OMRecords

/// A decision about a login.
package enum LoginEvent: Hashable, Sendable {
    case grantedOffline
    /// If `isCached`, a credential for offline logins was stored.
    case grantedOnline(isCached: Bool)
    case wrongPassword(attemptsLeft: UInt32)
    /// A wrong password exceeded the limit. The credential was deleted.
    case wiped
    /// A wrong password exceeded the limit. The credential is locked.
    case lockedOut
    /// The limit was lowered below the number of wrong passwords so far. The credential was deleted.
    case wipedByPolicy
    /// Refused before the password was checked.
    case refused(Refusal)
    case refusedOnline(Refusal)
    /// A password that the server refused was compared with the cached one.
    case compared(isCached: Bool)
    case enrolled(isReplaced: Bool)
    case removed
    /// This event deleted the credential.
    case cleared(ClearingEvent)
    case policyTaken(epoch: Int64)
    /// The server offered a policy that is older than the stored one, or differs from it within the same epoch.
    case policyRefused(epoch: Int64)
    /// The wall clock was this many seconds behind the time that the login has seen.
    case clockBehind(seconds: UInt64)
    case loggedOut(isCleared: Bool)
    /// The server granted a login, but its policy is missing.
    case policyMissing(Refusal)
    /// The ledger could not be read and was set aside. This is the first entry of a new ledger.
    case ledgerReplaced
    /// After the log's end, from this sequence on, there were rows that this device had not written. They were deleted.
    case strayRows(first: UInt64)
    /// The log was broken at this sequence, and a user began a new chain with this entry.
    case chainBegun(brokenAt: UInt64)
    /// Root reset the credential's counters. This many attempts were counted.
    case unlocked(attempts: UInt32)
    /// The agent gave the access token of the login's session to a program.
    case tokenGiven(TokenHandout)

    /// Why a login was refused. Each reason has its own number in the log.
    package enum Refusal: UInt8, CaseIterable, Hashable, Sendable {
        case offlineNotAllowed = 1
        case noCredential, expired, wiped, lockedOut, delayed, clockRolledBack, quarantined, rolledBack, deviceKey
        case rejected, forbidden, blocked, untrusted, unreachable, failed
        case other
        /// The server was not asked: the profile or the user gave something that cannot be sent, or this machine failed.
        case notAsked
    }

    /// Whether equal events of this kind count as one entry. A caller can cause these events at will: they cost no
    /// attempt, and nothing else is written with them.
    var isCounted: Bool {
        switch self {
        case .refused, .refusedOnline, .cleared, .loggedOut, .tokenGiven: true
        default: false
        }
    }

    /// Whether the login is named without a row. The agent has a session of it then, so a caller cannot make up its name.
    var isOfSession: Bool {
        if case .tokenGiven = self { true } else { false }
    }

    /// Whether an event of a counted kind counts in an entry with this one.
    func counts(_ next: LoginEvent) -> Bool {
        switch (self, next) {
        case (.tokenGiven(let own), .tokenGiven(let other)): own.isLike(other)
        default: isCounted && self == next
        }
    }
}

// MARK: - Bytes

extension LoginEvent {
    /// The kind whose entries have texts: ``tokenGiven(_:)``.
    static let tokenKind: UInt8 = 22

    var code: (kind: UInt8, detail: UInt64) {
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
        case .ledgerReplaced: (18, 0)
        case .strayRows(let first): (19, first)
        case .chainBegun(let sequence): (20, sequence)
        case .unlocked(let attempts): (21, UInt64(attempts))
        case .tokenGiven(let handout): (Self.tokenKind, handout.detail)
        }
    }

    init(_ kind: UInt8, _ detail: UInt64) throws(MalformedBytes) {
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
            guard let event = ClearingEvent(code: detail) else { throw MalformedBytes() }
            self = .cleared(event)
        case 13: self = .policyTaken(epoch: Int64(clamping: detail))
        case 14: self = .policyRefused(epoch: Int64(clamping: detail))
        case 15: self = .clockBehind(seconds: detail)
        case 16: self = .loggedOut(isCleared: detail == 1)
        case 17: self = .policyMissing(try Self.refusal(detail))
        case 18: self = .ledgerReplaced
        case 19: self = .strayRows(first: detail)
        case 20: self = .chainBegun(brokenAt: detail)
        case 21: self = .unlocked(attempts: UInt32(clamping: detail))
        default: throw MalformedBytes()
        }
        // Each meaning has one encoding.
        guard code.detail == detail else { throw MalformedBytes() }
    }

    private static func refusal(_ detail: UInt64) throws(MalformedBytes) -> Refusal {
        guard let refusal = UInt8(exactly: detail).flatMap(Refusal.init(rawValue:)) else { throw MalformedBytes() }
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

    init(_ problem: PolicyProblem) {
        switch problem {
        case .notFetched(let refusal): self.init(refusal)
        case .notUnderstood, .otherApplication: self = .failed
        case .older: self = .rolledBack
        case .notAsked: self = .notAsked
        }
    }
}
