// A decrypted file of pass or gopass: the first line is the password, then come lines `name: value` and text.

internal import OMItems
internal import OMSecrets

/// An entry while its lines are read.
struct PassEntry {
    private var entry: ForeignEntry
    /// The lines of no field, in their order.
    private var notes: [Range<Int>] = []

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
        read.addLines(bytes)
        return read.finished(bytes)
    }

    private static func file(_ title: String, _ folders: [String], _ content: consuming SecretBytes) -> ForeignEntry {
        var entry = ForeignEntry(title: title)
        entry.folders = folders
        entry.type = .file
        entry.fields.append(ForeignField("content", .attachment, isConcealed: true, content))
        return entry
    }

    // MARK: - Lines

    private mutating func addLines(_ bytes: Span<UInt8>) {
        let lines = ForeignText.lines(in: bytes, from: 0, most: .max)
        guard let first = lines.first else { return }
        // gopass once wrote this form: header lines, an empty line, text.
        let isHeaded = PassLine.isSame(first, "GOPASS-SECRET-1.0", in: bytes)
        if !isHeaded { addFirst(first, bytes) }
        var isInHead = isHeaded
        for index in lines.indices.dropFirst() {
            let line = lines[index]
            if isInHead, line.isEmpty {
                isInHead = false
                continue
            }
            // The lines below belong to it: a list or a block of YAML.
            let isBegun = index + 1 < lines.count && PassLine.isIndented(lines[index + 1], in: bytes)
            if isBegun || !addField(line, isInHead: isInHead, bytes) { notes.append(line) }
        }
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
        let secret = SecretBytes(copying: bytes.extracting(value))
        let key = name.lowercased()
        if isInHead, key == "password" {
            entry.fields.append(ForeignField("", .password, isConcealed: true, secret))
            return true
        }
        switch PassLine.role(of: key) {
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
        var lines = notes[...]
        while lines.first?.isEmpty == true { lines.removeFirst() }
        while lines.last?.isEmpty == true { lines.removeLast() }
        // gopass's mark between the password and YAML says nothing by itself.
        if lines.count == 1, let line = lines.first, PassLine.isSame(line, "---", in: bytes) { lines = [] }
        if !lines.isEmpty {
            var text = SecretBuffer(capacity: lines.reduce(0) { $0 + $1.count + 1 })
            for line in lines {
                if line != lines.first { text.append(UInt8(ascii: "\n")) }
                text.append(bytes.extracting(line))
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
