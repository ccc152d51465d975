import OMOnlineModel
import OMSecrets
import Testing

@testable import OMAuth

@Suite struct ClearingTests {
    @Test("R55 each event deletes exactly what the page says")
    func matrix() throws {
        let rows = try LoginPage.rows("clearing").dropFirst()
        #expect(rows.map { $0[0] } == ClearingEvent.allCases.map(\.rawValue))
        for (event, row) in zip(ClearingEvent.allCases, rows) {
            let clearing = Clearing(after: event)
            func word(_ isKept: Bool) -> String { isKept ? "kept" : "deleted" }
            let said = [
                word(clearing.keepsVerifier), word(clearing.keepsPassword), word(clearing.keepsUserName),
                clearing.preferences.rawValue, clearing.session.rawValue,
            ]
            #expect(said == Array(row.dropFirst()), "\(event)")
            #expect(try done(event) == Array(said.prefix(4)), "\(event)")
        }
    }

    /// Makes the event happen, and returns the remaining data.
    private func done(_ event: ClearingEvent) throws -> [String] {
        let place = MemoryLoginBackend(), authenticator = place.authenticator()
        let profile = try serverProfile(1) { $0.remember.autoLogin = RememberOption(isAllowed: true) }
        let receipt = try authenticator.login(
            LoginRequest(ada, profile), password: Password("right"), asking: TestProvider(knowing: "right"))
        let key = try #require(try authenticator.deviceRememberingKey())
        let wanted = RememberPreferences(autoLogin: true)
        try authenticator.remember(receipt, profile, password: Password("right"), wanted, key: key)
        #expect(try authenticator.remembered(profile)?.isArmed == true)
        func online(_ password: String, _ refusal: OnlineRefusal) {
            #expect(authenticator.end(password, profile, asking: TestProvider(refusal)) == .refused(.online(refusal)))
        }
        switch event {
        case .limitExceeded: for _ in 0..<2 { _ = authenticator.end("wrong", profile, .offline, asking: nil) }
        case .wrongOffline: _ = authenticator.end("wrong", profile, .offline, asking: nil)
        case .rejectedCached: online("right", .rejected)
        case .rejectedOther: online("other", .rejected)
        case .forbidden: online("right", .forbidden(.status))
        case .blocked: online("other", .blocked)
        case .otherFailure: online("right", .failed(.serverError, status: 500))
        case .idleTimeOut, .sessionTimeOut, .logout, .logoutClear: try authenticator.end(ada, profile, after: event)
        }
        let left = try authenticator.remembered(profile)
        #expect(left?.isArmed ?? false == left?.hasPassword ?? false, "an auto login needs a remembered password")
        let isLive = try place.row(profile)?.isLive ?? false
        let preferences = left?.preferences ?? RememberPreferences()
        return [
            isLive ? "kept" : "deleted", left?.hasPassword ?? false ? "kept" : "deleted",
            left?.user == ada ? "kept" : "deleted",
            preferences == wanted ? "kept" : preferences.autoLogin == false ? "autoLoginOff" : "deleted",
        ]
    }

    @Test("a session ends on the boot clock, an idle session does not return, and another boot ends a session")
    func session() throws {
        let clock = TestClock()
        let profile = try serverProfile(1) {
            ($0.idleTimeOut, $0.sessionTimeOut, $0.percentageToIdleTimeout) = (100, 1_000, 10)
            $0.sessionActiveOnRestart = true
        }
        var session = SessionDeadlines(profile, at: clock.read())
        #expect(session.survivesRestart)
        #expect(session.state(at: clock.read()) == .valid(idleLeft: 100, sessionLeft: 1_000, isWarningDue: false))
        // Attack: set the wall clock back.
        clock.advance(wall: -1_000_000, boot: 89)
        #expect(session.state(at: clock.read()) == .valid(idleLeft: 11, sessionLeft: 911, isWarningDue: false))
        clock.advance(boot: 1)
        #expect(session.use(at: clock.read()) == .valid(idleLeft: 10, sessionLeft: 910, isWarningDue: true))
        clock.advance(boot: 99)
        #expect(session.state(at: clock.read()) == .valid(idleLeft: 1, sessionLeft: 811, isWarningDue: true))
        var idle = session
        clock.advance(boot: 1)
        #expect(idle.use(at: clock.read()) == .idle)
        #expect(idle.state(at: clock.read()) == .idle)
        clock.advance(boot: -50)
        for _ in 0..<18 {
            session.use(at: clock.read())
            clock.advance(boot: 50)
        }
        #expect(session.state(at: clock.read()) == .ended, "use does not make a session longer")
        var other = SessionDeadlines(profile, at: clock.read())
        clock.reboot()
        clock.advance(boot: 100_000)
        #expect(other.state(at: clock.read()) == .ended)
        other = SessionDeadlines(profile, at: clock.read())
        other.end()
        #expect(other.use(at: clock.read()) == .ended)
        let unlimited = SessionDeadlines(try serverProfile(1), at: clock.read())
        clock.advance(boot: 1 << 40)
        #expect(
            unlimited.state(at: clock.read()) == .valid(idleLeft: nil, sessionLeft: nil, isWarningDue: false))
    }
}
