// One line of standard error that shows how far something is. It is shown at a terminal only.

internal import Glibc
internal import OMShell

/// A line that is written over itself.
struct ProgressLine {
    private let isShown: Bool
    private var isOnScreen = false
    private var nextSecond: Double

    init(isQuiet: Bool) {
        isShown = StandardError.showsProgress && !isQuiet
        // Work that ends within half a second needs no line.
        nextSecond = Self.now() + 0.5
    }

    /// Shows the line, at most ten times a second.
    mutating func show(_ text: @autoclosure () -> String) {
        guard isShown, Self.now() >= nextSecond else { return }
        nextSecond = Self.now() + 0.1
        StandardError.write("\r\u{1B}[K\(text())")
        isOnScreen = true
    }

    /// Removes the line, if it is shown.
    mutating func end() {
        if isOnScreen { StandardError.write("\r\u{1B}[K") }
        isOnScreen = false
    }

    /// A bar of 30 characters.
    static func bar(_ done: Int, of total: Int) -> String {
        let share = min(Double(done) / Double(max(total, 1)), 1)
        let filled = Int(share * 30)
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
            + "] \(Int(share * 100)) %"
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
