// How long a login is good for: two deadlines on the boot clock, judged by whoever keeps the session.

public import OMSystem

extension Profile {
    public var sessionLimits: SessionLimits {
        SessionLimits(
            survivesRestart: sessionActiveOnRestart, idle: idleTimeOut, session: sessionTimeOut,
            warningPercentage: UInt8(clamping: percentageToIdleTimeout))
    }
}

/// The deadlines of one login. It keeps no secret and starts no timer: it is asked.
///
/// Time is the boot clock's, which counts suspended time and which nobody can set.
public struct SessionDeadlines: Hashable, Sendable {
    public let limits: SessionLimits
    /// The boot that it belongs to, and seconds since then.
    public let bootID: [UInt8]
    public let started: Int64
    public private(set) var lastUse: Int64
    private var hasEnded = false

    public var survivesRestart: Bool { limits.survivesRestart }

    public enum State: Hashable, Sendable {
        /// Seconds that are left; nil where there is no such time-out. `isWarningDue`: so little of the idle time is left
        /// that somebody should be told.
        case valid(idleLeft: Int64?, sessionLeft: Int64?, isWarningDue: Bool)
        /// ``ClearingEvent/idleTimeOut``
        case idle
        /// ``ClearingEvent/sessionTimeOut``
        case ended
    }

    init(_ profile: Profile, at clock: ClockReading) { self.init(profile.sessionLimits, at: clock) }

    /// A session that begins now.
    public init(_ limits: SessionLimits, at clock: ClockReading) {
        self.init(limits, bootID: clock.bootID, started: clock.sinceBoot, lastUse: clock.sinceBoot)
    }

    /// One that was kept.
    public init(_ limits: SessionLimits, bootID: [UInt8], started: Int64, lastUse: Int64) {
        (self.limits, self.bootID, self.started, self.lastUse) = (limits, bootID, started, lastUse)
    }

    public func state(at clock: ClockReading) -> State {
        let now = clock.sinceBoot
        // A boot that has no id is never the same one.
        if clock.bootID.allSatisfy({ $0 == 0 }) { return .ended }
        // Another boot's clock counts from elsewhere, and one that ran backwards is none: no session outlives either.
        guard !hasEnded, clock.bootID == bootID, now >= lastUse, lastUse >= started else { return .ended }
        let sessionLeft = limits.session.map { $0 - (now - started) }
        if let sessionLeft, sessionLeft <= 0 { return .ended }
        let idleLeft = limits.idle.map { $0 - (now - lastUse) }
        guard let idleLeft, let idle = limits.idle else {
            return .valid(idleLeft: nil, sessionLeft: sessionLeft, isWarningDue: false)
        }
        if idleLeft <= 0 { return .idle }
        return .valid(
            idleLeft: idleLeft, sessionLeft: sessionLeft,
            isWarningDue: idleLeft * 100 <= idle * Int64(limits.warningPercentage))
    }

    /// Notes a use: the idle time begins anew, the session's does not. What is idle or has ended is not brought back.
    ///
    /// - Returns: How it stood before.
    @discardableResult
    public mutating func use(at clock: ClockReading) -> State {
        let state = state(at: clock)
        if case .valid = state { lastUse = clock.sinceBoot }
        return state
    }

    /// When its state changes next, in seconds since boot; nil: not by itself.
    public func nextChange(after clock: ClockReading) -> Int64? {
        switch state(at: clock) {
        case .valid(let idleLeft, let sessionLeft, _):
            [idleLeft, sessionLeft].compactMap(\.self).min().map { clock.sinceBoot + $0 }
        case .idle: limits.session.map { started + $0 }
        case .ended: nil
        }
    }

    /// After a logout.
    public mutating func end() { hasEnded = true }
}
