/// A progress bar for long streams.
struct ByteProgress {
    private let total: Int?
    private var done = 0
    private var line: ProgressLine

    /// - Parameter total: The number of bytes, if it is known.
    init(total: Int?, isQuiet: Bool) {
        self.total = total
        line = ProgressLine(isQuiet: isQuiet)
    }

    mutating func add(_ count: Int) {
        done += count
        line.show(Self.words(done, total))
    }

    /// Removes the line, if it is shown.
    mutating func end() { line.end() }

    private static func words(_ done: Int, _ total: Int?) -> String {
        guard let total, total > 0 else { return "\(done >> 20) MiB" }
        return "\(ProgressLine.bar(done, of: total))  \(done >> 20) of \(total >> 20) MiB"
    }
}
