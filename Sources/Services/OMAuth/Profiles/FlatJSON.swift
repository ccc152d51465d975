// Profiles and policies as flat JSON objects. The strict reader is OMRecords' `FlatObject`.

internal import OMRecords
internal import OMSecrets

/// Reads and writes objects whose values are strings, numbers and booleans.
enum FlatJSON {
    /// - Parameter wanted: The keys that are read; the others may have any value of JSON, which is left out. Nil: all.
    /// - Throws: ``ProfileProblem/malformed`` for anything else, a key twice, or bytes after the object.
    static func decode(_ bytes: [UInt8], only wanted: Set<String>? = nil) throws(ProfileProblem) -> [String: ProfileValue] {
        do throws(MalformedBytes) { return try FlatObject.decode(bytes, only: wanted).mapValues(ProfileValue.init) } catch {
            throw .malformed
        }
    }

    /// One key a line, sorted.
    static func encode(_ values: [String: ProfileValue]) -> [UInt8] {
        let lines = values.sorted { $0.key < $1.key }.map { "    \(quote($0.key)): \(literal($0.value))" }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    private static func literal(_ value: ProfileValue) -> String {
        switch value {
        case .text(let text): quote(text)
        case .number(let digits): digits
        case .bool(let bool): bool ? "true" : "false"
        }
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..."\u{1F}": quoted += "\\u" + Hex.encode([0, UInt8(scalar.value)])
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

extension ProfileValue {
    fileprivate init(_ value: FlatObject.Value) {
        switch value {
        case .text(let text): self = .text(text)
        case .number(let digits): self = .number(digits)
        case .bool(let bool): self = .bool(bool)
        }
    }
}
