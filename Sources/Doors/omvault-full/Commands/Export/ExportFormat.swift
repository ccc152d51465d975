/// A format that `omvault export` writes.
enum ExportFormat: String, CaseIterable {
    case kdbx, csv, json
    case bitwarden = "bitwarden-json"

    static let names = allCases.map(\.rawValue).joined(separator: ", ")
}
