#if Server
// The tables of the server's store, by version. docs/formats/server-protocol.md, "Store".

/// Statements that make the tables. They are written for SQLite; PostgreSQL has other names for two types.
package struct StoreSchema: Sendable {
    /// Each step takes the tables from one version to the next: step 0 makes version 1.
    package let steps: [[String]]

    package init(steps: [[String]]) { self.steps = steps }

    package var version: Int64 { Int64(steps.count) }

    static func forPostgreSQL(_ statement: String) -> String {
        statement.replacing(" BLOB", with: " BYTEA").replacing(" INTEGER", with: " BIGINT")
            .replacing(" STRICT", with: "").replacing(", WITHOUT ROWID", with: "").replacing(" WITHOUT ROWID", with: "")
    }
}
#endif
