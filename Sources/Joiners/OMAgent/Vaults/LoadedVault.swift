internal import OMAgentProtocol
internal import OMItems
internal import OMStorage
internal import OMSystem
internal import OMVault

/// An open vault, and the identity of the file that it was opened from.
final class LoadedVault {
    let vault: Vault
    private let number: FileNumber?

    /// - Parameter open: Opens the vault at `paths`.
    init(_ paths: VaultPaths, _ open: () throws(VaultError) -> Vault) throws(VaultError) {
        // Read before the file is opened. If another file replaces it in between, the numbers differ.
        number = FileNumber(paths.vault)
        vault = try open()
    }

    /// Attack: the vault's file is replaced, and an agent that reads the deleted file does not see the new one. So the
    /// files are compared.
    func isStill(at paths: VaultPaths) -> Bool { number != nil && number == FileNumber(paths.vault) }
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
