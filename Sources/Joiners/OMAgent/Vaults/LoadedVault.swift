internal import OMStorage
internal import OMSystem
internal import OMVault

/// An open vault and the number of the file that it was opened from.
final class LoadedVault {
    let vault: Vault
    private let number: FileNumber?

    /// - Parameter open: Opens the vault at `paths`.
    init(_ paths: VaultPaths, _ open: () throws(VaultError) -> Vault) throws(VaultError) {
        // Read before the file is opened. If another file replaces it in between, the numbers differ.
        number = FileNumber(paths.vault)
        vault = try open()
    }

    /// Attack: an attacker replaces the vault's file, and the agent goes on with the deleted one.
    func isStill(at paths: VaultPaths) -> Bool { number != nil && number == FileNumber(paths.vault) }
}

extension VaultPaths {
    /// The vault's file, as it stands there now.
    func file() throws(VaultError) -> VaultFile {
        let folder: DeviceFolder?
        do throws(StorageError) { folder = device.isEmpty ? nil : try DeviceFolder(device) } catch {
            throw VaultError(storage: error)
        }
        return try VaultFile.open(vault, device: folder)
    }
}

// What a request may leave behind.

extension ItemReply {
    /// Whether bytes that must be gone are still in the vault's files.
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
