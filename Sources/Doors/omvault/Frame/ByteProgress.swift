// How far a long stream is, on one line of standard error that is overwritten; only where a person looks at it.

internal import Glibc

struct ByteProgress {
    private let total: Int?
    private let isShown: Bool
    private var done = 0
    private var isOnScreen = false
    private var nextSecond: Double

    /// - Parameter total: Bytes, if they are known.
    init(total: Int?, isQuiet: Bool) {
        self.total = total
        isShown = StandardError.isTerminal && !isQuiet
        // What is done within half a second needs no bar.
        nextSecond = Self.now() + 0.5
    }

    mutating func add(_ count: Int) {
        done += count
        guard isShown, Self.now() >= nextSecond else { return }
        nextSecond = Self.now() + 0.1
        StandardError.write("\r\u{1B}[K\(line)")
        isOnScreen = true
    }

    /// Takes the line away, if there is one.
    mutating func end() {
        if isOnScreen { StandardError.write("\r\u{1B}[K") }
        isOnScreen = false
    }

    private var line: String {
        guard let total, total > 0 else { return "\(done >> 20) MiB" }
        let share = min(Double(done) / Double(total), 1)
        let filled = Int(share * 30)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
        return "[\(bar)] \(Int(share * 100)) %  \(done >> 20) of \(total >> 20) MiB"
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
