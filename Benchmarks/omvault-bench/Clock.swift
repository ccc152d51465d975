internal import Glibc

enum Clock {
    /// The seconds of a clock that never goes back.
    static var now: Double { read(CLOCK_MONOTONIC) }

    /// The processor time of this process in seconds. `openssl speed` and Python's `process_time` count the same. On a busy
    /// machine, a rate by the wall clock would depend on the other processes.
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

    /// The operations or bytes per second of `body`, which does `count` of them in each call. Measured over at least half a
    /// second.
    static func rate(each count: Int, _ body: () throws(BenchError) -> Void) throws(BenchError) -> Double {
        var (rounds, step) = (0, 1)
        let start = computed
        while true {
            for _ in 0..<step { try body() }
            rounds += step
            let elapsed = computed - start
            if elapsed >= 0.5 { return Double(rounds * count) / elapsed }
            // A look at the clock costs as much as a small operation, so look seldom.
            if elapsed < 0.01 { step *= 2 }
        }
    }

    /// The seconds for one call of `body`, measured over at least half a second.
    static func perCall(_ body: () throws(BenchError) -> Void) throws(BenchError) -> Double {
        1 / (try rate(each: 1, body))
    }
}
