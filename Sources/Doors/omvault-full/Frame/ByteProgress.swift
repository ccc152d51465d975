// A progress bar for long streams, on one line of standard error. It is shown at a terminal only.

internal import Glibc
internal import OMShell

struct ByteProgress {
    private let total: Int?
    private let isShown: Bool
    private var done = 0
    private var isOnScreen = false
    private var nextSecond: Double

    /// - Parameter total: The number of bytes, if it is known.
    init(total: Int?, isQuiet: Bool) {
        self.total = total
        isShown = StandardError.showsProgress && !isQuiet
        // Work that ends within half a second needs no bar.
        nextSecond = Self.now() + 0.5
    }

    mutating func add(_ count: Int) {
        done += count
        guard isShown, Self.now() >= nextSecond else { return }
        nextSecond = Self.now() + 0.1
        StandardError.write("\r\u{1B}[K\(line)")
        isOnScreen = true
    }

    /// Removes the line, if it is shown.
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
