// CSV of browsers and password managers: RFC 4180, with commas, semicolons or tabs.

internal import OMItems
package import OMSecrets

enum CSVReader {
    static func read(
        _ secret: borrowing SecretBytes, map: CSVMap?, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        try secret.withBytes { (bytes: Span<UInt8>) throws(InterchangeError) in try read(bytes, map, take) }
    }

    private static func read(
        _ bytes: Span<UInt8>, _ given: CSVMap?, _ take: (ForeignEntry) throws(InterchangeError) -> Void
    ) throws(InterchangeError) -> ForeignSummary {
        try ForeignText.checkUTF8(bytes)
        let delimiter = given?.delimiter ?? CSVRecords.delimiter(of: bytes)
        var records = CSVRecords(delimiter: delimiter, in: bytes)
        var header: [String] = []
        if given?.hasHeader ?? true {
            guard let cells = try records.next(in: bytes) else { throw .otherFormat }
            header = cells.map { ForeignText.string($0.value(in: bytes)).trimmedBlanks }
        }
        if let given {
            // The names of the first line can be values: a message has none of them.
            var first = records
            let found = try given.hasHeader ? header.count : first.next(in: bytes)?.count ?? given.columns.count
            guard found == given.columns.count else {
                throw .otherMap("the map has \(given.columns.count) columns, and the file's first line \(found)")
            }
        }
        let map: CSVMap
        if let given {
            map = CSVMap(delimiter: delimiter, hasHeader: given.hasHeader, columns: given.columns)
        } else {
            map = try CSVMap.chosen(for: header, delimiter: delimiter)
        }
        let dialect = CSVDialect(header)
        records.hasBackslashes = dialect.hasBackslashes
        var count = 0
        while let cells = try records.next(in: bytes) {
            // A spreadsheet's row of delimiters alone.
            guard cells.contains(where: { !$0.isEmpty }) else { continue }
            count += 1
            guard count <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
            try take(entry(cells, map, dialect, in: bytes))
        }
        return ForeignSummary(losses: losses(of: map, header), map: map)
    }

    /// The columns that are left out. Without a first line of names they have none.
    private static func losses(of map: CSVMap, _ header: [String]) -> [ForeignLoss] {
        map.columns.indices.filter { map.columns[$0] == .skipped }.map { index in
            let name = index < header.count ? header[index] : ""
            if name.isEmpty { return .member(CSVMap.name(of: index)) }
            return CSVMap.isUnneeded(name) ? .unneeded(name) : .member(name)
        }
    }

    private static func entry(
        _ cells: [CSVCell], _ map: CSVMap, _ dialect: CSVDialect, in bytes: Span<UInt8>
    ) -> ForeignEntry {
        var entry = ForeignEntry(title: "")
        var isNote = false
        for (index, cell) in cells.enumerated() where !cell.isEmpty {
            let value = cell.value(in: bytes)
            switch index < map.columns.count ? map.columns[index] : .field(CSVMap.name(of: index)) {
            case .title: entry.title = ForeignText.string(value).trimmedBlanks
            case .folder: entry.folders = dialect.folders(ForeignText.string(value))
            case .tags: entry.tags += tags(ForeignText.string(value))
            case .type:
                let name = ForeignText.string(value)
                isNote = ["note", "secure note", "securenote"].contains(name.lowercased())
                entry.type = ["login", "password", "website"].contains(name.lowercased()) ? .login : isNote ? .note : nil
                // A card or an identity: its name of the type is kept.
                if entry.type == nil { entry.fields.append(ForeignField("type", .other, isConcealed: false, value)) }
            case .favorite:
                if ["1", "true", "yes"].contains(ForeignText.string(value).lowercased()) { entry.tags.append("favorite") }
            case .username: entry.fields.append(ForeignField("", .username, isConcealed: false, value))
            case .password: entry.fields.append(ForeignField("", .password, isConcealed: true, value))
            case .url:
                // What LastPass writes for a note.
                if value.isEqual(to: ForeignText.value("http://sn")) {
                    entry.type = .note
                } else {
                    entry.fields.append(ForeignField("", .url, isConcealed: false, value))
                }
            case .notes: entry.fields.append(ForeignField("", .notes, isConcealed: false, value))
            case .otp: entry.fields.append(ForeignField("", .otp, isConcealed: true, ForeignOTP.address(value)))
            case .email: entry.fields.append(ForeignField("", .email, isConcealed: false, value))
            case .field(let name): entry.fields.append(ForeignField(name, .other, isConcealed: true, value))
            case .skipped: break
            }
        }
        return entry
    }

    private static func tags(_ list: String) -> [String] {
        list.split { $0 == "," || $0 == ";" }.map { String($0).trimmedBlanks }.filter { !$0.isEmpty }
    }
}

/// What a program writes other than the rest do. Its first line tells the program.
private struct CSVDialect {
    /// KeePass 1 writes `\"` and `\\` inside quotes.
    let hasBackslashes: Bool
    /// LastPass writes a folder within a folder as `a\b`. In the others a backslash is a part of the name.
    private let splitsAtBackslash: Bool
    /// KeePassXC writes its own top group before all others.
    private let hasTopGroup: Bool

    init(_ header: [String]) {
        let names = header.map { $0.lowercased() }
        hasBackslashes = names == ["account", "login name", "password", "web site", "comments"]
        splitsAtBackslash = names.contains("grouping")
        hasTopGroup = names.starts(with: ["group", "title", "username", "password", "url", "notes"])
    }

    func folders(_ path: String) -> [String] {
        let parts = path.split { $0 == "/" || splitsAtBackslash && $0 == "\\" }
        let names = parts.map { String($0).trimmedBlanks }.filter { !$0.isEmpty }
        return hasTopGroup && names.first == "Root" ? Array(names.dropFirst()) : names
    }
}

extension String {
    /// Without blanks and line ends around it.
    var trimmedBlanks: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
