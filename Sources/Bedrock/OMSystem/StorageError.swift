// Errors of files and databases, one case for each decision of a caller.

internal import Glibc

/// Why a file or database was not read or not written.
@nonexhaustive
public enum StorageError: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// The file to create exists already.
    case exists
    /// Another user could read or replace the file, so this process uses nothing in it.
    case hazardous(FileHazard, path: String)
    /// The file is not omvault's, or it is damaged.
    case corrupt
    /// A later omvault wrote the file, in a format that this version does not know.
    case laterFormat(UInt32)
    /// Another process held the lock for the whole wait. Nothing was changed.
    case busy
    /// Reading, writing or syncing failed with this `errno`.
    case io(Int32)
    /// High-water files exist, but the device key that they were written under is missing.
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

    /// The `errno` that ``last`` would turn into this error, or `EIO` if there is none.
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
