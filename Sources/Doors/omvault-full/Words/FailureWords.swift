// The message and the exit code of each room's errors. There is one exhaustive switch for each room: a new case does not
// build until it has a message.

internal import ArgumentParser
internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMCrypto
internal import OMItems
internal import OMSecrets
internal import OMShell
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
