// A decrypted file of pass or gopass: the first line is the password, then come lines `name: value` and text.

internal import OMItems
internal import OMSecrets

/// An entry while its lines are read.
struct PassEntry {
    private var entry: ForeignEntry
    /// The lines of no field, in their order. Lines that follow each other are one range.
    private var notes: [Range<Int>] = []
    /// Whether a field comes after other text, so that the text cannot be put together again from the fields and the notes.
    private var isMixed = false

    /// The most fields of an entry. A text with more of such lines is a list.
    private static let maximumFields = 200

    private init(title: String, folders: [String]) {
        entry = ForeignEntry(title: title)
        entry.folders = folders
    }

    /// - Parameter path: The folders and the name, without the file's ending.
    static func read(_ path: String, _ bytes: Span<UInt8>) -> ForeignEntry {
        var names = path.split(separator: "/").map(String.init)
        let name = names.popLast() ?? ""
        let isBase64 = name.hasSuffix(".b64")
        // gopass stored files in this form.
        if isBase64, let content = PassBase64.decode(whole: bytes) {
            return file(String(name.dropLast(4)), names, content)
        }
        guard (try? UTF8Span(validating: bytes)) != nil else { return file(name, names, SecretBytes(copying: bytes)) }
        var read = PassEntry(title: name, folders: names)
        // A key in the form of PEM is one text, and has no password before it.
        guard !bytes.starts(with: Array("-----BEGIN ".utf8)) else {
            read.entry.fields = [ForeignField("", .notes, isConcealed: true, SecretBytes(copying: bytes))]
            read.entry.type = .note
            return read.entry
        }
        return read.addLines(bytes)
    }

    private static func file(_ title: String, _ folders: [String], _ content: consuming SecretBytes) -> ForeignEntry {
        var entry = ForeignEntry(title: title)
        entry.folders = folders
        entry.type = .file
        entry.fields.append(ForeignField("content", .attachment, isConcealed: true, content))
        return entry
    }

    // MARK: - Lines

    private mutating func addLines(_ bytes: Span<UInt8>) -> ForeignEntry {
        var lines = PassLines(bytes)
        guard let first = lines.next(in: bytes) else { return entry }
        // gopass once wrote this form: header lines, an empty line, text.
        let isHeaded = PassLine.isSame(first, "GOPASS-SECRET-1.0", in: bytes)
        if !isHeaded { addFirst(first, bytes) }
        let own = entry.fields
        var body = lines.start..<bytes.count
        var isInHead = isHeaded
        while let line = lines.next(in: bytes) {
            if isInHead, line.isEmpty {
                isInHead = false
                body = lines.start..<bytes.count
                continue
            }
            // The lines below belong to it: a list or a block of YAML.
            let isBegun = lines.peek(in: bytes).map { PassLine.isIndented($0, in: bytes) } ?? false
            if isBegun || isHeaded && !isInHead || !addField(line, isInHead: isInHead, bytes) { addText(line, in: bytes) }
            if entry.fields.count > Self.maximumFields {
                entry.fields = own
                isMixed = true
                break
            }
        }
        if isMixed { notes = [body] }
        return finished(bytes)
    }

    private mutating func addText(_ line: Range<Int>, in bytes: Span<UInt8>) {
        guard let last = notes.last else {
            if !line.isEmpty { notes.append(line) }
            return
        }
        // Between two lines there is the end of the first one alone.
        guard line.lowerBound - last.upperBound <= 2 else { return notes.append(line) }
        notes[notes.count - 1] = last.lowerBound..<line.upperBound
    }

    private mutating func addFirst(_ line: Range<Int>, _ bytes: Span<UInt8>) {
        guard !addAddress(line, bytes), !line.isEmpty else { return }
        entry.fields.append(ForeignField("", .password, isConcealed: true, SecretBytes(copying: bytes.extracting(line))))
    }

    /// A line that is the address of a one-time password.
    private mutating func addAddress(_ line: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        let text = PassLine.trimmed(line, in: bytes)
        guard bytes.extracting(text).starts(with: Array("otpauth://".utf8)) else { return false }
        entry.fields.append(ForeignField("", .otp, isConcealed: true, SecretBytes(copying: bytes.extracting(text))))
        return true
    }

    private mutating func addField(_ line: Range<Int>, isInHead: Bool, _ bytes: Span<UInt8>) -> Bool {
        if addAddress(line, bytes) { return true }
        guard let (name, value) = PassLine.field(line, in: bytes) else { return false }
        // gopass's mark between the password and YAML is no text.
        if !isInHead, let first = notes.first, notes.count > 1 || !PassLine.isSame(first, "---", in: bytes) { isMixed = true }
        let key = name.lowercased()
        let role = PassLine.role(of: key)
        // In the middle of a text only a usual field is one, and the text has it too.
        guard !isMixed || role != .other else { return false }
        let secret = SecretBytes(copying: bytes.extracting(role == .other ? value : PassLine.trimmed(value, in: bytes)))
        if isInHead, key == "password" {
            entry.fields.append(ForeignField("", .password, isConcealed: true, secret))
            return true
        }
        switch role {
        case .otp:
            let address = ForeignOTP.address(secret)
            let isAddress = address.withBytes { $0.starts(with: Array("otpauth://".utf8)) }
            entry.fields.append(ForeignField(isAddress ? "" : name, isAddress ? .otp : .other, isConcealed: true, address))
        case .other: entry.fields.append(ForeignField(name, .other, isConcealed: true, secret))
        case let role: entry.fields.append(ForeignField("", role, isConcealed: false, secret))
        }
        return true
    }

    // MARK: - The end

    private func finished(_ bytes: Span<UInt8>) -> ForeignEntry {
        var entry = entry
        // gopass's mark says nothing by itself.
        let isMark = !isMixed && notes.count == 1 && PassLine.isSame(notes[0], "---", in: bytes)
        if let last = notes.last, !isMark {
            var text = SecretBuffer(capacity: notes.reduce(0) { $0 + $1.count + 1 })
            for part in notes {
                if part != notes.first { text.append(UInt8(ascii: "\n")) }
                var part = part
                // Empty lines at the end go, save where the whole text stays.
                if part == last, !isMixed { part = PassLine.withoutEmptyLines(part, in: bytes) }
                text.append(bytes.extracting(part))
            }
            entry.fields.append(ForeignField("", .notes, isConcealed: true, text.finish()))
        }
        PassBase64.unpack(&entry)
        if entry.type == nil { entry.type = Self.type(of: entry) }
        return entry
    }

    private static func type(of entry: ForeignEntry) -> ItemType? {
        if entry.fields.contains(where: { $0.role == .password || $0.role == .username }) { return .login }
        return !entry.fields.isEmpty && entry.fields.allSatisfy({ $0.role == .otp }) ? .totp : nil
    }
}
