// The files that a remote lists, up to the number that a device reads.

internal import Glibc
package import OMParcels
package import OMSystem

/// The list of a remote's files. A folder's reader makes one, and so does a process that has the list from another process.
package struct RemoteList {
    /// More files than 32 devices use. A larger remote is refused.
    package static let maximumCount = 100_000
    static let maximumCopies = 16

    package private(set) var files: [RemoteFile] = []
    private var copies: [UInt32: Int] = [:]

    package init() {}

    /// - Returns: false if the file is left out: it is one more copy of a device's heads than a device reads.
    /// - Throws: ``StorageError/io(_:)`` with `EOVERFLOW` for one file more than ``maximumCount``.
    @discardableResult
    package mutating func add(_ file: RemoteFile) throws(StorageError) -> Bool {
        if case .headCopy(let device, _) = file {
            // Attack: a million copies of heads, each with a signature to check.
            guard copies[device, default: 0] < Self.maximumCopies else { return false }
            copies[device, default: 0] += 1
        }
        guard files.count < Self.maximumCount else { throw .io(EOVERFLOW) }
        files.append(file)
        return true
    }
}
