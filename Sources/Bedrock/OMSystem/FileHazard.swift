/// Why a file or folder is not safe to use.
public enum FileHazard: String, Hashable, Sendable {
    case symbolicLink, notRegular, notAFolder, otherOwner, openToOthers, writableByOthers, onNetwork, foreignJournal, secondName
    /// The write-ahead log of a database that was moved away or deleted.
    case logWithoutFile
}
