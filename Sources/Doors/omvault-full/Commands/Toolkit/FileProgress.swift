internal import OMShell
internal import OMVectors

/// Shows the test vector file that is running, on one line of the terminal.
struct FileProgress {
    private let total: Int
    private let isShown: Bool

    init(of total: Int, isQuiet: Bool) {
        (self.total, isShown) = (total, StandardError.showsProgress && !isQuiet)
    }

    func show(_ path: String, number: Int) { write("[\(number)/\(total)] \(path.shown)") }
    func clear() { write("") }

    private func write(_ text: String) {
        if isShown { StandardError.write("\r\u{1B}[K\(text)") }
    }
}
