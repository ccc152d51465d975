internal import Glibc
internal import OMStorage
internal import OMSystem
internal import OMVault

/// An open vault, and the identity of the file that it was opened from.
final class LoadedVault {
    let vault: Vault
    private let file: stat?

    init(_ vault: consuming Vault, _ paths: VaultPaths) {
        self.vault = vault
        file = Self.inspect(paths)
    }

    /// Attack: the vault's file is replaced, and an agent that reads the deleted file does not see the new one. So the
    /// files are compared.
    func isStill(at paths: VaultPaths) -> Bool {
        guard let file, let named = Self.inspect(paths) else { return false }
        return file.st_dev == named.st_dev && file.st_ino == named.st_ino
    }

    private static func inspect(_ paths: VaultPaths) -> stat? {
        var status = stat()
        return lstat(paths.vault, &status) == 0 ? status : nil
    }
}

extension VaultPaths {
    /// The vault's file that is at the path now.
    func file() throws(VaultError) -> VaultFile {
        let folder: DeviceFolder?
        do throws(StorageError) { folder = device.isEmpty ? nil : try DeviceFolder(device) } catch {
            throw VaultError(storage: error)
        }
        return try VaultFile.open(vault, device: folder)
    }
}

// Purges that a request may leave unfinished.

extension ItemReply {
    /// Whether purged bytes are still in the vault's files.
    var leavesPurge: Bool {
        switch self {
        case .changed(_, let purge): purge == .pending
        case .removed(_, let purge): purge == .pending
        default: false
        }
    }
}

extension AgentReply {
    var leavesPurge: Bool {
        switch self {
        case .reply(let reply): reply.leavesPurge
        default: false
        }
    }
}
