internal import ArgumentParser

enum OutputFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// For people. It may change.
    case table
    /// For scripts: fields separated by a tab, no header.
    case plain
    /// One document with a stable schema.
    case json
}
