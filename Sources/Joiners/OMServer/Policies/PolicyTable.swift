#if Server
// The application profiles. docs/formats/server-protocol.md, "Policies".

package import OMServerStore

package struct Policy: Hashable, Sendable {
    package let application: String
    package let epoch: Int64
    /// The keys that were set, with texts as a local profile has them.
    package let values: [String: String]
}

package enum PolicyTable {
    static let statements = [
        "CREATE TABLE policy (application TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE policy_value (application TEXT NOT NULL REFERENCES policy (application) ON DELETE CASCADE, \
        name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (application, name)) STRICT
        """,
    ]

    package static func find(_ application: String, _ transaction: any StoreTransaction) throws(StoreError) -> Policy? {
        guard let row = try transaction.row("SELECT epoch FROM policy WHERE application = ?1", .text(application)) else {
            return nil
        }
        var values: [String: String] = [:]
        for pair in try transaction.rows("SELECT name, value FROM policy_value WHERE application = ?1", .text(application)) {
            values[try pair.text(0)] = try pair.text(1)
        }
        return Policy(application: application, epoch: try row.number(0), values: values)
    }

    package static func names(_ transaction: any StoreTransaction) throws(StoreError) -> [String] {
        var names: [String] = []
        for row in try transaction.rows("SELECT application FROM policy ORDER BY application") {
            names.append(try row.text(0))
        }
        return names
    }

    /// Sets values, and removes those that are nil. The epoch rises by 1.
    ///
    /// - Returns: The new policy.
    package static func change(
        _ application: String, _ changes: [String: String?], _ transaction: any StoreTransaction
    ) throws(StoreError) -> Policy {
        try transaction.rows(
            """
            INSERT INTO policy (application, epoch) VALUES (?1, 1) \
            ON CONFLICT (application) DO UPDATE SET epoch = policy.epoch + 1
            """, .text(application))
        for (name, value) in changes {
            if let value {
                try transaction.rows(
                    """
                    INSERT INTO policy_value (application, name, value) VALUES (?1, ?2, ?3) \
                    ON CONFLICT (application, name) DO UPDATE SET value = excluded.value
                    """, .text(application), .text(name), .text(value))
            } else {
                try transaction.rows(
                    "DELETE FROM policy_value WHERE application = ?1 AND name = ?2", .text(application), .text(name))
            }
        }
        guard let policy = try find(application, transaction) else { throw .damaged }
        return policy
    }
}
#endif
