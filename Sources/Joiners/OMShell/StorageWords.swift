// The message and the exit code of each error of files and folders.

internal import Glibc
package import OMSystem

extension Failure {
    package init(_ error: StorageError) {
        switch error {
        case .missing: self.init(.io, "a file is missing", hint: "check the path: ls -ld shows what is there")
        case .exists: self.init(.exists, "the file already exists", hint: "choose another name, or move the file away")
        case .hazardous(let hazard, let path):
            self.init(.permission, "\(path.shown) is not used: \(hazard.words)", hint: hazard.remedy(path))
        case .corrupt: self.init(.corrupt, "a file is damaged, or omvault did not write it", hint: "take your newest copy of it")
        case .laterFormat(let version):
            self.init(
                .unsupported, "the file has format \(version), which this omvault does not know",
                hint: "a later omvault wrote the file; update omvault")
        case .busy:
            self.init(
                .busy, "another process kept the file locked for the whole wait; nothing was changed", hint: "try again")
        case .io(let code): self.init(.io, "reading or writing failed", errno: code)
        case .deviceKeyMissing:
            self.init(
                .corrupt, "this device's key is missing, and files that need it are still there",
                hint: "restore device.key; or move the folder omvault-device away to start without them")
        case .deviceKeyDamaged:
            self.init(
                .corrupt, "this device's key is damaged: it does not have 32 bytes",
                hint: "restore device.key in the folder omvault-device; or move that folder away to start without it")
        }
    }
}

extension Failure: StorageErrorConvertible {
    package init(storage error: StorageError) { self.init(error) }
}

extension FileHazard {
    package var words: String {
        switch self {
        case .symbolicLink: "it is a symbolic link"
        case .notRegular: "it is not a regular file"
        case .notAFolder: "it is not a folder"
        case .otherOwner: "it belongs to another user"
        case .openToOthers: "other users can read or change it"
        case .writableByOthers: "users other than its owner can change it"
        case .foreignJournal: "it is a rollback journal, and omvault never writes one"
        case .secondName: "it is a hard link to another file"
        case .logWithoutFile: "it is the log of a file that is no longer here"
        case .onNetwork: "it is on a network file system, whose locks and syncs are not safe enough"
        }
    }

    package func remedy(_ path: String) -> String {
        switch self {
        case .openToOthers: "if you trust its contents: chmod \(Self.isFolder(path) ? 700 : 600) \(path.shown)"
        case .writableByOthers: "if you trust its contents: chmod go-w \(path.shown)"
        case .logWithoutFile: "move it to where its file is now: it may hold the last changes. Or delete it"
        case .onNetwork: "set XDG_STATE_HOME to a folder on a local disk"
        case .symbolicLink, .notRegular, .notAFolder, .otherOwner, .foreignJournal, .secondName:
            "find out who created it before you remove it"
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
