/// For whom a command prints. The formats that ``FormatName`` names beside these are other forms of them.
enum OutputFormat: Sendable {
    /// For people. It may change.
    case table
    /// For scripts: rows of fields.
    case plain
    /// For programs: JSON with a stable schema.
    case json
}
