// A line of a checksum list, as sha256sum, openssl dgst and their kin write it.

internal import OMCrypto
internal import OMSecrets

/// The hash that a file has to have.
///
/// | form | written by |
/// |---|---|
/// | `HEX  NAME`, `HEX *NAME` | sha256sum, and `omvault crypto hash` |
/// | `SHA256 (NAME) = HEX` | sha256sum --tag, BSD |
/// | `SHA2-256(NAME)= HEX` | openssl dgst |
///
/// A backslash before the line says that the name has `\\`, `\n` and `\r` for a backslash, a newline and a carriage return.
struct ChecksumLine {
    let algorithm: DigestAlgorithm
    let digest: [UInt8]
    let name: String

    /// - Parameter standard: The algorithm of a line that names none.
    /// - Returns: nil for any other line.
    init?(_ line: Span<UInt8>, _ standard: DigestAlgorithm) {
        guard let whole = try? UTF8Span(validating: line) else { return nil }
        var text = Substring(String(copying: whole))
        if text.last == "\r" { text.removeLast() }
        let isEscaped = text.first == "\\"
        if isEscaped { text.removeFirst() }
        guard let parts = Self.plain(text, standard) ?? Self.tagged(text), !parts.name.isEmpty,
            let digest = try? Hex.decode(String(parts.hex)), digest.count == parts.algorithm.count,
            let name = isEscaped ? Self.unescaped(parts.name) : String(parts.name)
        else { return nil }
        (algorithm, self.digest, self.name) = (parts.algorithm, digest, name)
    }

    private typealias Parts = (algorithm: DigestAlgorithm, hex: Substring, name: Substring)

    private static func plain(_ text: Substring, _ standard: DigestAlgorithm) -> Parts? {
        let hex = text.prefix { $0 != " " }
        let rest = text.dropFirst(hex.count)
        guard hex.utf8.count == 2 * standard.count, rest.hasPrefix("  ") || rest.hasPrefix(" *") else { return nil }
        return (standard, hex, rest.dropFirst(2))
    }

    private static func tagged(_ text: Substring) -> Parts? {
        guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close else { return nil }
        let hex = text[text.index(after: close)...].drop { $0 == " " }
        guard hex.first == "=", let algorithm = algorithm(of: text[..<open]) else { return nil }
        return (algorithm, hex.dropFirst().drop { $0 == " " }, text[text.index(after: open)..<close])
    }

    /// `SHA256`, `SHA2-256`, `SHA512/256`, `BLAKE2b`, with or without a blank behind it.
    private static func algorithm(of tag: Substring) -> DigestAlgorithm? {
        let name = tag.trimmingPrefix { $0 == " " }.lowercased().replacing("/", with: "-").replacing("sha2-", with: "sha")
        let word = name.last == " " ? String(name.dropLast()) : name
        return try? DigestAlgorithm(named: word == "blake2b" ? "blake2b512" : word)
    }

    private static let meanings: [Character: Character] = ["\\": "\\", "n": "\n", "r": "\r"]

    private static func unescaped(_ name: Substring) -> String? {
        var (text, rest) = ("", name)
        while let letter = rest.popFirst() {
            guard letter == "\\" else {
                text.append(letter)
                continue
            }
            guard let letter = rest.popFirst(), let meant = meanings[letter] else { return nil }
            text.append(meant)
        }
        return text
    }
}
