internal import OMShell
internal import OMStorage
internal import OMSystem

extension UserFolders {
    /// Nil where this user never had a device key.
    func deviceFolder() throws(Failure) -> DeviceFolder? {
        do throws(StorageError) { return try DeviceFolder(device) } catch {
            if error == .missing { return nil }
            throw Failure(error)
        }
    }
}
