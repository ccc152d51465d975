import OMSystem

@testable import OMAuth

/// The agent's handling of the session of one login.
struct SessionKeeper {
    enum Standing { case none, valid, idle }

    private var session: SessionDeadlines?
    private var wasIdle = false

    mutating func keep(_ limits: SessionLimits, at clock: ClockReading) {
        (session, wasIdle) = (SessionDeadlines(limits, at: clock), false)
    }

    func state(at clock: ClockReading) -> Standing {
        switch session?.state(at: clock) {
        case nil, .ended?: .none
        case .idle?: .idle
        case .valid?: .valid
        }
    }

    /// Whether the session answers a login. An answer counts as a use.
    mutating func answers(at clock: ClockReading) -> Bool {
        if case .valid? = session?.use(at: clock) { true } else { false }
    }

    mutating func follow(_ event: ClearingEvent) {
        switch Clearing(after: event).session {
        case .kept, .invalid: break
        case .deleted, .deletedWithRegistration: session = nil
        }
    }

    /// The events since the last look.
    mutating func expire(at clock: ClockReading) -> ClearingEvent? {
        switch session?.state(at: clock) {
        case nil, .valid?: return nil
        case .idle?:
            defer { wasIdle = true }
            return wasIdle ? nil : .idleTimeOut
        case .ended?:
            follow(.sessionTimeOut)
            return .sessionTimeOut
        }
    }

    /// Another agent takes over the sessions that may survive.
    mutating func restart(at clock: ClockReading) {
        guard let kept = session, !kept.survivesRestart || kept.state(at: clock) == .ended else { return }
        session = nil
    }
}
