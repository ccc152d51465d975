// Rows as text, in each format that has rows.

internal import OMShell

/// Rows under a header, before the format is chosen. A cell may hold any text from outside.
struct RowText {
    let rows: [[String]]
    let header: [Column]

    /// For people: columns aligned with blanks.
    var table: String {
        let rows = [header.map { $0.title + ($0.isOfTimes ? " (\(LocalTime.zone))" : "") }] + shownRows
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                column == row.count - 1 ? text : text + String(repeating: " ", count: widths[column] - text.count + 2)
            }.joined() + "\n"
        }.joined()
    }

    /// For scripts: separated by tabs, without a header.
    var plain: String { shownRows.map { $0.joined(separator: "\t") + "\n" }.joined() }

    /// Plain rows that end with a NUL byte, with nothing escaped but that byte.
    ///
    /// Attack: a name with a NUL byte in it forges another record.
    var nul: String {
        rows.map { row in
            row.map { $0.replacing("\0", with: "\\u{0}") }.joined(separator: "\t") + "\0"
        }.joined()
    }

    /// RFC 4180: a header, records that end with CRLF, and quotes around a field that needs them.
    ///
    /// - Parameter withHeader: Whether the names of the columns come first.
    func csv(withHeader: Bool) -> String {
        ((withHeader ? [header.map(\.name)] : []) + shownRows.map { $0.map(Self.inert) })
            .map { $0.map(Self.field).joined(separator: ",") + "\r\n" }.joined()
    }

    private var shownRows: [[String]] { rows.map { $0.map(\.shown) } }

    /// Attack: a name that begins with = + - or @ is a formula when a spreadsheet opens the file. The formula sends other cells
    /// to a server, or starts a program. Behind an apostrophe it is text. A cell that begins with an apostrophe gets one more,
    /// so that a reader who drops one apostrophe has every cell as it was. A single dash is no formula: it means "none".
    private static func inert(_ cell: String) -> String {
        guard let first = cell.utf8.first, "=+-@'".utf8.contains(first), cell != "-" else { return cell }
        return "'" + cell
    }

    private static func field(_ text: String) -> String {
        guard text.utf8.contains(where: { "\",\r\n".utf8.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}
