// The file of a vault until its device is a member.

internal import Glibc
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMStorage
internal import OMSystem
internal import OMVault

/// The place of a new vault that has no name yet: `.joining-ID.omv` in the user's folder of vaults.
///
/// A folder `.joining-ID` is there before the file and its marks, and until the vault has its name. So the next try finds what a
/// process that was killed has left. It is locked while the process runs.
final class JoiningVault {
    let path: String
    private let note: String
    private let id: [UInt8]
    private let device: DeviceFolder
    private let lock: Int32

    /// Removes what an earlier try has left.
    ///
    /// - Throws: ``ExitStatus/policy`` if this device knows the vault; ``ExitStatus/busy`` if another process joins it now.
    init(id: [UInt8], in folders: UserFolders, _ device: DeviceFolder) throws {
        _ = try PrivateFolder.make(folders.vaults)
        (self.id, self.device) = (id, device)
        note = "\(folders.vaults)/.joining-\(Hex.encode(id))"
        path = "\(note).omv"
        let isLeft = mkdir(note, 0o700) != 0
        guard !isLeft || errno == EEXIST else { throw Failure(.io, "cannot make \"\(note)\"", errno: errno) }
        lock = open(note, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(.busy, "another process joins this vault now", hint: "end it, or wait until it has ended")
        }
        // A process was killed here. If it was after the vault got its name, the marks are that vault's.
        if isLeft, !Self.isNamed(id, in: folders) { try VaultFile.removeUnjoined(path, id: id, from: device) }
        guard try !VaultFile.isKnown(id, to: device) else {
            rmdir(note)
            throw Failure(
                .policy, "this device has that vault already, or had it",
                hint: "a device has one file of a vault; omvault vault ls lists those here")
        }
    }

    private static func isNamed(_ id: [UInt8], in folders: UserFolders) -> Bool {
        VaultList.names(in: folders).contains { name in
            (try? VaultFile.open("\(folders.vaults)/\(name).omv", device: nil))?.id == id
        }
    }

    /// The vault has its name now.
    func finish() { rmdir(note) }

    /// Removes the file and its marks. The vault must be closed.
    func remove() {
        try? VaultFile.removeUnjoined(path, id: id, from: device)
        rmdir(note)
    }

    deinit { close(lock) }
}
