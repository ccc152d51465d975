// Profiles and policies as flat JSON objects.

internal import OMJSON

/// Reads and writes objects whose values are strings, numbers and booleans.
enum FlatJSON {
    /// - Parameter wanted: The keys to read. Other keys may have any JSON value, which is ignored. If nil, all keys are
    ///   read.
    /// - Throws: ``ProfileProblem/malformed`` for anything else, a repeated key, or bytes after the object.
    static func decode(_ bytes: [UInt8], only wanted: Set<String>? = nil) throws(ProfileProblem) -> [String: ProfileValue] {
        guard let values = JSON.flatObject(parsing: bytes.span, only: wanted) else { throw .malformed }
        return values.compactMapValues { value in
            switch value {
            case .string(let text): .text(text)
            case .number(let digits): .number(digits)
            case .bool(let bool): .bool(bool)
            case .null, .array, .object: nil
            }
        }
    }

    /// Writes one key per line, sorted.
    static func encode(_ values: [String: ProfileValue]) -> [UInt8] {
        let lines = values.sorted { $0.key < $1.key }.map { "    \(JSONText.quoted($0.key)): \(literal($0.value))" }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    private static func literal(_ value: ProfileValue) -> String {
        switch value {
        case .text(let text): JSONText.quoted(text)
        case .number(let digits): digits
        case .bool(let bool): bool ? "true" : "false"
        }
    }
}
