internal import OMSystem

/// The times in a row: seconds since 1970, and the boot clock at the last write.
struct LastSeenTime: Hashable, Sendable {
    /// Every stored time is in this range: from 1970 to the end of 9999.
    static let range: ClosedRange<Int64> = 0...253_402_300_799
    /// How many seconds the wall clock may be behind `earliest` before it counts as set back.
    static let tolerance: Int64 = 120
    private static let day: Int64 = 86_400

    /// It is at least this time now.
    private(set) var earliest: Int64
    /// The time at the last write, as ``now(_:)`` gave it.
    private(set) var written: Int64
    private(set) var sinceBoot: Int64
    private(set) var bootID: [UInt8]

    /// The times of a new credential. Only the wall clock is known.
    init(starting clock: ClockReading) {
        earliest = Self.clamp(clock.wall)
        written = earliest
        (sinceBoot, bootID) = (Self.clamp(clock.sinceBoot), clock.bootID)
    }

    /// The times after an online success, if the server gave the time and proved its identity. The server's time
    /// confirms this machine's time or corrects it back. So if a clock in 2038 has raised `earliest`, it comes down again.
    ///
    /// It never moves the time ahead. Attack, or mistake: a server's clock is in the year 9999, and a credential that
    /// the administrator gave thirty days is valid for ever. Or the clock is a day ahead at each login, and each login
    /// adds a day.
    ///
    /// A server gives whole seconds, and its answer takes some time. So within the tolerance it only confirms.
    /// Otherwise a fresh credential would be some seconds old, and the log would go back by as many seconds.
    ///
    /// - Parameter known: This machine's time.
    init(confirmed serverTime: Int64, known: Int64, _ clock: ClockReading) {
        earliest = Self.clamp(serverTime < known - Self.tolerance ? serverTime : known)
        written = earliest
        (sinceBoot, bootID) = (Self.clamp(clock.sinceBoot), clock.bootID)
    }

    init(earliest: Int64, written: Int64, sinceBoot: Int64, bootID: [UInt8]) {
        (self.earliest, self.written, self.sinceBoot, self.bootID) = (earliest, written, sinceBoot, bootID)
    }

    /// The time that counts now. Attack: a user sets the clock back to before an expiry. `earliest` does not go back
    /// with it, and neither does the time that the boot clock has counted since.
    func now(_ clock: ClockReading) -> Int64 {
        let counted = elapsed(clock).map { written + $0 } ?? 0
        return Self.clamp(max(clock.wall, earliest, counted))
    }

    /// How many seconds have surely passed since the time of an earlier write. A second that has only begun does not
    /// count. In the same boot the boot clock counts, so a wall clock that was set forward does not matter.
    func passed(since then: Int64, _ clock: ClockReading) -> Int64 {
        let passed = elapsed(clock).map { written - then + $0 } ?? now(clock) - then
        return max(0, passed - 1)
    }

    /// Whether the wall clock is behind the last seen time by more than the tolerance.
    func isAhead(of clock: ClockReading) -> Bool {
        clock.wall < earliest - Self.tolerance
    }

    /// How many seconds the wall clock is behind the last seen time. Nil within the tolerance.
    func behind(_ clock: ClockReading) -> UInt64? {
        isAhead(of: clock) ? UInt64(earliest - max(clock.wall, 0)) : nil
    }

    /// Notes this moment. If the clock says 2038 for one boot, `earliest` rises by at most the time of that boot and a day.
    mutating func update(_ clock: ClockReading) {
        let now = now(clock)
        let allowance = elapsed(clock) ?? Self.clamp(clock.sinceBoot) + Self.day
        earliest = max(earliest, min(now, earliest + allowance))
        written = now
        (sinceBoot, bootID) = (Self.clamp(clock.sinceBoot), clock.bootID)
    }

    /// Seconds that the boot clock has counted since the last write. Nil in another boot.
    private func elapsed(_ clock: ClockReading) -> Int64? {
        guard clock.bootID == bootID, bootID.contains(where: { $0 != 0 }) else { return nil }
        return max(0, Self.clamp(clock.sinceBoot) - sinceBoot)
    }

    private static func clamp(_ seconds: Int64) -> Int64 { min(max(seconds, range.lowerBound), range.upperBound) }
}
