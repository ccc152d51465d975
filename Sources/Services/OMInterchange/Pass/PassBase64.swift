// Files that gopass keeps as base64 in an entry.

internal import OMItems
internal import OMJSON
internal import OMSecrets

enum PassBase64 {
    /// The decoded bytes of a text that is nothing but base64, in lines of any length. Nil for another text.
    static func decode(whole bytes: Span<UInt8>) -> SecretBytes? {
        var text = SecretBuffer(capacity: bytes.count)
        for index in bytes.indices where !JSONText.isSpace(bytes[index]) { text.append(bytes[index]) }
        guard text.count > 0 else { return nil }
        let secret = text.finish()
        return try? Base64.decode(secret)
    }

    /// Takes the file out of an entry whose headers say that its text is one. If the text cannot be decoded, it stays.
    static func unpack(_ entry: inout ForeignEntry) {
        guard let encoding = header("content-transfer-encoding", in: entry), value(encoding).lowercased() == "base64",
            let index = entry.fields.lastIndex(where: { $0.role == .notes }),
            let content = entry.fields[index].value.withBytes({ decode(whole: $0) })
        else { return }
        let disposition = header("content-disposition", in: entry)
        let name = disposition.flatMap { fileName(value($0)) }
        entry.fields[index] = ForeignField(name ?? "content", .attachment, isConcealed: true, content)
        // Both say how the file was stored, and its name is taken over.
        entry.fields.removeAll { $0 === encoding || ($0 === disposition && name != nil) }
        entry.type = .file
    }

    private static func header(_ name: String, in entry: ForeignEntry) -> ForeignField? {
        entry.fields.first { $0.role == .other && $0.name.lowercased() == name && $0.value.count <= 4096 }
    }

    private static func value(_ field: ForeignField) -> String { ForeignText.string(field.value) }

    /// The name of `attachment; filename="name"`.
    private static func fileName(_ header: String) -> String? {
        guard let start = header.firstRange(of: "filename=\"")?.upperBound, header.hasSuffix("\"") else { return nil }
        let name = String(header[start...].dropLast())
        return name.isEmpty || name.contains("\"") ? nil : name
    }
}
