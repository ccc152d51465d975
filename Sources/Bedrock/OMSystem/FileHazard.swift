/// Why a file or folder is not safe to use.
public enum FileHazard: String, Hashable, Sendable {
    case symbolicLink, notRegular, notAFolder, otherOwner, openToOthers, writableByOthers, onNetwork, foreignJournal, secondName
}
