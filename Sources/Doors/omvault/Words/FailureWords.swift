// The message and the exit code of each room's errors. There is one exhaustive switch for each room: a new case does not
// build until it has a message.

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
        case let error as OneTimePasswordError: self.init(error)
        case let error as PasswordRecipeError: self.init(error)
        case let error as VectorsError: self.init(error)
        // Each further room gets one line here and one file beside this one.
        default:
            self.init(
                .general, "unexpected error: \(String(describing: type(of: error)))",
                hint: "please report it, with the command that you ran")
        }
    }

    /// Whether the message comes from ArgumentParser and not from a room.
    static func isOfParser(_ error: any Error) -> Bool {
        error is ValidationError || CommandTree.exitCode(for: error) == .validationFailure
    }

    init(_ error: SecretsError) {
        switch error {
        case .cannotOpen:
            self.init(
                .badSecret, "wrong password or key, or the data was changed",
                hint: "try the password or the key that the data was sealed with")
        case .stretchOutOfBounds:
            self.init(
                .corrupt, "the work factors are outside what omvault accepts",
                hint: "omvault accepts 8 MiB to 1 GiB of memory, 1 to 16 passes and 1 to 4 lanes")
        case .lanesUnsupported:
            self.init(
                .unsupported, "this build cannot check a password that was stretched with more than one lane",
                hint: "open it another way: a recovery code or a key file")
        case .outOfMemory:
            self.init(
                .general, "there is not enough free memory to stretch the password",
                hint: "close other programs and try again")
        case .passwordLength:
            self.init(usage: "a password has at least 1 byte and at most 1 MiB")
        case .notCanonical:
            self.init(
                .usage, "the text is not strict hex or base64",
                hint: "remove blanks and line breaks; base64 needs its padding")
        }
    }
}

// MARK: - OMStorage

extension Failure {
    init(_ error: StorageError) {
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

extension FileHazard {
    var words: String {
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

    func remedy(_ path: String) -> String {
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
