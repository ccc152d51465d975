// CSV in the form of RFC 4180, with the names of columns that CSVReader and other programs know.

internal import OMItems
package import OMSecrets

/// Writes entries as CSV, and says what a line of CSV cannot hold.
package struct CSVWriter: ~Copyable {
    /// The losses of each entry, in the entries' order.
    package let losses: [[ForeignLoss]]
    private let file: SecretBytes

    private static let standard = ["folder", "title", "url", "username", "password", "notes", "otp", "email", "tags", "type"]

    package init(_ entries: [ForeignEntry]) {
        var text = SecretBuffer(capacity: 1 << 16)
        let others = Self.furtherColumns(of: entries)
        for (index, name) in (Self.standard + others).enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            Self.cell(name, to: &text)
        }
        Self.end(&text)
        var losses: [[ForeignLoss]] = []
        for entry in entries { losses.append(Self.line(entry, others, to: &text)) }
        self.losses = losses
        file = text.finish()
    }

    package consuming func finish() -> SecretBytes { file }

    /// The names of fields without a column of their own, in the order in which they are found, as many as a reader takes.
    private static func furtherColumns(of entries: [ForeignEntry]) -> [String] {
        var (names, seen): ([String], Set<String>) = ([], [])
        for entry in entries {
            for field in entry.fields where column(of: field, in: entry) == nil && field.role != .attachment {
                guard names.count < CSVMap.maximumColumns - standard.count else { return names }
                if seen.insert(field.name).inserted { names.append(field.name) }
            }
        }
        return names
    }

    /// The standard column of a field. Nil for a field under its own name: of several addresses only the first has one.
    private static func column(of field: ForeignField, in entry: ForeignEntry) -> String? {
        guard let name = field.role.standardName, entry.fields.first(where: { $0.role == field.role }) === field else {
            return nil
        }
        return name
    }

    private static func line(_ entry: ForeignEntry, _ others: [String], to text: inout SecretBuffer) -> [ForeignLoss] {
        var losses: [ForeignLoss] = []
        var (byColumn, byName): ([String: ForeignField], [String: ForeignField]) = ([:], [:])
        for field in entry.fields {
            if field.role == .attachment {
                losses.append(.attachment(field.name))
            } else if let column = column(of: field, in: entry) {
                byColumn[column] = field
            } else if others.contains(field.name) {
                byName[field.name] = field
            } else {
                losses.append(.member("the field \"\(field.name)\""))
            }
            // An empty cell and no field are the same.
            if field.role != .attachment, field.value.count == 0 { losses.append(.member("the empty field \"\(field.name)\"")) }
        }
        if entry.expires != nil { losses.append(.time("expires")) }
        let (folder, title) = place(of: entry)
        for (index, name) in standard.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            switch name {
            case "folder": cell(folder, to: &text)
            case "title": cell(title, to: &text)
            case "tags": cell(entry.tags.joined(separator: ","), to: &text)
            case "type": cell(entry.type?.rawValue ?? "", to: &text)
            default: if let field = byColumn[name] { field.value.withBytes { cell($0, to: &text) } }
            }
        }
        for name in others {
            text.append(UInt8(ascii: ","))
            if let field = byName[name] { field.value.withBytes { cell($0, to: &text) } }
        }
        end(&text)
        return losses
    }

    /// The folder and the title. A folder that readers would split in another way is a part of the title.
    private static func place(of entry: ForeignEntry) -> (folder: String, title: String) {
        let isPlain = entry.folders.allSatisfy { $0 == $0.trimmedBlanks && !$0.contains("\\") } && entry.folders.first != "Root"
        return isPlain
            ? (entry.folders.joined(separator: "/"), entry.title) : ("", (entry.folders + [entry.title]).joined(separator: "/"))
    }

    private static func cell(_ name: String, to text: inout SecretBuffer) {
        var name = name
        name.withUTF8 { cell($0.span, to: &text) }
    }

    /// The bytes, in quotes if a reader could take them for more than one cell.
    private static func cell(_ bytes: Span<UInt8>, to text: inout SecretBuffer) {
        guard bytes.indices.contains(where: { needsQuotes(bytes[$0]) }) else { return text.append(bytes) }
        text.append(UInt8(ascii: "\""))
        for index in bytes.indices {
            if bytes[index] == UInt8(ascii: "\"") { text.append(UInt8(ascii: "\"")) }
            text.append(bytes[index])
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: ";"), 0...0x20: true
        default: false
        }
    }

    private static func end(_ text: inout SecretBuffer) {
        text.append(UInt8(ascii: "\r"))
        text.append(UInt8(ascii: "\n"))
    }
}
