/// A format of other programs that omvault reads. The number goes to the process that reads a file: docs/formats/import-reader.md.
package enum ForeignFormat: UInt8, CaseIterable, Sendable {
    case csv = 1
    case bitwarden = 2
    case netrc = 3
    case env = 4
    case kdbx = 5
    case keePassXML = 6
    /// A folder of pass or gopass, which the command has decrypted and packed.
    case pass = 7
    case onePassword = 8

    /// As `--from` has it.
    package var name: String {
        switch self {
        case .csv: "csv"
        case .bitwarden: "bitwarden-json"
        case .netrc: "netrc"
        case .env: "env"
        case .kdbx: "kdbx"
        case .keePassXML: "keepass-xml"
        case .pass: "pass"
        case .onePassword: "1pux"
        }
    }

    package init?(named name: String) {
        guard let format = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = format
    }

    /// The format of a file, by its first bytes.
    ///
    /// - Throws: ``InterchangeError/otherFormat``.
    package static func recognised(in bytes: Span<UInt8>) throws(InterchangeError) -> ForeignFormat {
        if KDBXReader.isKDBX(bytes) { return .kdbx }
        if bytes.starts(with: Array("PK".utf8) + [3, 4]) { return .onePassword }
        var start = ForeignText.markCount(bytes)
        while start < bytes.count, JSONSpace.isSpace(bytes[start]) { start += 1 }
        guard start < bytes.count else { throw .otherFormat }
        switch bytes[start] {
        case UInt8(ascii: "{"): return .bitwarden
        case UInt8(ascii: "<"): return .keePassXML
        default: break
        }
        for line in ForeignText.lines(in: bytes, from: start, most: 100) {
            let text = ForeignText.trimmed(line, in: bytes)
            if text.isEmpty || text.hasPrefix("#") { continue }
            let words = text.split(separator: " ", maxSplits: 1)
            if ["machine", "default", "macdef"].contains(words[0]) { return .netrc }
            if startsVariable(words[0] == "export" && words.count == 2 ? String(words[1]) : text) { return .env }
            if text.contains(",") || text.contains(";") || text.contains("\t") { return .csv }
            throw .otherFormat
        }
        throw .otherFormat
    }

    /// Whether the line is `NAME=…`.
    private static func startsVariable(_ line: String) -> Bool {
        guard let equals = line.utf8.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex else { return false }
        return line[..<equals].utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
            default: false
            }
        }
    }
}
