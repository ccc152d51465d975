// Messages for errors of the toolkit and of its test vectors.

internal import OMCrypto
internal import OMShell
internal import OMVectors

extension Failure {
    init(_ error: CryptoError) {
        self = Failure(withoutSDKCode: error).with(sdkCode: error.sdkCode)
    }

    private init(withoutSDKCode error: CryptoError) {
        switch error {
        case .emptyInput:
            self.init(usage: "the SDK's forms do not take empty input")
        case .saltTooShort:
            self.init(.usage, "a new salt has at least 4 bits", hint: "--salt-bits 128; 0 for none")
        case .saltNotMultipleOfFour:
            self.init(.usage, "the bits of a new salt must be a multiple of 4", hint: "--salt-bits 128")
        case .saltRequired:
            self.init(.usage, "a salted form needs a salt of at least one byte", hint: "--salt-bits 128")
        case .saltNotHex:
            self.init(
                .usage, "the SDK's salt must be pairs of upper-case hex digits",
                hint: "--salt-bits 128, or --encoding sdk-android for other bytes")
        case .saltNotSupported, .noSaltToAppend:
            self.init(usage: "an unsalted algorithm takes no salt")
        case .inputTooLong:
            self.init(usage: "the input or the salt is longer than the format allows")
        case .unknownAlgorithm:
            self.init(.usage, "omvault does not have this algorithm here", hint: "omvault crypto algs lists all of them")
        case .schemeNotAllowed:
            self.init(
                .policy, "the stored hash has a scheme that is not allowed here",
                hint: "--schemes LIST allows others; the default is salted,password")
        case .noSuchForm:
            self.init(usage: "this encoding or function does not support one of these options")
        case .parameterOutOfRange:
            self.init(usage: "a work factor, a salt or a length is outside the function's range")
        case .workTooHigh:
            self.init(
                .policy, "the input needs more work than --max-work allows",
                hint: "if you trust its source: --max-work 4, or more")
        case .outOfMemory:
            self.init(
                .general, "there is not enough free memory for this work factor or message",
                hint: "close other programs, or take a smaller work factor")
        case .passwordNotSupported:
            self.init(
                .usage, "bcrypt takes at most 72 bytes of a password, and crypt(3) 511; neither takes a NUL",
                hint: "--alg argon2id")
        case .keyLength:
            self.init(usage: "the key does not have the length that the cipher needs")
        case .ivLength:
            self.init(usage: "the IV does not have the length of the cipher's block")
        case .notWholeBlocks:
            self.init(.usage, "without padding only whole blocks can be encrypted", hint: "--padding pkcs7")
        case .notPrefixed, .malformedHash:
            self.init(
                .corrupt, "this is not a stored hash",
                hint: "a stored hash is {name} and base64 of digest and salt, or a PHC string")
        case .cannotDecrypt:
            self.init(.corrupt, "wrong key, or the data was changed", hint: "try the key that the data was encrypted with")
        case .emptyKey:
            self.init(usage: "the key is empty")
        case .paddingNotForSymmetric:
            self.init(usage: "symmetric ciphers have the paddings pkcs7 and none")
        case .expectedBase64, .invalidBase64:
            self.init(.corrupt, "the data is not strict base64", hint: "for raw bytes: --encoding raw")
        case .wrapLength:
            self.init(
                .usage, "aes-kw wraps 16 bytes or more, a multiple of 8",
                hint: "--alg aes-kwp wraps any length from 1 byte")
        case .notOpenSSLSalted:
            self.init(
                .corrupt, "this is not a file of openssl enc: it does not begin with Salted__",
                hint: "for a file of openssl enc -a: --encoding base64")
        case .notAContainer:
            self.init(
                .corrupt, "omvault did not encrypt this file, or its header was changed",
                hint: "for a file of openssl enc: --openssl pbkdf2 --alg …; for a bare cipher: --raw --alg …")
        case .laterContainer(let version):
            self.init(
                .unsupported, "the file has format \(version), which this omvault does not know",
                hint: "a later omvault wrote the file; update omvault")
        case .wrongUnlockMethod:
            self.init(
                .usage, "the file opens in another way",
                hint: "it needs a password, a key or a recipient's private key: omvault crypto decrypt --help")
        case .wrongFileKey:
            self.init(
                .badSecret, "wrong password or key, or the file's header was changed",
                hint: "omvault crypto inspect shows what opens the file")
        case .damagedContainer:
            self.init(.corrupt, "the file was changed or cut short", hint: "nothing in it can be trusted; take another copy")
        case .unusableRecipient:
            self.init(
                .usage, "the recipient is not a usable X25519 key",
                hint:
                    "give an X25519 key file (omvault crypto inspect shows the type) or its 32 bytes, at most 64; age files (--age) "
                    + "take Ed25519 and RSA too"
            )
        case .malformedAge:
            self.init(
                .corrupt, "this is not an age file, or its header was changed",
                hint: "take another copy of the file; docs/formats/age.md says what a header may have")
        case .malformedArmor:
            self.init(
                .corrupt, "the text of the age file was changed or cut short",
                hint: "copy all of it, from -----BEGIN to -----END")
        case .laterAge:
            self.init(
                .unsupported, "the age file has a version that this omvault does not know", hint: "a newer age may open it")
        case .noMatchingIdentity:
            self.init(
                .badSecret, "none of the private keys opens this age file",
                hint: "omvault crypto inspect shows the kinds of its recipients")
        case .unusableAgeRecipient:
            self.init(
                .usage, "age files take the keys of age, and ssh-ed25519 and ssh-rsa keys of OpenSSH",
                hint: "an RSA key needs 2048 bits or more; at most 64 recipients or identities")
        case .cannotGenerate, .invalidTag, .keyPairNotFound, .keyPairExists, .cannotSign, .emptySignature,
            .badSignature, .cannotUnwrap, .wrongKeyType, .keyUseNotAllowed, .unknownKeyFormat, .malformedKey,
            .unsupportedKey, .invalidKey, .keyPasswordRequired, .wrongKeyPassword, .noPrivateKey, .severalKeys,
            .certificateInsteadOfKey, .foreignCertificate, .noCertificate, .severalCertificates, .invalidName, .malformedJWS,
            .algorithmNotAllowed, .unknownKeyID:
            self.init(ofKeys: error)
        }
    }

    init(_ error: VectorsError) {
        switch error {
        case .unreadable(let path):
            self.init(.io, "cannot read \"\(path.shown)\"", hint: "check the path: ls -ld shows what is there")
        case .policy(let reason): self.init(usage: "this is not a policy for vectors: \(reason.shown)")
        }
    }
}

extension Failure {
    /// Runs `body`. An error about a key or a certificate gets the file's name.
    static func naming<R: ~Copyable>(_ file: String, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as CryptoError { throw Failure(error).about(file) }
    }
}
