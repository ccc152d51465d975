internal import OMShell

/// A stream of bytes as a terminal may see it: what it would obey is escaped as `\u{1b}`, and no character is cut in two.
struct TerminalBytes {
    /// The start of a character whose end has not come yet.
    private var open: [UInt8] = []

    mutating func shown(_ bytes: Span<UInt8>) -> [UInt8] {
        var text = open
        text.reserveCapacity(text.count + bytes.count)
        for index in bytes.indices { text.append(bytes[index]) }
        open = Self.openEnd(of: text)
        text.removeLast(open.count)
        return Self.escaped(text)
    }

    /// What is left at the end of the stream.
    mutating func end() -> [UInt8] {
        defer { open = [] }
        return Self.escaped(open)
    }

    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        // Most answers need no look at each character.
        if bytes.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return bytes }
        var shown: [UInt8] = []
        var rest = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            if scalar == "\n" || scalar == "\t" || !scalar.isUnsafeToShow {
                shown += String(scalar).utf8
            } else if scalar == "\r", rest.first == "\n" {
                // The line break of HTTP.
                continue
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16))}".utf8
            }
        }
        return shown
    }

    /// The first bytes of a character at the end, at most 3. A carriage return waits for its line feed.
    private static func openEnd(of bytes: [UInt8]) -> [UInt8] {
        if bytes.last == 0x0D { return [0x0D] }
        for count in 1...3 where count <= bytes.count {
            let byte = bytes[bytes.count - count]
            guard byte & 0xC0 != 0x80 else { continue }
            let needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return needed > count ? Array(bytes.suffix(count)) : []
        }
        return []
    }
}
