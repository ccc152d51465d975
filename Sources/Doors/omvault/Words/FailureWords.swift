// From a room's error to words and an exit code: one exhaustive switch a room, so that a new case does not build until
// someone has decided what the user reads.

internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMAuth
internal import OMCrypto
internal import OMSecrets
internal import OMSystem
internal import OMVault
internal import OMVectors

extension Failure {
    /// The failure behind any error that a verb can throw.
    init(anyError error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as SecretsError: self.init(error)
        case let error as StorageError: self.init(error)
        case let error as VaultError: self.init(error, vault: nil)
        case let error as AgentError: self.init(error)
        case let error as AuthError: self.init(error)
        case let error as CryptoError: self.init(error)
        case let error as VectorsError: self.init(error)
        // The other rooms go here: one line, and one file beside this one.
        default: self.init(.general, "unexpected error: \(String(describing: type(of: error)))")
        }
    }

    /// Whether the words are ArgumentParser's and not a room's.
    static func isOfParser(_ error: any Error) -> Bool {
        error is ValidationError || CommandTree.exitCode(for: error) == .validationFailure
    }

    init(_ error: SecretsError) {
        switch error {
        case .cannotOpen:
            self.init(.badSecret, "wrong password or key, or the data was changed")
        case .stretchOutOfBounds:
            self.init(
                .corrupt, "the work factors are outside what omvault accepts",
                hint: "allowed are 8 MiB to 1 GiB of memory, 1 to 16 passes, 1 to 4 lanes")
        case .lanesUnsupported:
            self.init(.unsupported, "a password stretched with more than one lane cannot be checked by this build")
        case .outOfMemory:
            self.init(
                .general, "there is not enough free memory to stretch the password",
                hint: "close other programs and try again")
        case .passwordLength:
            self.init(.usage, "a password has at least 1 byte and at most 1 MiB")
        case .notCanonical:
            self.init(
                .usage, "the text is not strict hex or base64",
                hint: "no blanks, no line breaks; base64 with its padding")
        }
    }
}

// MARK: - OMStorage

extension Failure {
    init(_ error: StorageError) {
        switch error {
        case .missing: self.init(.io, "a file is missing")
        case .exists: self.init(.exists, "the file is there already")
        case .hazardous(let hazard, let path):
            self.init(.permission, "\(path.shown) is not used: \(hazard.words)", hint: hazard.remedy(path))
        case .corrupt: self.init(.corrupt, "a file of omvault's is damaged, or not omvault's")
        case .laterFormat(let version):
            self.init(
                .unsupported, "the file has format \(version), which this omvault does not know",
                hint: "a later omvault wrote it; update this one")
        case .busy:
            self.init(
                .busy, "another process held the lock for the whole wait; nothing was changed", hint: "try again")
        case .io(let code): self.init(.io, "reading or writing failed: \(systemMessage(code))")
        case .deviceKeyMissing:
            self.init(
                .corrupt, "this device's key is gone, and what was written under it is still there",
                hint: "restore device.key; or move the folder omvault-device away to start anew")
        case .deviceKeyDamaged:
            self.init(
                .corrupt, "this device's key is damaged: it does not have 32 bytes",
                hint: "restore device.key in the folder omvault-device; or move that folder away to start anew")
        }
    }
}

extension FileHazard {
    var words: String {
        switch self {
        case .symbolicLink: "it is a symbolic link"
        case .notRegular: "it is no regular file"
        case .notAFolder: "it is no folder"
        case .otherOwner: "it belongs to another user"
        case .openToOthers: "other users can read or change it"
        case .writableByOthers: "other users than its owner can change it"
        case .foreignJournal: "it is a rollback journal, and omvault's own files never have one"
        case .secondName: "it is a second name (hard link) of another file"
        case .onNetwork: "it is on a network file system, where locks and syncs promise too little"
        }
    }

    func remedy(_ path: String) -> String {
        switch self {
        case .openToOthers: "when you trust what is in it: chmod \(Self.isFolder(path) ? 700 : 600) \(path.shown)"
        case .writableByOthers: "when you trust what is in it: chmod go-w \(path.shown)"
        case .onNetwork: "set XDG_STATE_HOME to a folder on a local disk"
        case .symbolicLink, .notRegular, .notAFolder, .otherOwner, .foreignJournal, .secondName:
            "look who put it there before you remove it"
        }
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
