// Renaming a database's file.

internal import COMSystem
internal import CSQLite
package import OMSystem

extension Database {
    /// Gives the file another name in the same folder, if no other process has it open.
    ///
    /// A kill or a power cut leaves the old name or the new one. Never both, and never a log without its file: the log is
    /// moved into the file first, and its name removed. Meanwhile a lock on the file keeps other processes out. A process
    /// that gets the lock afterwards looks at the name again, see ``open(_:_:)``.
    ///
    /// - Throws: ``StorageError/exists``, also if only a log has the new name; ``StorageError/busy`` if another process has the
    ///   file open for the whole wait.
    package static func renameFile(_ path: String, to new: String, _ schemas: Schema...) throws(StorageError) {
        precondition(FilePath.folder(of: path) == FilePath.folder(of: new), "the new name is in the same folder")
        try refuseTaken(new)
        let number = FileNumber(path)
        let database = try open(path, of: schemas, alone: true)
        guard number == FileNumber(path) else { throw .busy }
        // SQLite deletes the log by its name when the connection closes. By then the name may belong to another file.
        var keeps: Int32 = 1
        guard sqlite3_file_control(database.handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps) == SQLITE_OK,
            try database.truncateLog()
        else { throw .busy }
        for end in ["-wal", "-shm"] { _ = try FilePath.remove(path + end) }
        // Otherwise a power cut could keep the new name of the file and the old one of its log.
        try syncFolder(above: path)
        try refuseTaken(new)
        guard om_rename_new(path, new) == 0 else { throw .last }
        try syncFolder(above: new)
    }

    /// A log without its file would be taken for the log of the renamed file.
    private static func refuseTaken(_ path: String) throws(StorageError) {
        guard try !hasLogWithoutFile(path) else { throw .hazardous(.logWithoutFile, path: path + "-wal") }
        guard try !FilePath.exists(path) else { throw .exists }
    }
}
