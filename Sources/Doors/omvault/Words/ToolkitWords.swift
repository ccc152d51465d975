// The words for what the toolkit and its vectors refuse.

internal import OMCrypto
internal import OMVectors

extension Failure {
    init(_ error: CryptoError) {
        self = Failure(withoutSDKCode: error).with(sdkCode: error.sdkCode)
    }

    private init(withoutSDKCode error: CryptoError) {
        switch error {
        case .emptyInput:
            self.init(.usage, "the SDK's forms take no empty input")
        case .saltTooShort:
            self.init(.usage, "a new salt has at least 4 bits", hint: "--salt-bits 128; 0 for none")
        case .saltNotMultipleOfFour:
            self.init(.usage, "a new salt's bits are a multiple of 4", hint: "--salt-bits 128")
        case .saltRequired:
            self.init(.usage, "a salted form needs a salt of at least one byte", hint: "--salt-bits 128")
        case .saltNotHex:
            self.init(
                .usage, "the SDK's salt is pairs of upper-case hex digits",
                hint: "--salt-bits 128, or --encoding sdk-android for other bytes")
        case .saltNotSupported, .noSaltToAppend:
            self.init(.usage, "an unsalted algorithm takes no salt")
        case .inputTooLong:
            self.init(.usage, "the input or the salt is longer than the format allows")
        case .unknownAlgorithm:
            self.init(.usage, "no such algorithm here", hint: "omvault crypto algs lists them")
        case .schemeNotAllowed:
            self.init(
                .policy, "the stored hash names a scheme that is not allowed here",
                hint: "--schemes LIST allows others; without it: salted,password")
        case .noSuchForm:
            self.init(.usage, "this encoding or function has no place for what was asked of it")
        case .parameterOutOfRange:
            self.init(.usage, "a work factor, a salt or a length is outside what the function is defined for")
        case .workTooHigh:
            self.init(
                .policy, "more work is asked for than --max-work allows",
                hint: "when you trust where it comes from: --max-work 4, or more")
        case .outOfMemory:
            self.init(.general, "there is not enough free memory for this work factor or message")
        case .passwordNotSupported:
            self.init(.usage, "bcrypt takes passwords of at most 72 bytes, without a NUL", hint: "--alg argon2id")
        case .keyLength:
            self.init(.usage, "the key has not the cipher's length")
        case .ivLength:
            self.init(.usage, "the IV has not the length of the cipher's block")
        case .notWholeBlocks:
            self.init(.usage, "without padding only whole blocks can be encrypted")
        case .notPrefixed, .malformedHash:
            self.init(.corrupt, "not a stored hash: {name} and base64 of digest and salt, or a PHC string, is expected")
        case .cannotDecrypt:
            self.init(.corrupt, "wrong key, or the data was changed")
        case .emptyKey:
            self.init(.usage, "the key is empty")
        case .paddingNotForSymmetric:
            self.init(.usage, "symmetric ciphers know the paddings pkcs7 and none")
        case .expectedBase64, .invalidBase64:
            self.init(.corrupt, "the data is not strict base64", hint: "it was changed, or it is bytes: --encoding raw")
        case .wrapLength:
            self.init(
                .usage, "aes-kw wraps 16 bytes or more, a multiple of 8",
                hint: "--alg aes-kwp wraps any length from 1 byte")
        case .notOpenSSLSalted:
            self.init(
                .corrupt, "not a file of openssl enc: it does not begin with Salted__",
                hint: "what openssl enc -a wrote is text: --encoding base64")
        case .notAContainer:
            self.init(
                .corrupt, "not a file of omvault's, or its header was changed",
                hint: "files of openssl enc: --openssl pbkdf2 --alg …; bare ciphers: --raw --alg …")
        case .laterContainer(let version):
            self.init(
                .unsupported, "the file has format \(version), which this omvault does not know",
                hint: "a later omvault wrote it; update this one")
        case .wrongUnlockMethod:
            self.init(.usage, "the file opens with something else")
        case .wrongFileKey:
            self.init(.badSecret, "wrong password or key, or the file's header was changed")
        case .damagedContainer:
            self.init(.corrupt, "the file was changed or cut short")
        case .unusableRecipient:
            self.init(
                .usage, "not a usable X25519 key",
                hint: "a key file of that type (omvault crypto inspect), or the 32 bytes; at most 64 recipients")
        case .cannotGenerate, .invalidTag, .keyPairNotFound, .keyPairExists, .cannotSign, .emptySignature,
            .badSignature, .cannotUnwrap, .wrongKeyType, .keyUseNotAllowed, .unknownKeyFormat, .malformedKey,
            .unsupportedKey, .invalidKey, .keyPasswordRequired, .wrongKeyPassword, .noPrivateKey, .severalKeys,
            .certificateInsteadOfKey, .foreignCertificate:
            self.init(ofKeys: error)
        }
    }

    init(_ error: VectorsError) {
        switch error {
        case .unreadable(let path): self.init(.io, "cannot read \"\(path.shown)\"")
        case .policy(let reason): self.init(.usage, "not a policy for vectors: \(reason.shown)")
        }
    }
}
