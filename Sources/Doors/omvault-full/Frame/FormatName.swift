internal import ArgumentParser

/// A name of `--format`.
enum FormatName: String, CaseIterable, ExpressibleByArgument, Sendable {
    case table, plain, json
    /// The JSON form of each row on a line of its own.
    case jsonl
    /// Rows for spreadsheets.
    case csv
    /// Plain rows that end with a NUL byte.
    case nul

    /// What the commands have to know of it.
    var kind: OutputFormat {
        switch self {
        case .table: .table
        case .plain, .csv, .nul: .plain
        case .json, .jsonl: .json
        }
    }

    /// Whether only commands that print rows have it.
    var isOfRows: Bool { self == .csv || self == .nul }

    /// The names, for messages.
    static func words(_ names: [FormatName] = allCases) -> String { names.map(\.rawValue).joined(separator: ", ") }
}
