internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// The rows of an item with its secrets, as one text. If a value cannot be shown, nothing is printed.
///
/// A value of several lines is a block beneath its field's name. Without alignment each of its lines is a row of that field.
struct SecretTable: ~Copyable {
    let text: SecretBytes

    /// - Parameters:
    ///   - rows: The rows without secrets, of two columns.
    ///   - isAligned: Whether the rows are aligned under a header. If not, tabs separate the columns.
    /// - Throws: ``ExitStatus/usage`` if a value is not text.
    init(_ rows: [[String]], _ values: borrowing FieldValues, of item: Item, isAligned: Bool) throws(Failure) {
        let rows = (isAligned ? [ShownItem.header] : []) + rows.map { $0.map(\.shown) }
        let width = (rows.map { $0[0].count } + values.names.map { $0.text.shown.count }).max() ?? 0
        func column(_ name: String) -> String {
            isAligned ? name + String(repeating: " ", count: width + 2 - name.count) : name + "\t"
        }
        var buffer = SecretBuffer()
        for row in rows { buffer.append(Array("\(column(row[0]))\(row[1])\n".utf8).span) }
        try values.forEach { (field, secret) throws(Failure) in
            guard secret.withBytes(Self.isText) else {
                throw Failure(
                    .usage, "the value of \(field.text) is not text",
                    hint: "--json shows it; omvault get \("\(item.name.text):\(field.text)".asShellWord) prints its bytes")
            }
            let name = column(field.text.shown)
            // Attack: a secret with a newline and a tab in it forges another field's row.
            Self.append(secret, to: &buffer, first: name, next: isAligned ? column("") : name)
        }
        // Too large for a table.
        for field in item.fields where !values.names.contains(field.name) {
            let command = "omvault get \(item.name.shellReference(to: field.name.text)) > FILE"
            buffer.append(Array("\(column(field.name.text.shown))(\(field.count) bytes; \(command))\n".utf8).span)
        }
        text = buffer.finish()
    }

    /// - Parameters:
    ///   - first: The text before the first line.
    ///   - next: The text before each further line.
    private static func append(
        _ secret: borrowing SecretBytes, to buffer: inout SecretBuffer, first: String, next: String
    ) {
        let (first, next) = (Array(first.utf8), Array(next.utf8))
        buffer.append(first.span)
        secret.withBytes { bytes in
            for index in bytes.indices {
                buffer.append(bytes[index])
                // The newline at the value's end begins no further line.
                if bytes[index] == newline, index + 1 < bytes.count { buffer.append(next.span) }
            }
            if bytes.isEmpty || bytes[bytes.count - 1] != newline { buffer.append(newline) }
        }
    }

    private static let newline = UInt8(ascii: "\n")

    private static func isText(_ bytes: Span<UInt8>) -> Bool {
        bytes.indices.allSatisfy { bytes[$0] >= 0x20 || bytes[$0] == newline || bytes[$0] == UInt8(ascii: "\t") }
    }
}
