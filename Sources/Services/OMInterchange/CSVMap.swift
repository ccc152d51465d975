// What the columns of a CSV file are: as the user says, or as the file's first line is understood.

internal import OMJSON

/// The columns of a CSV file, in their order. As JSON:
///
///     {"delimiter": ",", "header": true, "columns": ["title", "url", "username", "password", "field:PIN", "-"]}
package struct CSVMap: Hashable, Sendable {
    /// What a column is.
    package enum Column: Hashable, Sendable {
        case title, folder, tags, type, favorite
        case username, password, url, notes, otp, email
        /// A concealed field of this name.
        case field(String)
        /// The column is not taken over.
        case skipped

        /// As the JSON has it.
        package var name: String {
            switch self {
            case .field(let name): "field:\(name)"
            case .skipped: "-"
            default: Self.plain.first { $0.column == self }?.name ?? ""
            }
        }

        package init?(named name: String) {
            if name == "-" {
                self = .skipped
            } else if name.hasPrefix("field:"), name.utf8.count > 6 {
                self = .field(String(name.dropFirst(6)))
            } else if let plain = Self.plain.first(where: { $0.name == name }) {
                self = plain.column
            } else {
                return nil
            }
        }

        private static let plain: [(name: String, column: Column)] = [
            ("title", .title), ("folder", .folder), ("tags", .tags), ("type", .type), ("favorite", .favorite),
            ("username", .username), ("password", .password), ("url", .url), ("notes", .notes), ("otp", .otp), ("email", .email),
        ]

        /// The names of all columns but `field:NAME`.
        package static let names = plain.map(\.name) + ["-"]
    }

    /// A comma, a semicolon or a tab. Nil to find out.
    package let delimiter: UInt8?
    /// Whether the first line has names and no values.
    package let hasHeader: Bool
    package let columns: [Column]

    package static let delimiters = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
    package static let maximumColumns = 256

    package init(delimiter: UInt8?, hasHeader: Bool, columns: [Column]) {
        (self.delimiter, self.hasHeader, self.columns) = (delimiter, hasHeader, columns)
    }

    /// - Returns: nil unless the bytes are such a JSON object.
    package init?(parsing bytes: Span<UInt8>) {
        guard let members = (try? JSON(parsing: bytes))?.members,
            Set(members.keys).isSubset(of: ["delimiter", "header", "columns"]), let names = members["columns"]?.elements
        else { return nil }
        var columns: [Column] = []
        for name in names {
            guard let text = name.text, let column = Column(named: text) else { return nil }
            columns.append(column)
        }
        guard (1...Self.maximumColumns).contains(columns.count), columns.contains(where: { $0 != .skipped }) else { return nil }
        // An entry has one of each: the second would replace the first.
        guard [Column.title, .folder, .type].allSatisfy({ single in columns.count { $0 == single } < 2 }) else { return nil }
        var delimiter: UInt8?
        if let given = members["delimiter"] {
            let bytes = given.text.map { Array($0.utf8) } ?? []
            guard bytes.count == 1, Self.delimiters.contains(bytes[0]) else { return nil }
            delimiter = bytes[0]
        }
        var hasHeader = true
        if let header = members["header"] {
            guard case .bool(let flag) = header else { return nil }
            hasHeader = flag
        }
        self.init(delimiter: delimiter, hasHeader: hasHeader, columns: columns)
    }

    /// The JSON, which ``init(parsing:)`` reads.
    package var text: String {
        let names = columns.map { JSONText.quoted($0.name) }.joined(separator: ", ")
        let start = delimiter.map { "\"delimiter\": \(JSONText.quoted(String(Unicode.Scalar($0)))), " } ?? ""
        return "{\(start)\"header\": \(hasHeader), \"columns\": [\(names)]}"
    }
}

extension CSVMap {
    /// The map of a file without one: its first line must name a column that omvault knows.
    ///
    /// - Throws: ``InterchangeError/unsupported(_:remedy:)`` if it names none.
    static func chosen(for header: [String], delimiter: UInt8) throws(InterchangeError) -> CSVMap {
        var seen: Set<Column> = []
        guard header.reduce(0, { $0 + $1.utf8.count }) <= maximumNames else { throw .tooMuch("bytes of columns' names") }
        let columns = header.enumerated().map { index, cell in
            let name = cell.lowercased()
            if ignored.contains(name) { return Column.skipped }
            if name.isEmpty { return .field(Self.name(of: index)) }
            // Of two columns for one thing the second keeps its own name.
            guard let column = known[name], seen.insert(column).inserted else { return .field(cell) }
            return column
        }
        guard columns.contains(where: { known.values.contains($0) }) else {
            throw .unsupported(
                "a CSV file whose first line names no column that omvault knows", remedy: "say what the columns are: --map FILE")
        }
        return CSVMap(delimiter: delimiter, hasHeader: true, columns: columns)
    }

    /// What a column without a name is called.
    static func name(of index: Int) -> String { "column \(index + 1)" }

    /// The most bytes of the first line.
    private static let maximumNames = 64 << 10

    /// Whether a column of this name is not needed in a vault.
    static func isUnneeded(_ name: String) -> Bool { ignored.contains(name.lowercased()) }

    /// The names that browsers and password managers write: Chrome, Edge, Firefox, Safari, Bitwarden, LastPass, 1Password,
    /// KeePassXC, KeePass, Dashlane, NordPass, Proton Pass, Enpass, RoboForm.
    private static let known: [String: Column] = [
        "title": .title, "name": .title, "account": .title, "item name": .title,
        "folder": .folder, "group": .folder, "grouping": .folder, "category": .folder, "vault": .folder, "collections": .folder,
        "tags": .tags, "type": .type,
        "favorite": .favorite, "favourite": .favorite, "fav": .favorite,
        "username": .username, "user name": .username, "login_username": .username, "login name": .username, "login": .username,
        "user": .username,
        "password": .password, "login_password": .password, "pwd": .password,
        "url": .url, "login_uri": .url, "website": .url, "web site": .url, "urls": .url, "uri": .url,
        "notes": .notes, "note": .notes, "extra": .notes, "comments": .notes, "comment": .notes,
        "totp": .otp, "login_totp": .otp, "otpauth": .otp, "otpsecret": .otp, "otpurl": .otp, "otp": .otp,
        "email": .email, "e-mail": .email,
    ]

    /// Columns that mean something to their program alone, and times: an item's own times are those of the import.
    private static let ignored: Set<String> = [
        "guid", "formactionorigin", "timecreated", "timelastused", "timepasswordchanged", "icon", "last modified", "created",
        "createtime", "modifytime", "reprompt", "archived", "created at", "updated at",
    ]
}
