// Errors of files and databases: one case for each thing a caller may have to decide.

internal import Glibc

/// Why a file or database was not read or written.
@nonexhaustive
public enum StorageError: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// A file that was to be made is there already.
    case exists
    /// The file could be read or replaced by somebody else, so nothing in it is used.
    case hazardous(FileHazard, path: String)
    /// Not a file of ours, or damaged.
    case corrupt
    /// Written by a later omvault, in a format that this one does not know.
    case laterFormat(UInt32)
    /// Another process held the lock for the whole wait. Nothing was changed.
    case busy
    /// Reading, writing or syncing failed with this `errno`.
    case io(Int32)
    /// There are high-water files without the device key that they were written under.
    case deviceKeyMissing
    /// The device key's file does not hold exactly 32 bytes.
    case deviceKeyDamaged

    /// The `errno` of the call that just failed, as an error.
    package static var last: StorageError {
        switch errno {
        case ENOENT: .missing
        case EEXIST: .exists
        default: .io(errno)
        }
    }

    /// The `errno` that ``last`` would make this error from; `EIO` if there is none.
    package var code: Int32 {
        switch self {
        case .missing: ENOENT
        case .exists: EEXIST
        case .io(let code): code
        default: EIO
        }
    }
}

extension StorageError: StorageErrorConvertible {
    public init(storage error: StorageError) { self = error }
}
