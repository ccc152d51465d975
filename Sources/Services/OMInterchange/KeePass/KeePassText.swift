// The text of elements in KeePass's XML.

internal import Glibc
internal import OMSecrets

enum KeePassText {
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    static func string(_ bytes: Span<UInt8>) -> String {
        bytes.withPointer { String(decoding: UnsafeBufferPointer(start: $0, count: $1), as: UTF8.self) }
    }

    /// The bytes of base64 text. Blanks and line ends around and inside it do not count.
    ///
    /// - Throws: ``InterchangeError/damaged(_:)`` for any other text.
    static func base64(_ text: borrowing SecretBytes) throws(InterchangeError) -> SecretBytes {
        if let bytes = try? Base64.decode(text) { return bytes }
        var digits = SecretBuffer(capacity: text.count)
        text.withBytes { text in
            for index in text.indices where !isSpace(text[index]) { digits.append(text[index]) }
        }
        do throws(SecretsError) { return try Base64.decode(digits.finish()) } catch { throw .damaged("base64 in its XML") }
    }

    /// The parts of a list of tags. KeePass separates them by `;`, and reads `,` too.
    ///
    /// - Parameter most: Attack: a long list of short tags takes far more memory than its text.
    static func tags(_ text: String, atMost most: Int) throws(InterchangeError) -> [String] {
        let parts = text.unicodeScalars.split(maxSplits: most) { $0 == ";" || $0 == "," }
        guard parts.count <= most else { throw .tooMuch("fields") }
        return parts.map { trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    /// A name for a message: the first 100 characters of a longer one.
    static func start(of name: String) -> String {
        name.utf8.count <= 100 ? name : String(String.UnicodeScalarView(name.unicodeScalars.prefix(100)))
    }

    static func trimmed(_ text: Substring) -> String {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop { $0.isWhitespace })
    }

    /// Whether a text has one of these, in capitals or not.
    ///
    /// - Parameter wanted: In capitals. All begin with the same sign, which is no letter.
    static func contains(_ bytes: Span<UInt8>, anyOf wanted: [StaticString]) -> Bool {
        bytes.withPointer { bytes, count in
            guard let sign = wanted.first?.utf8Start.pointee else { return false }
            var start = 0
            while start < count, let found = memchr(bytes + start, Int32(sign), count - start) {
                start = UnsafeRawPointer(found) - UnsafeRawPointer(bytes)
                for text in wanted where text.utf8CodeUnitCount <= count - start {
                    let isSame = (0..<text.utf8CodeUnitCount).allSatisfy { index in
                        let byte = bytes[start + index]
                        return ((0x61...0x7A).contains(byte) ? byte & 0xDF : byte) == text.utf8Start[index]
                    }
                    if isSame { return true }
                }
                start += 1
            }
            return false
        }
    }
}
