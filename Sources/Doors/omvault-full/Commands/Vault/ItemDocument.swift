// An item's fields as one text for an editor: its writer and its reader. docs/reference/command-line.md describes the text.

internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The text of an item.
///
///     # comments
///     username: ada
///     key: <<END
///     several
///     lines
///     END
///     photo: <<(6 bytes that are not plain text; this line keeps them)
///
/// A line that begins with `@` is refused. It is kept free for what an item has beside its fields.
enum ItemDocument {
    /// The longest value that is edited: 1 MiB.
    static let maximumValueCount = 1 << 20
    /// The largest text that is read back: values of 16 MiB, with room for names and comments.
    static let maximumCount = 17 << 20

    /// The fields that the user changed, added or removed.
    struct Changes: ~Copyable {
        var changed = FieldValues()
        var removed: [FieldName] = []
    }

    // MARK: - Writing

    static func text(of item: Item, _ values: borrowing FieldValues, vault: String) -> SecretBytes {
        var text = SecretBuffer(capacity: 4096)
        text.append(line: "# Item \"\(item.name.text.shown)\" of vault \"\(vault.shown)\", revision \(item.revision).")
        for line in instructions { text.append(line: line) }
        text.append(line: "")
        values.forEach { name, secret in append(name, secret, to: &text) }
        let shown = values.names
        for field in item.fields where !shown.contains(field.name) {
            text.append(line: "# \(field.name.text): \(field.count) bytes, which are too many for this text; the field stays")
        }
        return text.finish()
    }

    private static let instructions = [
        "# NAME: VALUE    a field; its value is everything after the one space",
        "# NAME: <<END    a field of several lines, which end before the line END",
        "# Save and leave the editor to store what you changed. Delete the line of a field to delete the field,",
        "# add a line to add one. A line that begins with # is left out. If a name begins with # or @, write \\",
        "# before it. The item's type, tags and expiry stay.",
    ]

    private static func append(_ name: FieldName, _ secret: borrowing SecretBytes, to text: inout SecretBuffer) {
        if let first = name.text.utf8.first, isSpecial(first) { text.append(UInt8(ascii: "\\")) }
        text.append(name.text.utf8Span.span)
        text.append(UInt8(ascii: ":"))
        if secret.count == 0 { return text.append(line: "") }
        text.append(UInt8(ascii: " "))
        let (isText, isBlock) = secret.withBytes { (isPlainText($0), contains($0, UInt8(ascii: "\n")) || begins($0, with: "<<")) }
        if !isText { return text.append(line: placeholder(secret.count)) }
        if !isBlock {
            text.append(secret)
            return text.append(line: "")
        }
        let end = endWord(for: secret)
        text.append(line: "<<" + end)
        text.append(secret)
        text.append(line: "")
        text.append(line: end)
    }

    private static func placeholder(_ count: Int) -> String {
        "<<(\(count) bytes that are not plain text; this line keeps them)"
    }

    /// A word that is no line of the value.
    private static func endWord(for secret: borrowing SecretBytes) -> String {
        secret.withBytes { bytes in
            let lines = TextLines(of: bytes)
            var number = 1, word = "END"
            while lines.ranges.contains(where: { isSame(bytes.extracting($0), word) }) {
                number += 1
                word = "END\(number)"
            }
            return word
        }
    }

    // MARK: - Reading

    /// What the user changed in a text of `values`. A field that is not one of them is never removed.
    static func changes(in text: borrowing SecretBytes, of values: borrowing FieldValues) throws -> Changes {
        let parsed = try text.withBytes(fields)
        var changes = Changes()
        for field in parsed {
            guard let secret = field.secret else {
                // The line of a value that is not text.
                let count = values.withSecret(field.name) { $0.withBytes { isPlainText($0) ? nil : $0.count } } ?? nil
                guard count.map(placeholder) == field.placeholder else {
                    throw DocumentProblem(line: field.line, reason: .placeholder)
                }
                continue
            }
            let old = values.withSecret(field.name) { old in
                (isText: old.withBytes(isPlainText), isSame: old.isEqual(to: secret.secret))
            }
            if let old, !old.isText { throw DocumentProblem(line: field.line, reason: .placeholder) }
            if old?.isSame != true { try changes.changed.put(secret.secret.duplicate(), at: field.name) }
        }
        for name in values.names where !parsed.contains(where: { $0.name == name }) {
            let isText = values.withSecret(name) { $0.withBytes(isPlainText) } ?? true
            guard isText else { throw DocumentProblem(line: 0, reason: .noPlaceholder(name.text)) }
            changes.removed.append(name)
        }
        return changes
    }

    private struct Field {
        let line: Int
        let name: FieldName
        /// Nil for a placeholder.
        var secret: SecretReference?
        var placeholder: String?
    }

    private static func fields(in bytes: Span<UInt8>) throws -> [Field] {
        let lines = TextLines(of: bytes).ranges
        var fields: [Field] = []
        var next = 0
        while next < lines.count {
            let number = next + 1, line = bytes.extracting(lines[next])
            next += 1
            if line.isEmpty || line[0] == UInt8(ascii: "#") { continue }
            // A line for something beside the fields begins here.
            if line[0] == UInt8(ascii: "@") { throw DocumentProblem(line: number, reason: .reserved) }
            let (name, start) = try head(of: line, number)
            let value = line.extracting(start..<line.count)
            if fields.contains(where: { $0.name == name }) { throw DocumentProblem(line: number, reason: .repeated(name.text)) }
            var field = Field(line: number, name: name)
            if !begins(value, with: "<<") {
                field.secret = try plain(value, number)
            } else if begins(value, with: "<<(") {
                // Its writer wrote it. A text that the user typed here can be secret, and is only compared.
                field.placeholder = value.count <= 80 ? text(value) : nil
            } else {
                let end = try endWord(value.extracting(2..<value.count), number)
                let first = next
                while next < lines.count, !isSame(bytes.extracting(lines[next]), end) {
                    guard isPlainText(bytes.extracting(lines[next])) else {
                        throw DocumentProblem(line: next + 1, reason: .notText)
                    }
                    next += 1
                }
                guard next < lines.count else { throw DocumentProblem(line: number, reason: .noEnd) }
                let range = first == next ? 0..<0 : lines[first].lowerBound..<lines[next - 1].upperBound
                field.secret = SecretReference(SecretBytes(copying: bytes.extracting(range)))
                next += 1
            }
            fields.append(field)
        }
        return fields
    }

    /// The name at the start of a line, and where the value begins: after the colon and its one space.
    private static func head(of line: Span<UInt8>, _ number: Int) throws -> (FieldName, Int) {
        let start = line[0] == UInt8(ascii: "\\") ? 1 : 0
        guard let colon = (start..<line.count).first(where: { line[$0] == UInt8(ascii: ":") }) else {
            throw DocumentProblem(line: number, reason: .noColon)
        }
        guard colon - start <= 64, let text = text(line.extracting(start..<colon)), let name = try? FieldName(text),
            start == 1 || !isSpecial(line[0])
        else { throw DocumentProblem(line: number, reason: .badName) }
        if colon + 1 == line.count { return (name, line.count) }
        guard line[colon + 1] == UInt8(ascii: " ") else { throw DocumentProblem(line: number, reason: .noSpace) }
        return (name, colon + 2)
    }

    private static func plain(_ value: Span<UInt8>, _ number: Int) throws -> SecretReference {
        guard isPlainText(value) else { throw DocumentProblem(line: number, reason: .notText) }
        return SecretReference(SecretBytes(copying: value))
    }

    private static func endWord(_ bytes: Span<UInt8>, _ number: Int) throws -> String {
        guard (1...32).contains(bytes.count), let word = text(bytes),
            word.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: false
                }
            })
        else { throw DocumentProblem(line: number, reason: .badEnd) }
        return word
    }

    /// Bytes that are not secret, as text.
    private static func text(_ bytes: Span<UInt8>) -> String? {
        String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }

    // MARK: - Bytes

    /// Whether a name that begins so is written with a backslash.
    private static func isSpecial(_ byte: UInt8) -> Bool { "#@\\ \t".utf8.contains(byte) }

    /// UTF-8 without control characters, except tab and the end of a line. Editors change other bytes.
    private static func isPlainText(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 && byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\t") || byte == 0x7F { return false }
        }
        return (try? UTF8Span(validating: bytes)) != nil
    }

    private static func contains(_ bytes: Span<UInt8>, _ byte: UInt8) -> Bool {
        bytes.indices.contains { bytes[$0] == byte }
    }

    private static func begins(_ bytes: Span<UInt8>, with text: String) -> Bool {
        bytes.count >= text.utf8.count && isSame(bytes.extracting(0..<text.utf8.count), text)
    }

    private static func isSame(_ bytes: Span<UInt8>, _ text: String) -> Bool {
        bytes.count == text.utf8.count && zip(bytes.indices, text.utf8).allSatisfy { bytes[$0] == $1 }
    }
}

/// Where the lines of a text begin and end. A newline ends a line, and none begins after the last one.
private struct TextLines {
    private(set) var ranges: [Range<Int>] = []

    init(of bytes: Span<UInt8>) {
        var start = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") {
            ranges.append(start..<index)
            start = index + 1
        }
        if start < bytes.count { ranges.append(start..<bytes.count) }
    }
}

extension SecretBuffer {
    fileprivate mutating func append(line: String) {
        append(line.utf8Span.span)
        append(UInt8(ascii: "\n"))
    }
}
