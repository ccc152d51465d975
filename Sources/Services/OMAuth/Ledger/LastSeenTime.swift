internal import OMSystem

/// What a row remembers about time: seconds since 1970, and where the boot clock stood.
struct LastSeenTime: Hashable, Sendable {
    /// No state of ours is later than this, and none is before 1970.
    static let range: ClosedRange<Int64> = 0...253_402_300_799
    /// How far the wall clock may lie behind the earliest before somebody is told.
    static let tolerance: Int64 = 120
    private static let day: Int64 = 86_400

    /// Time has come at least this far.
    private(set) var earliest: Int64
    /// The time as it was judged at the last write.
    private(set) var written: Int64
    private(set) var sinceBoot: Int64
    private(set) var bootID: [UInt8]

    /// The memory of a new credential, which has nothing but the wall clock to go by.
    init(starting clock: ClockReading) {
        earliest = Self.clamp(clock.wall)
        written = earliest
        (sinceBoot, bootID) = (Self.clamp(clock.sinceBoot), clock.bootID)
    }

    /// The memory after an online success, where the server told the time and proved who it is. It confirms what this
    /// machine takes for now, and corrects it back: a earliest that a clock in 2038 has raised comes down again.
    ///
    /// Never ahead. Attack, or mere mistake: a server in the year 9999 would make a credential for ever of one that the
    /// administrator gave thirty days, and one that is a day ahead at each login a day more of each.
    ///
    /// A server tells whole seconds, and its answer was on its way: within the tolerance it confirms. Otherwise a fresh
    /// credential would be some seconds old, and the log would go back by as many.
    ///
    /// - Parameter known: What this machine takes for now.
    init(confirmed serverTime: Int64, known: Int64, _ clock: ClockReading) {
        earliest = Self.clamp(serverTime < known - Self.tolerance ? serverTime : known)
        written = earliest
        (sinceBoot, bootID) = (Self.clamp(clock.sinceBoot), clock.bootID)
    }

    init(earliest: Int64, written: Int64, sinceBoot: Int64, bootID: [UInt8]) {
        (self.earliest, self.written, self.sinceBoot, self.bootID) = (earliest, written, sinceBoot, bootID)
    }

    /// The time to judge by. Attack: the clock is set back behind an expiry. Neither the earliest nor the time that the boot
    /// clock has counted since goes back with it.
    func now(_ clock: ClockReading) -> Int64 {
        let counted = elapsed(clock).map { written + $0 } ?? 0
        return Self.clamp(max(clock.wall, earliest, counted))
    }

    /// Seconds that have passed since a time that was judged at an earlier write, and surely passed: a second that has only
    /// begun counts for nothing. In the same boot the boot clock counts them, and a wall clock that was set forward does not.
    func passed(since then: Int64, _ clock: ClockReading) -> Int64 {
        let passed = elapsed(clock).map { written - then + $0 } ?? now(clock) - then
        return max(0, passed - 1)
    }

    /// Whether the wall clock lies behind what was seen before.
    func isAhead(of clock: ClockReading) -> Bool {
        clock.wall < earliest - Self.tolerance
    }

    /// How far the wall clock lies behind what was seen before; nil while it is within the tolerance.
    func behind(_ clock: ClockReading) -> UInt64? {
        isAhead(of: clock) ? UInt64(earliest - max(clock.wall, 0)) : nil
    }

    /// Remembers this moment. A clock that says 2038 for one boot moves the earliest by what that boot has counted and a day.
    mutating func update(_ clock: ClockReading) {
        let now = now(clock)
        let allowance = elapsed(clock) ?? Self.clamp(clock.sinceBoot) + Self.day
        earliest = max(earliest, min(now, earliest + allowance))
        written = now
        (sinceBoot, bootID) = (Self.clamp(clock.sinceBoot), clock.bootID)
    }

    /// Seconds that the boot clock has counted since the last write; nil in another boot.
    private func elapsed(_ clock: ClockReading) -> Int64? {
        guard clock.bootID == bootID, bootID.contains(where: { $0 != 0 }) else { return nil }
        return max(0, Self.clamp(clock.sinceBoot) - sinceBoot)
    }

    private static func clamp(_ seconds: Int64) -> Int64 { min(max(seconds, range.lowerBound), range.upperBound) }
}
