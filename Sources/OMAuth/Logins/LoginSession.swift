// How long a login is good for: two deadlines on the boot clock, judged by whoever keeps the session.

public import OMStorage

/// The deadlines of one login. It keeps no secret and starts no timer: it is asked.
///
/// Time is the boot clock's, which counts suspended time and which nobody can set.
public struct LoginSession: Hashable, Sendable {
    /// Whether whoever keeps it may keep it across a restart of its own (`SessionActiveOnRestart`).
    public let survivesRestart: Bool
    /// Seconds; nil: none.
    private let idleTimeOut: Int64?
    private let sessionTimeOut: Int64?
    private let warningPercentage: Int64
    private let bootID: [UInt8]
    private let started: Int64
    private var lastUse: Int64
    private var hasEnded = false

    public enum Standing: Hashable, Sendable {
        /// Seconds that are left; nil where there is no such time-out. `isWarningDue`: so little of the idle time is left
        /// that somebody should be told.
        case valid(idleLeft: Int64?, sessionLeft: Int64?, isWarningDue: Bool)
        /// ``ClearingEvent/idleTimeOut``
        case idle
        /// ``ClearingEvent/sessionTimeOut``
        case ended
    }

    init(_ profile: Profile, at clock: ClockReading) {
        survivesRestart = profile.sessionActiveOnRestart
        (idleTimeOut, sessionTimeOut) = (profile.idleTimeOut, profile.sessionTimeOut)
        warningPercentage = Int64(profile.percentageToIdleTimeout)
        (bootID, started, lastUse) = (clock.bootID, clock.sinceBoot, clock.sinceBoot)
    }

    public func standing(at clock: ClockReading) -> Standing {
        let now = clock.sinceBoot
        // A boot that has no id is never the same one.
        if clock.bootID.allSatisfy({ $0 == 0 }) { return .ended }
        // Another boot's clock counts from elsewhere, and one that ran backwards is none: no session outlives either.
        guard !hasEnded, clock.bootID == bootID, now >= lastUse else { return .ended }
        let sessionLeft = sessionTimeOut.map { $0 - (now - started) }
        if let sessionLeft, sessionLeft <= 0 { return .ended }
        let idleLeft = idleTimeOut.map { $0 - (now - lastUse) }
        guard let idleLeft, let idleTimeOut else {
            return .valid(idleLeft: nil, sessionLeft: sessionLeft, isWarningDue: false)
        }
        if idleLeft <= 0 { return .idle }
        return .valid(
            idleLeft: idleLeft, sessionLeft: sessionLeft,
            isWarningDue: idleLeft * 100 <= idleTimeOut * warningPercentage)
    }

    /// Notes a use: the idle time begins anew, the session's does not. What is idle or has ended is not brought back.
    ///
    /// - Returns: How it stood before.
    @discardableResult
    public mutating func use(at clock: ClockReading) -> Standing {
        let standing = standing(at: clock)
        if case .valid = standing { lastUse = clock.sinceBoot }
        return standing
    }

    /// After a logout.
    public mutating func end() { hasEnded = true }
}
