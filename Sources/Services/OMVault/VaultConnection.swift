// A connection to a vault's file that several steps of one command use, one after the other.

internal import OMItems
internal import OMStorage
internal import OMSystem

/// An open connection, and the file that had the path when it was opened.
final class VaultConnection {
    let database: Database
    /// Nil if the file had lost its name already.
    private let file: FileNumber?

    /// Opens the vault's file.
    convenience init(_ path: String) throws(VaultError) {
        let file = FileNumber(path)
        self.init(try VaultSchema.open(path), to: file)
    }

    private init(_ database: consuming Database, to file: FileNumber?) {
        self.database = database
        self.file = file
    }

    /// Whether `path` still leads to the file of this connection. Another file may have been renamed to it meanwhile.
    func isTo(_ path: String) -> Bool { file != nil && file == FileNumber(path) }
}
