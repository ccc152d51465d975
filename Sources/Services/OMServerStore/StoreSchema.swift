#if Server
// The tables of the server's store, by version. docs/formats/server-protocol.md, "Store".

/// Statements that make the tables. They are written for SQLite; PostgreSQL has other names for the types.
package struct StoreSchema: Sendable {
    /// Each step takes the tables from one version to the next: step 0 makes version 1. A step makes tables and indices, and can
    /// fill them from older ones. It changes no table that is there: SQLite compares the tables of a file with these statements.
    package let steps: [[String]]

    package init(steps: [[String]]) { self.steps = steps }

    package var version: Int64 { Int64(steps.count) }

    /// The schema as it was in an older version.
    package func of(version: Int64) -> StoreSchema { StoreSchema(steps: Array(steps.prefix(Int(version)))) }

    /// The names of all tables. A table comes after those that it refers to.
    package var tables: [String] {
        let start = "CREATE TABLE "
        return steps.joined().filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count).prefix { $0 != " " }) }
    }

    /// Texts are compared byte by byte, as SQLite does, and not by the rules of a language.
    static func forPostgreSQL(_ statement: String) -> String {
        statement.replacing(" BLOB", with: " BYTEA").replacing(" INTEGER", with: " BIGINT")
            .replacing(" TEXT", with: " TEXT COLLATE \"C\"")
            .replacing(" STRICT", with: "").replacing(", WITHOUT ROWID", with: "").replacing(" WITHOUT ROWID", with: "")
    }
}
#endif
