// A database in the making: under another name until it is whole.

internal import CSQLite
package import OMSystem

extension Database {
    /// Makes a database with its tables and what `fill` puts in, mode 0600. It gets its name by ``Draft/finish()``.
    ///
    ///     let draft = try Database.draft(for: path, schema) { database in … }
    ///     // read it back: Database.open(draft.path, schema), and close that again
    ///     try draft.finish()
    ///
    /// The draft's file is open while it lives. SQLite loses its locks on a file when any descriptor of it closes, so no
    /// connection to the draft may be open when the draft ends.
    package static func draft<E: StorageErrorConvertible>(
        for target: String, _ schema: Schema, fill: (borrowing Database) throws(E) -> Void
    ) throws(E) -> Draft {
        // The file first: SQLite alone would follow a link, or take a file that another user put there.
        let draft = try E.storing { () throws(StorageError) in try Draft.make(for: target, .onlyNew) }
        try write(draft.path, schema, fill)
        return draft
    }

    private static func write<E: StorageErrorConvertible>(
        _ draft: String, _ schema: Schema, _ fill: (borrowing Database) throws(E) -> Void
    ) throws(E) {
        let database = try E.storing { () throws(StorageError) in try make(draft) }
        try database.transaction(.write) { () throws(E) in
            try E.storing { () throws(StorageError) in
                for statement in schema.statements { try database.execute(statement) }
                try database.execute("PRAGMA application_id = \(schema.applicationID)")
                try database.execute("PRAGMA user_version = \(schema.version)")
            }
            try fill(database)
        }
        try E.storing { () throws(StorageError) in
            // WAL before the file gets its name: no reader ever finds it with a rollback journal beside it.
            guard try database.text("PRAGMA journal_mode = WAL") == "wal" else { throw .corrupt }
        }
    }

    private static func make(_ draft: String) throws(StorageError) -> Database {
        let database = try connect(draft)
        try database.execute("PRAGMA journal_mode = MEMORY")
        try database.execute("PRAGMA synchronous = FULL")
        return database
    }
}
