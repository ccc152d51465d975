// What the tests of readers share: a file as text, and entries as lines.

import OMInterchange
import OMItems
import OMSecrets

enum ForeignSamples {
    /// Reads a text. Each entry becomes its folders and title, its tags, and its fields as `role name=value`, with `!` if concealed.
    static func read(
        _ text: String, as format: ForeignFormat? = nil, map: CSVMap? = nil, password: String? = nil
    ) throws -> (lines: [String], summary: ForeignSummary) {
        let reader = try ForeignReader(SecretBytes(copying: Array(text.utf8)), as: format)
        var entries: [ForeignEntry] = []
        let key = ForeignKey(password: password.map { SecretBytes(copying: Array($0.utf8)) })
        let summary = try reader.read(with: key, map: map, variables: { _ throws(InterchangeError) in throw .otherFormat }) {
            entry throws(InterchangeError) in entries.append(entry)
        }
        return (entries.map(line), summary)
    }

    static func line(_ entry: ForeignEntry) -> String {
        var parts = [(entry.folders + [entry.title]).joined(separator: "/")]
        if let type = entry.type { parts.append("(\(type.rawValue))") }
        if entry.isTrashed { parts.append("(trash)") }
        parts += entry.tags.map { "#\($0)" }
        parts += entry.fields.map { field in
            let name = field.name.isEmpty ? "" : " \(field.name)"
            return "\(field.role.rawValue)\(name)\(field.isConcealed ? "!" : "")=\(text(field.value))"
        }
        parts += entry.losses.map { "-\($0)" }
        return parts.joined(separator: " | ")
    }

    static func text(_ secret: borrowing SecretBytes) -> String {
        secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }

    static func error(_ text: String, as format: ForeignFormat? = nil, password: String? = nil) -> InterchangeError? {
        do { _ = try read(text, as: format, password: password) } catch { return error as? InterchangeError }
        return nil
    }
}
