// From a room's error to words and an exit code: one exhaustive switch a room, so that a new case does not build until
// someone has decided what the user reads.

internal import ArgumentParser
internal import OMCrypto
internal import OMSecrets
internal import OMVectors

extension Failure {
    /// The failure behind any error that a verb can throw.
    init(describing error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as SecretsError: self.init(error)
        case let error as CryptoError: self.init(error)
        case let error as VectorsError: self.init(error)
        // The other rooms go here: one line, and one `init` below.
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
