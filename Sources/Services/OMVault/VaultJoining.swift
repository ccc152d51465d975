// A vault that was made to join another device's, and did not.

package import OMItems
package import OMStorage
internal import OMSystem

extension VaultFile {
    /// Whether this device has seen a vault of this id. Two files would share their marks.
    ///
    /// - Parameter id: 16 bytes.
    package static func isKnown(_ id: [UInt8], to folder: DeviceFolder) throws(VaultError) -> Bool {
        try storing { () throws(StorageError) in
            guard let device = try folder.existing() else { return false }
            return try folder.highWater(.vault, id: id, under: device).exists()
        }
    }

    /// Removes the file of a vault that never became a device of its roll, and then its marks.
    ///
    /// - Parameter path: A path that only such a vault has. It may be missing.
    package static func removeUnjoined(_ path: String, id: [UInt8], from folder: DeviceFolder) throws(VaultError) {
        try storing { () throws(StorageError) in
            for end in ["", "-wal", "-shm"] { _ = try FilePath.remove(path + end) }
            try syncFolder(above: path)
            guard let device = try folder.existing() else { return }
            for kind in [HighWaterFile.Kind.vault, .password] {
                let marks = folder.highWater(kind, id: id, under: device)
                if try marks.exists() { try marks.remove() }
            }
        }
    }
}
