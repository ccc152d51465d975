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
        let map: CSVMap
        if let given { map = given } else { map = try CSVMap.chosen(for: header, delimiter: delimiter) }
        var count = 0
        while let cells = try records.next(in: bytes) {
            count += 1
            guard count <= ForeignReader.maximumEntries else { throw .tooMuch("entries") }
            try take(entry(cells, map, in: bytes))
        }
        let skipped = zip(header, map.columns).filter { $0.1 == .skipped && !$0.0.isEmpty }
        return ForeignSummary(losses: skipped.map { .member($0.0) }, map: map)
    }

    private static func entry(_ cells: [CSVCell], _ map: CSVMap, in bytes: Span<UInt8>) -> ForeignEntry {
        var entry = ForeignEntry(title: "")
        var isNote = false
        for (index, cell) in cells.enumerated() where !cell.isEmpty {
            let value = cell.value(in: bytes)
            switch index < map.columns.count ? map.columns[index] : .field("column \(index + 1)") {
            case .title: entry.title = ForeignText.string(value).trimmedBlanks
            case .folder: entry.folders = folders(ForeignText.string(value))
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

    /// Folders within folders: `a/b` of most programs, `a\b` of LastPass.
    private static func folders(_ path: String) -> [String] {
        let parts = path.split { $0 == "/" || $0 == "\\" }.map { String($0).trimmedBlanks }.filter { !$0.isEmpty }
        // KeePassXC's own top group.
        return parts.first == "Root" ? Array(parts.dropFirst()) : parts
    }

    private static func tags(_ list: String) -> [String] {
        list.split { $0 == "," || $0 == ";" }.map { String($0).trimmedBlanks }.filter { !$0.isEmpty }
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
