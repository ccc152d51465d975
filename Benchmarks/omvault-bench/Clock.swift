internal import Glibc

enum Clock {
    /// Seconds on a clock that never goes back.
    static var now: Double { read(CLOCK_MONOTONIC) }

    /// Seconds that this process has computed. `openssl speed` and Python's `process_time` count so as well; on a busy
    /// machine a rate by the wall's clock would be the neighbours'.
    private static var computed: Double { read(CLOCK_PROCESS_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func seconds(_ body: () throws(BenchError) -> Void) throws(BenchError) -> Double {
        let start = now
        try body()
        return now - start
    }

    /// How often a second `body` runs, which does so many operations or bytes each time, over half a second or more.
    static func rate(each count: Int, _ body: () throws(BenchError) -> Void) throws(BenchError) -> Double {
        var (rounds, step) = (0, 1)
        let start = computed
        while true {
            for _ in 0..<step { try body() }
            rounds += step
            let elapsed = computed - start
            if elapsed >= 0.5 { return Double(rounds * count) / elapsed }
            // Looking at the clock costs as much as a small operation: look seldom.
            if elapsed < 0.01 { step *= 2 }
        }
    }

    /// Seconds for one call of `body`, over half a second or more.
    static func perCall(_ body: () throws(BenchError) -> Void) throws(BenchError) -> Double {
        1 / (try rate(each: 1, body))
    }
}
