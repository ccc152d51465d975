// The lines of a file of pass, as places in its bytes. Only the names of fields are copied.

internal import OMJSON

enum PassLine {
    /// The most bytes of a field's name. What is longer is text with a colon.
    static let maximumName = 64

    static func trimmed(_ line: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
        var (start, end) = (line.lowerBound, line.upperBound)
        while start < end, JSONText.isSpace(bytes[start]) { start += 1 }
        while start < end, JSONText.isSpace(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    static func withoutEmptyLines(_ text: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
        var end = text.upperBound
        while end > text.lowerBound, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return text.lowerBound..<end
    }

    static func isSame(_ line: Range<Int>, _ text: String, in bytes: Span<UInt8>) -> Bool {
        let line = trimmed(line, in: bytes)
        return line.count == text.utf8.count && bytes.extracting(line).starts(with: Array(text.utf8))
    }

    static func isIndented(_ line: Range<Int>, in bytes: Span<UInt8>) -> Bool {
        guard let first = line.first else { return false }
        return bytes[first] == UInt8(ascii: " ") || bytes[first] == UInt8(ascii: "\t")
    }

    /// A line `name: value`. Nil for other text: a name has up to three words, and a blank is behind its colon, save for the names
    /// that every program knows. A line without a value stays text.
    static func field(_ line: Range<Int>, in bytes: Span<UInt8>) -> (name: String, value: Range<Int>)? {
        guard let first = line.first, isLetter(bytes[first]) else { return nil }
        var colon = first
        while colon < line.upperBound, bytes[colon] != UInt8(ascii: ":") {
            guard colon - first < maximumName, isOfName(bytes[colon]) else { return nil }
            colon += 1
        }
        guard colon < line.upperBound else { return nil }
        let name = ForeignText.trimmed(first..<colon, in: bytes)
        // Blanks at the end can be a part of a secret.
        let value = trimmed(colon + 1..<line.upperBound, in: bytes).lowerBound..<line.upperBound
        guard !trimmed(value, in: bytes).isEmpty, !value.isEmpty, name.split(separator: " ").count <= 3 else { return nil }
        guard value.lowerBound > colon + 1 || role(of: name.lowercased()) != .other else { return nil }
        return (name, value)
    }

    /// - Parameter name: In lower case.
    static func role(of name: String) -> ForeignField.Role {
        switch name {
        case "login", "user", "username": .username
        case "email", "e-mail": .email
        case "url", "uri", "link", "website": .url
        case "otp", "totp", "otpauth": .otp
        default: .other
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: true
        default: false
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: isLetter(byte)
        }
    }
}
