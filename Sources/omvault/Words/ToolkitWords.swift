// The words for what the toolkit and its vectors refuse.

internal import OMCrypto
internal import OMVectors

extension Failure {
    init(_ error: CryptoError) {
        switch error {
        case .emptyInput:
            self.init(.usage, "the SDK's form does not hash an empty input")
        case .saltTooShort, .saltNotMultipleOfFour:
            self.init(.usage, "a salt has 4 bits or more, a multiple of 4", hint: "--salt-bits 128")
        case .saltRequired, .saltNotHex:
            self.init(.usage, "a salt is pairs of upper-case hex digits", hint: "--salt A1B2C3, or --salt-bits 128")
        case .inputTooLong:
            self.init(.usage, "the input or the salt is longer than the format allows")
        case .unknownAlgorithm:
            self.init(.usage, "no such algorithm here", hint: "omvault crypto hash --help lists them")
        case .keyLength:
            self.init(.usage, "the key has not the cipher's length")
        case .ivLength:
            self.init(.usage, "the IV has not the length of the cipher's block")
        case .notWholeBlocks:
            self.init(.usage, "without padding only whole blocks can be encrypted")
        case .notPrefixed, .malformedHash:
            self.init(.corrupt, "not a stored hash: {name} and base64 of digest and salt are expected")
        case .cannotDecrypt:
            self.init(.corrupt, "wrong key, or the data was changed")
        }
    }

    init(_ error: VectorsError) {
        switch error {
        case .unreadable(let path): self.init(.io, "cannot read \"\(path.shown)\"")
        case .policy(let reason): self.init(.usage, "not a policy for vectors: \(reason.shown)")
        }
    }
}
