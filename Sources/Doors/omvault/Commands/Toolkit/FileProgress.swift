internal import OMVectors

/// The file that is being run, on one line of a terminal that is overwritten.
struct FileProgress {
    private let total: Int
    private let isShown: Bool

    init(of total: Int, isQuiet: Bool) {
        (self.total, isShown) = (total, StandardError.isTerminal && !isQuiet)
    }

    func show(_ path: String, number: Int) { write("[\(number)/\(total)] \(path.shown)") }
    func clear() { write("") }

    private func write(_ text: String) {
        if isShown { StandardError.write("\r\u{1B}[K\(text)") }
    }
}
