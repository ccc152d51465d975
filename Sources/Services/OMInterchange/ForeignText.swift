// The text of files: marks, lines, words. What is no secret becomes a String here.

internal import OMJSON
internal import OMSecrets

/// Blanks of JSON, which are those of the other text formats too.
enum JSONSpace {
    static func isSpace(_ byte: UInt8) -> Bool { JSONText.isSpace(byte) }
}

enum ForeignText {
    /// The bytes of a byte order mark at the start.
    static func markCount(_ bytes: Span<UInt8>) -> Int { bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0 }

    /// - Throws: ``InterchangeError/unsupported(_:remedy:)`` for bytes that are not UTF-8.
    static func checkUTF8(_ bytes: Span<UInt8>) throws(InterchangeError) {
        guard (try? UTF8Span(validating: bytes)) == nil else { return }
        let isUTF16 = bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
        throw .unsupported(
            isUTF16 ? "text in UTF-16" : "text that is not UTF-8",
            remedy: "save it as UTF-8, for example: iconv -f \(isUTF16 ? "utf-16" : "latin1") -t utf-8 FILE > NEW")
    }

    /// The first lines from `start` on, without their ends.
    static func lines(in bytes: Span<UInt8>, from start: Int, most: Int) -> [Range<Int>] {
        var (lines, start): ([Range<Int>], Int) = ([], start)
        while start < bytes.count, lines.count < most {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            lines.append(start..<end)
            start = end + 1
        }
        return lines
    }

    /// A part that is no secret, as text without blanks around it.
    static func trimmed(_ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, JSONText.isSpace(bytes[start]) { start += 1 }
        while start < end, JSONText.isSpace(bytes[end - 1]) { end -= 1 }
        return String(decoding: (start..<end).map { bytes[$0] }, as: UTF8.self)
    }

    /// The whole of a short secret as text, for names. Not for values.
    static func string(_ secret: borrowing SecretBytes) -> String {
        secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    /// A text as a value.
    static func value(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }
}

extension Span<UInt8> {
    func starts(with prefix: [UInt8]) -> Bool {
        count >= prefix.count && prefix.indices.allSatisfy { self[$0] == prefix[$0] }
    }
}
