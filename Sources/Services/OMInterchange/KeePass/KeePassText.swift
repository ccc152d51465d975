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
    static func tags(_ text: String) -> [String] {
        text.split { $0 == ";" || $0 == "," }.map { trimmed($0) }.filter { !$0.isEmpty }
    }

    static func trimmed(_ text: Substring) -> String {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
        return String(text[..<end].drop { $0.isWhitespace })
    }

    /// - Parameter wanted: One character or more.
    static func contains(_ bytes: Span<UInt8>, _ wanted: StaticString) -> Bool {
        bytes.withPointer { bytes, count in
            var start = 0
            while count - start >= wanted.utf8CodeUnitCount,
                let found = memchr(bytes + start, Int32(wanted.utf8Start.pointee), count - start - wanted.utf8CodeUnitCount + 1)
            {
                if memcmp(found, wanted.utf8Start, wanted.utf8CodeUnitCount) == 0 { return true }
                start = UnsafeRawPointer(found) - UnsafeRawPointer(bytes) + 1
            }
            return false
        }
    }
}
