/// What the toolkit can refuse. No case carries a secret, nor the text of the library below.
@nonexhaustive
public enum CryptoError: Error, Hashable, Sendable {
    /// No bytes to hash where the SDK asks for some.
    case emptyInput
    /// A salt of fewer than 4 bits was asked for.
    case saltTooShort
    /// A salt was asked for whose length in bits is not a multiple of 4.
    case saltNotMultipleOfFour
    /// A salted form was asked for with an empty salt.
    case saltRequired
    /// A salt that is not pairs of upper-case hex digits.
    case saltNotHex
    /// An unsalted form was asked for with a salt.
    case saltNotSupported
    /// Appending the salt was asked for, but there is no salt.
    case noSaltToAppend
    /// Data and salt together are longer than the SDK's 2^32 − 1 bytes.
    case inputTooLong
    /// No algorithm has this name, or this machine's OpenSSL does not offer it.
    case unknownAlgorithm
    /// A stored hash that does not start with a scheme in braces, such as `{SSHA}`.
    case notPrefixed
    /// A stored hash whose base64, digest or salt is not what its name promises.
    case malformedHash
    /// A stored hash of a scheme that the caller does not allow.
    case schemeNotAllowed
    /// The encoding has no name for this algorithm, or cannot hold the secret or the salt.
    case noSuchForm
    /// A work factor, a salt or an output length outside what the function is defined for.
    case parameterOutOfRange
    /// More work than the caller's ``WorkLimit`` allows: a hostile file would keep the machine busy.
    case workTooHigh
    /// The system has not the memory that the work factors ask for.
    case outOfMemory
    /// A password that the function would cut: bcrypt takes 72 bytes, none of them NUL.
    case passwordNotSupported
    /// The key's length is not the cipher's.
    case keyLength
    /// The IV's length is not the cipher's block.
    case ivLength
    /// Without padding, only whole blocks can be encrypted.
    case notWholeBlocks
    /// Another key, a changed ciphertext, a wrong length or a wrong padding. Which one is not told on purpose.
    case cannotDecrypt

    /// No key, where one is asked for.
    case emptyKey
    /// The SDK has this padding, but not for symmetric ciphers.
    case paddingNotForSymmetric
    /// Base64 text was announced, and bytes were given.
    case expectedBase64
    /// Text that is not base64, or text where bytes were announced.
    case invalidBase64
    /// AES-KW wraps 16 bytes or more in whole half-blocks, AES-KWP 1 byte or more.
    case wrapLength
    /// No `Salted__`, where `openssl enc` writes it.
    case notOpenSSLSalted
    /// Not a file container, or one whose header its format does not allow.
    case notAContainer
    /// A container of a later version.
    case laterContainer(Int)
    /// The container opens in another way, by password, key or recipient: its header says which.
    case wrongUnlockMethod
    /// Wrong password, wrong key, no recipient with this private key, or a changed header. Which one is not told on purpose.
    case wrongFileKey
    /// A chunk that does not open, or a container cut short or with something appended.
    case damagedContainer
    /// An X25519 key that cannot be used, no recipient, or more than 64 of them.
    case unusableRecipient

    // Key pairs
    /// A key of this type or size cannot be made here.
    case cannotGenerate
    /// A key pair's tag is empty, or no item can have that name.
    case invalidTag
    /// No key pair is stored under this tag.
    case keyPairNotFound
    /// A key pair, or half of one, is stored under this tag already.
    case keyPairExists
    /// The key and the algorithm do not go together, or the message is longer than the two allow.
    case cannotSign
    /// A signature of no bytes.
    case emptySignature
    /// The signature is not of this key, this message and this algorithm.
    case badSignature
    /// Another key, a changed ciphertext or another OAEP label. Which one is not told on purpose.
    case cannotUnwrap
    /// A key of another type than the operation takes.
    case wrongKeyType
    /// A JWK whose `use` or `key_ops` does not allow what was asked of it.
    case keyUseNotAllowed
    /// Bytes in none of the forms in which keys are kept.
    case unknownKeyFormat
    /// A key file that breaks the rules of its own format.
    case malformedKey(KeyFormat)
    /// A key file with a cipher, a curve or a version that is not offered here.
    case unsupportedKey(KeyFormat)
    /// Numbers that make no key: a point off its curve, halves that do not belong together, sizes out of bounds.
    case invalidKey
    /// The key file is encrypted and no password was given.
    case keyPasswordRequired
    /// Another password, or the key file was changed.
    case wrongKeyPassword
    /// The file holds a public key only, or none at all.
    case noPrivateKey
    /// A file of two keys or more, where one is asked for.
    case severalKeys
    /// A certificate, which holds a public key and is none.
    case certificateInsteadOfKey
    /// The first certificate that was given with a key is of another key.
    case foreignCertificate

    /// The SDK's number for this error, in the iOS numbering: docs/sdk-numbers.md. 10502 is "invalid input".
    public var sdkCode: Int {
        switch self {
        case .noPrivateKey: 10037
        case .keyPasswordRequired, .wrongKeyPassword: 10038
        case .emptyInput: 10406
        case .emptyKey: 10501
        case .wrapLength, .unusableRecipient, .saltNotHex, .malformedHash, .schemeNotAllowed, .noSuchForm, .parameterOutOfRange,
            .workTooHigh, .passwordNotSupported, .unknownKeyFormat, .malformedKey, .unsupportedKey, .invalidKey, .severalKeys,
            .certificateInsteadOfKey, .foreignCertificate:
            10502
        case .saltTooShort: 10505
        case .unknownAlgorithm: 10506
        case .keyLength: 10507
        case .ivLength: 10508
        case .notWholeBlocks: 10509
        case .paddingNotForSymmetric: 10510
        case .cannotDecrypt: 10511
        case .saltNotMultipleOfFour: 10512
        case .saltRequired: 10513
        case .saltNotSupported: 10514
        case .noSaltToAppend: 10515
        case .notPrefixed: 10516
        case .expectedBase64: 10517
        case .invalidBase64: 10518
        case .inputTooLong: 10519
        case .cannotGenerate: 10520
        case .invalidTag: 10521
        case .keyPairNotFound: 10523
        case .cannotSign: 10524
        case .emptySignature: 10525
        case .badSignature: 10526
        case .notOpenSSLSalted, .notAContainer, .laterContainer, .wrongUnlockMethod, .wrongFileKey, .damagedContainer,
            .cannotUnwrap:
            10527
        case .keyPairExists: 10528
        case .wrongKeyType, .keyUseNotAllowed: 10529
        case .outOfMemory: 10531
        }
    }
}
