#if Server
// A statement with its values.

package struct SQLStatement: Hashable, Sendable {
    package let sql: String
    package let values: [SQLValue]
    /// Of a SELECT: which table's rows no other transaction can change until the end of this one, by its name in `sql`.
    package let locked: String?

    package init(_ sql: String, _ values: [SQLValue]) { (self.sql, self.values, locked) = (sql, values, nil) }

    package init(_ sql: String, _ values: SQLValue..., locked: String? = nil) {
        (self.sql, self.values, self.locked) = (sql, values, locked)
    }
}
#endif
