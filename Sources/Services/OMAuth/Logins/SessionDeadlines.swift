// The two deadlines of a session, on the boot clock. The caller that keeps the session checks them.

public import OMSystem

extension Profile {
    public var sessionLimits: SessionLimits {
        SessionLimits(
            survivesRestart: sessionActiveOnRestart, idle: idleTimeOut, session: sessionTimeOut,
            warningPercentage: UInt8(clamping: percentageToIdleTimeout))
    }
}

/// The deadlines of one login. It keeps no secret and starts no timer: the caller asks for its state.
///
/// Time is measured by the boot clock, which counts suspended time and which no user can set.
public struct SessionDeadlines: Hashable, Sendable {
    public let limits: SessionLimits
    /// The boot that the session belongs to. The times below are in seconds since that boot.
    public let bootID: [UInt8]
    public let started: Int64
    public private(set) var lastUse: Int64
    private var hasEnded = false

    public var survivesRestart: Bool { limits.survivesRestart }

    public enum State: Hashable, Sendable {
        /// The seconds that are left. Nil if there is no such time-out. If `isWarningDue`, so little idle time is left
        /// that the user should be warned.
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

    /// A session that was kept.
    public init(_ limits: SessionLimits, bootID: [UInt8], started: Int64, lastUse: Int64) {
        (self.limits, self.bootID, self.started, self.lastUse) = (limits, bootID, started, lastUse)
    }

    public func state(at clock: ClockReading) -> State {
        let now = clock.sinceBoot
        // A boot without an id never counts as the same boot.
        if clock.bootID.allSatisfy({ $0 == 0 }) { return .ended }
        // The clock of another boot starts from another moment, and a clock that ran backwards is not valid. No session
        // survives either.
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

    /// Notes a use. The idle time starts again, the session's time does not. A session that is idle or has ended stays so.
    ///
    /// - Returns: The state before.
    @discardableResult
    public mutating func use(at clock: ClockReading) -> State {
        let state = state(at: clock)
        if case .valid = state { lastUse = clock.sinceBoot }
        return state
    }

    /// When the state changes next, in seconds since boot. Nil if it does not change by itself.
    package func nextChange(after clock: ClockReading) -> Int64? {
        switch state(at: clock) {
        case .valid(let idleLeft, let sessionLeft, _):
            [idleLeft, sessionLeft].compactMap(\.self).min().map { clock.sinceBoot + $0 }
        case .idle: limits.session.map { started + $0 }
        case .ended: nil
        }
    }

    /// Ends the session, after a logout.
    public mutating func end() { hasEnded = true }
}
