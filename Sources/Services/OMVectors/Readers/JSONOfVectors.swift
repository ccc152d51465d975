// JSON of vector files.

internal import OMJSON

extension JSON {
    /// - Throws: ``UnreadableFile``, with the line, unless the bytes are one whole JSON value.
    init(reading bytes: [UInt8]) throws(UnreadableFile) {
        do throws(MalformedJSON) { self = try JSON(parsing: bytes.span) } catch {
            let line = bytes.prefix(error.position).count { $0 == 0x0A } + 1
            throw UnreadableFile("not JSON, line \(line): \(error.problem)")
        }
    }

    /// Whether a text that starts with `[` is a JSON array and not a CAVP section such as `[L = 20]`.
    static func opensArray(_ bytes: [UInt8]) -> Bool {
        switch bytes.drop(while: JSONText.isSpace).dropFirst().first(where: { !JSONText.isSpace($0) }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\""): true
        default: false
        }
    }
}
