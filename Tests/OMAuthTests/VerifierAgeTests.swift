import OMSecrets
import OMSystem
import Testing

@testable import OMAuth

@Suite struct VerifierAgeTests {
    private static let start: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400

    private func reading(_ wall: Int64, boot: Int64 = 1_000, id: UInt8 = 1) -> ClockReading {
        ClockReading(wall: wall, sinceBoot: boot, bootID: [UInt8](repeating: id, count: 16))
    }

    private var memory: LastSeenTime { LastSeenTime(starting: reading(Self.start)) }

    @Test("the time is the latest of the wall clock, the floor and the boot clock's count")
    func now() {
        #expect(memory.now(reading(Self.start + 50, boot: 1_010)) == Self.start + 50)
        #expect(memory.now(reading(Self.start - 50, boot: 1_000)) == Self.start)
        #expect(memory.now(reading(Self.start - 50, boot: 1_700)) == Self.start + 700)
        // After another boot, its clock says nothing about the time before it.
        #expect(memory.now(reading(Self.start - 50, boot: 1_700, id: 2)) == Self.start)
        #expect(memory.now(reading(0, boot: 5, id: 2)) == Self.start)
        // A boot without an id never equals another boot. A boot clock that ran backwards counts nothing.
        #expect(LastSeenTime(starting: reading(Self.start, id: 0)).now(reading(0, boot: 9_000, id: 0)) == Self.start)
        #expect(memory.now(reading(0, boot: 10)) == Self.start)
    }

    @Test("a clock at its extremes gives a result and does not trap", arguments: [Int64.min, -1, 0, Int64.max])
    func extremes(_ value: Int64) {
        var memory = memory
        for _ in 0..<3 { memory.update(reading(value, boot: value, id: 3)) }
        #expect(LastSeenTime.range.contains(memory.earliest))
        #expect(LastSeenTime.range.contains(memory.now(reading(value, boot: value, id: 3))))
    }

    @Test("a clock more than two minutes behind the floor is reported, and the floor is used")
    func behind() {
        #expect(!memory.isAhead(of: reading(Self.start - 120)))
        #expect(memory.isAhead(of: reading(Self.start - 121)))
        #expect(memory.now(reading(Self.start - 121)) == Self.start)
    }

    @Test("setting the clock back at every write hides no second that the boot clock has counted")
    func setBack() {
        var memory = memory
        for step in 1...10 { memory.update(reading(Self.start, boot: 1_000 + Int64(step) * 100)) }
        #expect(memory.earliest == Self.start + 1_000)
        #expect(memory.now(reading(0, boot: 2_000, id: 9)) == Self.start + 1_000)
    }

    @Test("one boot in 2038 moves the floor by that boot and a day")
    func poison() {
        var memory = memory
        let in2038: Int64 = 2_145_916_800
        memory.update(reading(in2038, boot: 30, id: 2))
        #expect(memory.earliest == Self.start + 30 + Self.day)
        memory.update(reading(in2038, boot: 90, id: 2))
        #expect(memory.earliest == Self.start + 90 + Self.day)
        #expect(memory.now(reading(Self.start + 100, boot: 5, id: 3)) == Self.start + 90 + Self.day)
    }

    @Test("a credential is valid up to and including its last second")
    func expiry() {
        let age = VerifierAge(since: 1_000, maximum: 60)
        #expect(!age.isExpired(at: 1_060))
        #expect(age.isExpired(at: 1_061))
        #expect(!VerifierAge(since: 1_000, maximum: nil).isExpired(at: .max))
    }

    @Test("an expired credential is refused, uncharged and kept, and a clock set back does not revive it")
    func expired() throws {
        let home = try Home(), profile = try policy(3, maxAge: 100), clock = TestClock()
        let authenticator = home.authenticator(clock: clock.read)
        func check(_ password: String) -> AuthError? {
            refusal { () throws(AuthError) in _ = try authenticator.check(ada, profile, password: Password(password)) }
        }
        _ = try authenticator.enroll(ada, profile, password: Password("right"))
        clock.advance(wall: 100, boot: 100)
        #expect(check("right") == nil)
        clock.advance(wall: 1, boot: 1)
        let since = Self.start + 100
        #expect(check("right") == .expired(since: since))
        #expect(check("wrong") == .expired(since: since))
        #expect(try authenticator.status(ada, profile).refusal == .expired(since: since))
        // The next boot counts from zero. Only the time that the refusal recorded is known.
        clock.reboot()
        clock.advance(wall: -10 * 365 * Self.day)
        #expect(check("right") == .expired(since: since))
        #expect(try home.row(profile).charged == 0)
        guard case .live = try home.row(profile).verifier else { Issue.record("destroyed"); return }
        let forever = try policy(3)
        let login = try authenticator.check(ada, forever, password: Password("right"))
        let (isBehind, age, expires) = (login.clockIsBehind, login.age, login.expires)
        #expect(isBehind && age == 101 && expires == nil)
    }

    @Test("expiry is announced seven days ahead")
    func announced() throws {
        let home = try Home(), profile = try policy(3, maxAge: 8 * 86_400), clock = TestClock()
        let authenticator = home.authenticator(clock: clock.read)
        let first = try authenticator.enroll(ada, profile, password: Password("right"))
        let isEarly = first.expiresSoon
        #expect(!isEarly)
        clock.advance(wall: Self.day, boot: Self.day)
        let later = try authenticator.check(ada, profile, password: Password("right"))
        let (isSoon, expires) = (later.expiresSoon, later.expires)
        #expect(isSoon && expires == Self.start + 8 * Self.day)
    }
}
