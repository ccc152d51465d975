// The help text, wrapped for the width of the terminal. The parser wraps each source line by itself. Without this, one line
// in three would end after two words.

internal import Glibc
internal import OMShell

enum HelpText {
    /// The parser's text for `--help`, with filled paragraphs above `USAGE`. Each example is on one line, so that it can be
    /// copied. Any other text, such as a completion script, stays as it is.
    static func filled(_ text: String, _ width: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines[0].hasPrefix("OVERVIEW: "), let usage = lines.firstIndex(where: { $0.hasPrefix("USAGE: ") }) else {
            return text
        }
        var shown: [String] = []
        var words: [Substring] = []
        for line in lines[..<usage] {
            if line.isEmpty || line.hasPrefix(" ") {
                shown += wrapped(words, width) + [line]
                words = []
            } else if words.isEmpty, let example = shown.last, example.hasPrefix(" ") {
                shown[shown.count - 1] = example + " " + line
            } else {
                words += line.split(separator: " ", omittingEmptySubsequences: false)
            }
        }
        return (shown + wrapped(words, width) + lines[usage...]).joined(separator: "\n")
    }

    static var terminalWidth: Int {
        if let columns = Environment.text("COLUMNS").flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func wrapped(_ words: [Substring], _ width: Int) -> [String] {
        var lines: [String] = []
        for word in words {
            if let line = lines.last, line.count + 1 + word.count <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
