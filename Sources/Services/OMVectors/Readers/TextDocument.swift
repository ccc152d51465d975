// The lines of a NIST CAVP response file (.rsp), and of the RFCs' vectors in the same form: comments, sections, fields. The
// layouts of the text kinds know their meaning.

struct TextDocument: Sendable {
    struct Line: Sendable {
        let number: Int
        let content: Content
    }

    enum Content: Hashable, Sendable {
        /// `[ENCRYPT]` or `[L = 20]`.
        case section(String, String?)
        /// `MD = …`; the value may be empty.
        case field(String, String)
        /// A line such as `FAIL`.
        case word(String)
    }

    /// The comments' texts, without the `#`.
    private(set) var comments: [String] = []
    private(set) var lines: [Line] = []

    /// - Throws: ``UnreadableFile`` for a text with a line that is not of this form.
    init(_ text: String) throws(UnreadableFile) {
        for (index, raw) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let line = Self.trimmed(Substring(raw))
            guard let first = line.utf8.first else { continue }
            if first == UInt8(ascii: "#") {
                comments.append(String(Self.trimmed(line.dropFirst())))
            } else if let content = Self.content(line) {
                lines.append(Line(number: index + 1, content: content))
            } else if lines.isEmpty {
                throw UnreadableFile("text of no known vector format")
            } else {
                throw UnreadableFile("line \(index + 1): neither a comment, a section nor a field")
            }
        }
        guard !lines.isEmpty else { throw UnreadableFile("text of no known vector format") }
    }

    private static func content(_ line: Substring) -> Content? {
        if line.first == "[" {
            guard line.last == "]", line.count > 2 else { return nil }
            let inside = line.dropFirst().dropLast()
            if case .field(let name, let value) = field(inside) { return .section(name, value) }
            return .section(String(trimmed(inside)), nil)
        }
        return field(line) ?? (line.utf8.allSatisfy(isUpperCase) ? .word(String(line)) : nil)
    }

    private static func field(_ line: Substring) -> Content? {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = trimmed(line[..<equals])
        guard !name.isEmpty, name.utf8.count <= 40, name.utf8.allSatisfy(isNameByte) else { return nil }
        return .field(String(name), String(trimmed(line[equals...].dropFirst())))
    }

    private static func isUpperCase(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        let lowered = byte | 0x20
        return (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowered)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var bytes = text.utf8
        while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x0D { bytes.removeLast() }
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        return Substring(bytes)
    }
}
