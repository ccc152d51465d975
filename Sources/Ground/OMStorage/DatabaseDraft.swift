// A database in the making: under a name of its own until it is whole.

internal import CSQLite
internal import Glibc
public import OMSystem

/// A database that is whole, and has no name yet.
///
///     let draft = try DatabaseDraft.make(for: path, schema) { database in … }
///     // read it back: Database.open(draft.path, schema), and close that again
///     try draft.finish()
public struct DatabaseDraft: ~Copyable {
    /// Where it stands until ``finish()``; taken away on every way out.
    public let path: String
    private let target: String
    /// Locked as long as this lives, which tells a draft that is being made from one that a killed process left.
    private let held: PrivateFile

    /// Makes it, mode 0600, with its tables and what `fill` puts in.
    public static func make<E: StorageFailing>(
        for target: String, _ schema: Schema, fill: (borrowing Database) throws(E) -> Void
    ) throws(E) -> DatabaseDraft {
        StaleDrafts.remove(for: target)
        let path = draftName(for: target)
        // O_EXCL first: SQLite alone would follow a link or take a file that somebody put there.
        let held = try E.storing { () throws(StorageError) in
            try PrivateFile.locked(path, O_RDWR | O_CREAT | O_EXCL)
        }
        let draft = DatabaseDraft(path: path, target: target, held: held)
        try Database.write(draft.path, schema, fill)
        return draft
    }

    private init(path: String, target: String, held: consuming PrivateFile) {
        (self.path, self.target) = (path, target)
        self.held = held
    }

    deinit { Self.remove(path) }

    /// Gives it its name.
    ///
    /// - Throws: ``StorageError/exists``: nothing is replaced.
    public consuming func finish() throws(StorageError) {
        guard link(path, target) == 0 else { throw .last }
        try syncFolder(above: target)
    }

    private static func remove(_ path: String) {
        for end in ["", "-wal", "-shm"] { unlink(path + end) }
    }
}

extension Database {
    fileprivate static func write<E: StorageFailing>(
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
