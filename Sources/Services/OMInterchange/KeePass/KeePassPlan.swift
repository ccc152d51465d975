// What becomes of entries in KeePass's XML, before any of it is written.

internal import OMSecrets

/// Groups, strings and attachments of entries, under names that KeePass takes.
final class KeePassPlan {
    struct Text {
        let name: String
        let field: ForeignField
        let isProtected: Bool
    }

    struct Entry {
        let entry: ForeignEntry
        let isTitleProtected: Bool
        let tags: [String]
        fileprivate(set) var texts: [Text] = []
        /// Names and numbers.
        fileprivate(set) var attachments: [(name: String, number: Int)] = []
    }

    final class Group {
        let name: String
        private(set) var groups: [Group] = []
        /// By the bytes of their names: equal strings can have different ones.
        private var byName: [[UInt8]: Group] = [:]
        fileprivate(set) var entries: [Entry] = []

        init(_ name: String) { self.name = name }

        func group(_ name: String) -> Group {
            if let known = byName[Array(name.utf8)] { return known }
            let new = Group(name)
            groups.append(new)
            byName[Array(name.utf8)] = new
            return new
        }
    }

    let root = Group("Root")
    /// Nil if nothing is in the trash.
    private(set) var trash: Group?
    private(set) var attachments: [ForeignField] = []
    private(set) var changes: [ForeignChange] = []

    /// Fewer than the reader's limit, with the root and the recycle bin.
    private static let mostFolders = 90
    private static let standardNames: [ForeignField.Role: String] = [
        .username: "UserName", .password: "Password", .url: "URL", .notes: "Notes",
    ]

    /// - Throws: ``InterchangeError/tooMuch(_:)`` for what the reader would refuse.
    init(_ entries: [ForeignEntry], _ limits: KeePassLimits) throws(InterchangeError) {
        guard entries.count <= limits.entries else { throw .tooMuch("entries") }
        var fields = 0, attached = 0, bytes = 0
        for (number, entry) in entries.enumerated() {
            let made = add(number, entry)
            // The title is one too, and the type.
            fields += made.texts.count + made.attachments.count + made.tags.count + 2
            guard fields <= limits.fields else { throw .tooMuch("fields") }
            for attachment in attachments[attached...] { bytes += attachment.value.count }
            guard bytes <= limits.attachmentBytes else { throw .tooMuch("bytes of attachments") }
            attached = attachments.count
        }
    }

    private func add(_ number: Int, _ entry: ForeignEntry) -> Entry {
        var group = root
        if entry.isTrashed {
            let bin = trash ?? Group("Recycle Bin")
            trash = bin
            group = bin
        }
        var folders = entry.folders
        if folders.count > Self.mostFolders {
            let last = folders[(Self.mostFolders - 1)...].joined(separator: "/")
            folders = folders.prefix(Self.mostFolders - 1) + [last]
            note(number, .renamed(entry.folders.last ?? "", to: last))
        }
        for folder in folders { group = group.group(plain(folder, number)) }
        var title = entry.title
        let isTitleProtected = !title.withUTF8 { Self.fitsXML($0.span) }
        if isTitleProtected { note(number, .concealed("Title")) }
        let tags = entry.tags.map { plain($0, number, without: [UInt8(ascii: ";"), UInt8(ascii: ",")]) }
        var made = Entry(entry: entry, isTitleProtected: isTitleProtected, tags: tags)
        let oneTime = KeePassOneTimeChoice(of: entry)
        var used = Names(Self.standardNames.values + ["Title"] + oneTime.names), usedOfAttachments = Names([])
        var roles: Set<ForeignField.Role> = []
        for field in entry.fields {
            guard field.role != .attachment, field.isText else {
                if field.role != .attachment { note(number, .attached(field.name)) }
                made.attachments.append((free(field.name, number, &usedOfAttachments), attachments.count))
                attachments.append(field)
                continue
            }
            if field === oneTime.counted?.field, let counted = oneTime.counted {
                note(number, .renamed(field.name, to: counted.fields[0].name))
                made.texts += counted.fields.map { Text(name: $0.name, field: $0, isProtected: true) }
                continue
            }
            let name: String
            if field === oneTime.timed {
                name = KeePassOneTimePassword.uri
            } else if let standard = Self.standardNames[field.role], roles.insert(field.role).inserted {
                name = standard
            } else if field.role == .url {
                name = used.take(KeePassEntry.moreURLs, from: 1) { "\(KeePassEntry.moreURLs)_\($0)" }
            } else {
                name = free(
                    field.name.isEmpty
                        ? Self.standardNames[field.role] ?? (field.role == .otp ? KeePassOneTimePassword.uri : "") : field.name,
                    number, &used)
            }
            let fits = field.value.withBytes { Self.fitsXML($0) }
            let isProtected = field.isConcealed || field.role == .password || field.role == .otp
            if !fits, !isProtected { note(number, .concealed(field.name)) }
            made.texts.append(Text(name: name, field: field, isProtected: isProtected || !fits))
        }
        group.entries.append(made)
        return made
    }

    private func note(_ entry: Int, _ kind: ForeignChange.Kind) { changes.append(ForeignChange(entry: entry, kind: kind)) }

    /// The name, or the first of `name (2)`, `name (3)` that is free.
    private func free(_ name: String, _ entry: Int, _ used: inout Names) -> String {
        let plain = plain(name.isEmpty ? "field" : name, entry)
        let free = used.take(plain, from: 2) { "\(plain) (\($0))" }
        if free != plain { note(entry, .renamed(name, to: free)) }
        return free
    }

    /// The name without the characters that XML, or a list of tags, cannot have.
    private func plain(_ name: String, _ entry: Int, without others: [UInt8] = []) -> String {
        var plain = name
        let fits = plain.withUTF8 { bytes in
            Self.fitsXML(bytes.span) && (others.isEmpty || !bytes.contains { others.contains($0) })
        }
        if fits { return name }
        let kept = name.unicodeScalars.map { scalar -> Unicode.Scalar in
            let isOther = scalar.isASCII && others.contains(UInt8(truncatingIfNeeded: scalar.value))
            return isOther || !Self.isXML(scalar) ? "\u{FFFD}" : scalar
        }
        plain = String(String.UnicodeScalarView(kept))
        note(entry, .renamed(name, to: plain))
        return plain
    }

    private static func isXML(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 ? scalar.value != 0xFFFE && scalar.value != 0xFFFF : scalar == "\t" || scalar == "\n"
    }

    /// Whether UTF-8 text has only characters that XML 1.0 can have and that come back as they were. A carriage return can be
    /// escaped, but programs differ in what they make of it.
    static func fitsXML(_ text: Span<UInt8>) -> Bool {
        text.withPointer { bytes, count in
            for index in 0..<count {
                let byte = bytes[index]
                if byte < 0x20 {
                    if byte != 0x09, byte != 0x0A { return false }
                } else if byte == 0xEF, index + 2 < count, bytes[index + 1] == 0xBF, bytes[index + 2] >= 0xBE {
                    return false
                }
            }
            return true
        }
    }
}

extension ForeignField {
    /// Whether the value is UTF-8.
    var isText: Bool { value.withBytes { (try? UTF8Span(validating: $0)) != nil } }
}

/// The names that an entry has so far.
private struct Names {
    /// Their bytes: KeePass does not take two spellings of a character for one.
    private var used: Set<[UInt8]>
    /// The number to try next, by name.
    private var next: [[UInt8]: Int] = [:]

    init(_ used: [String]) { self.used = Set(used.map { Array($0.utf8) }) }

    /// The name if it is free, else the first free one with a number.
    mutating func take(_ name: String, from first: Int, _ numbered: (Int) -> String) -> String {
        let bytes = Array(name.utf8)
        if used.insert(bytes).inserted { return name }
        var number = next[bytes] ?? first
        while !used.insert(Array(numbered(number).utf8)).inserted { number += 1 }
        next[bytes] = number + 1
        return numbered(number)
    }
}
