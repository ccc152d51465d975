// The draft of a database. It has another name until it is complete.

internal import CSQLite
internal import Glibc
package import OMSystem

extension Database {
    /// Creates a draft with mode 0600, the schema's tables and the rows from `fill`. ``Draft/finish()`` gives it its name.
    ///
    ///     let draft = try Database.draft(for: path, schema) { database in … }
    ///     // read it back: Database.open(draft.path, schema), and close that connection again
    ///     try draft.finish()
    ///
    /// The draft's file stays open as long as the draft exists. SQLite loses its locks on a file when any descriptor of
    /// that file closes. So close every connection to the draft before the draft ends.
    package static func draft<E: StorageErrorConvertible>(
        for target: String, _ schema: Schema, fill: (borrowing Database) throws(E) -> Void
    ) throws(E) -> Draft {
        // A user moves a database away and forgets its log. SQLite would take that log for the new file's.
        guard try !E.storing({ () throws(StorageError) in try hasLogWithoutFile(target) }) else {
            throw E(storage: .hazardous(.logWithoutFile, path: target + "-wal"))
        }
        // The file is created first. SQLite alone would follow a link, or use a file that another user put there.
        let draft = try E.storing { () throws(StorageError) in try Draft.make(for: target, .onlyNew) }
        try write(draft.path, schema, fill)
        return draft
    }

    /// Whether there is no file at `path`, but a write-ahead log for one.
    ///
    /// The log is looked for first. A log is made after its file, so a log that another process makes meanwhile cannot
    /// be taken for one without a file.
    package static func hasLogWithoutFile(_ path: String) throws(StorageError) -> Bool {
        var log = stat()
        guard lstat(path + "-wal", &log) == 0, log.st_size > 0 else { return false }
        return try !FilePath.exists(path)
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
            // WAL before the file gets its name, so that no reader ever finds a rollback journal beside it.
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
