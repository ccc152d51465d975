/// The errors of the toolkit. No case carries a secret or the text of a library below.
@nonexhaustive
public enum CryptoError: Error, Hashable, Sendable {
    /// The input is empty, and the SDK asks for at least one byte.
    case emptyInput
    /// The caller asked for a salt of fewer than 4 bits.
    case saltTooShort
    /// The caller asked for a salt whose length in bits is not a multiple of 4.
    case saltNotMultipleOfFour
    /// The caller asked for a salted form with an empty salt.
    case saltRequired
    /// A salt that is not pairs of upper-case hex digits.
    case saltNotHex
    /// The caller asked for an unsalted form with a salt.
    case saltNotSupported
    /// The caller asked to append the salt, but gave no salt.
    case noSaltToAppend
    /// Data and salt together are longer than the SDK's 2^32 − 1 bytes.
    case inputTooLong
    /// No algorithm has this name, or this machine's OpenSSL does not offer it.
    case unknownAlgorithm
    /// A stored hash that does not start with a scheme in braces, such as `{SSHA}`.
    case notPrefixed
    /// A stored hash whose base64, digest or salt does not fit its scheme.
    case malformedHash
    /// A stored hash of a scheme that the caller does not allow.
    case schemeNotAllowed
    /// The encoding has no name for this algorithm, or cannot hold the secret or the salt.
    case noSuchForm
    /// A work factor, a salt or an output length that the function does not allow.
    case parameterOutOfRange
    /// More work than the caller's ``WorkLimit`` allows. A hostile file would otherwise keep the machine busy.
    case workTooHigh
    /// The system does not have the memory that the work factors ask for.
    case outOfMemory
    /// A password that the function would cut. bcrypt takes 72 bytes, none of them NUL.
    case passwordNotSupported
    /// The cipher does not take keys of this length.
    case keyLength
    /// The IV or nonce does not have the length that the cipher takes.
    case ivLength
    /// Without padding, only whole blocks can be encrypted.
    case notWholeBlocks
    /// Another key, a changed ciphertext, a wrong length or a wrong padding. On purpose, the error does not say which.
    case cannotDecrypt

    /// The key is empty.
    case emptyKey
    /// The SDK has this padding, but not for symmetric ciphers.
    case paddingNotForSymmetric
    /// The caller announced base64 text and gave bytes.
    case expectedBase64
    /// Text that is not base64, or text although the caller announced bytes.
    case invalidBase64
    /// AES-KW wraps 16 bytes or more in whole half-blocks, AES-KWP 1 byte or more.
    case wrapLength
    /// The input does not start with `Salted__`, which `openssl enc` writes.
    case notOpenSSLSalted
    /// Not a file container, or a header that the format does not allow.
    case notAContainer
    /// A container of a later version.
    case laterContainer(Int)
    /// The container opens in another way: by password, key or recipient. Its header says which.
    case wrongUnlockMethod
    /// Wrong password, wrong key, no recipient with this private key, or a changed header. On purpose, the error does not say
    /// which.
    case wrongFileKey
    /// A chunk that does not open, or a container that was cut short or extended.
    case damagedContainer
    /// An X25519 key that cannot be used, no recipient, or more than 64 recipients.
    case unusableRecipient
    /// Not an age file, or a header that its format does not allow.
    case malformedAge
    /// The text around an age file is cut short, or is not in its one spelling.
    case malformedArmor
    /// An age file of a later version.
    case laterAge
    /// An age file that none of the private keys opens.
    case noMatchingIdentity
    /// A key to which no age file can be encrypted, no recipient, or more than 64 recipients or identities.
    case unusableAgeRecipient

    // Key pairs
    /// The toolkit does not make keys of this type or size.
    case cannotGenerate
    /// A key pair's tag is empty, or cannot be the name of an item.
    case invalidTag
    /// No key pair is stored under this tag.
    case keyPairNotFound
    /// A key pair, or half of a pair, is already stored under this tag.
    case keyPairExists
    /// The key and the algorithm do not fit together, or the message is longer than they allow.
    case cannotSign
    /// A signature of no bytes.
    case emptySignature
    /// The signature does not match this key, this message and this algorithm.
    case badSignature
    /// Another key, a changed ciphertext or another OAEP label. On purpose, the error does not say which.
    case cannotUnwrap
    /// The operation does not take a key of this type.
    case wrongKeyType
    /// A JWK whose `use` or `key_ops` does not allow the operation.
    case keyUseNotAllowed
    /// Bytes in none of the known forms of keys.
    case unknownKeyFormat
    /// A key file that breaks the rules of its own format.
    case malformedKey(KeyFormat)
    /// A key file with a cipher, a curve or a version that the toolkit does not support.
    case unsupportedKey(KeyFormat)
    /// Numbers that are not a key: a point off its curve, halves that do not belong together, sizes out of bounds.
    case invalidKey
    /// The key file is encrypted, and the caller gave no password.
    case keyPasswordRequired
    /// Another password, or the key file was changed.
    case wrongKeyPassword
    /// The file holds only a public key, or no key at all.
    case noPrivateKey
    /// A file of two keys or more, although the caller needs one.
    case severalKeys
    /// A certificate. It holds a public key, but is not a key itself.
    case certificateInsteadOfKey
    /// The first certificate that the caller gave with a key belongs to another key, or none of them belongs to it.
    case foreignCertificate
    /// A private key without a certificate, although the caller needs both.
    case noCertificate
    /// More than one certificate for one private key.
    case severalCertificates
    /// A subject or an alternative name that a request for a certificate cannot have.
    case invalidName

    // Signed tokens
    /// A token that is not a strict compact JWS, or that demands an extension (`crit`, `b64`).
    case malformedJWS
    /// The token's `alg` is `none`, a MAC, or another algorithm than those that the caller allows.
    case algorithmNotAllowed
    /// The key set has no key with the token's `kid`. A newer set may have it.
    case unknownKeyID

    /// The SDK's number for this error, in the iOS numbering: docs/reference/sdk-numbers.md. 10502 is "invalid input".
    public var sdkCode: Int {
        switch self {
        case .noPrivateKey, .noCertificate: 10037
        case .keyPasswordRequired, .wrongKeyPassword: 10038
        case .emptyInput: 10406
        case .emptyKey: 10501
        case .wrapLength, .unusableRecipient, .unusableAgeRecipient, .saltNotHex, .malformedHash, .schemeNotAllowed, .noSuchForm,
            .parameterOutOfRange,
            .workTooHigh, .passwordNotSupported, .unknownKeyFormat, .malformedKey, .unsupportedKey, .invalidKey, .severalKeys,
            .certificateInsteadOfKey, .foreignCertificate, .severalCertificates, .invalidName, .malformedJWS:
            10502
        case .saltTooShort: 10505
        case .unknownAlgorithm, .algorithmNotAllowed: 10506
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
        case .keyPairNotFound, .unknownKeyID: 10523
        case .cannotSign: 10524
        case .emptySignature: 10525
        case .badSignature: 10526
        case .notOpenSSLSalted, .notAContainer, .laterContainer, .wrongUnlockMethod, .wrongFileKey, .damagedContainer,
            .cannotUnwrap, .malformedAge, .malformedArmor, .laterAge, .noMatchingIdentity:
            10527
        case .keyPairExists: 10528
        case .wrongKeyType, .keyUseNotAllowed: 10529
        case .outOfMemory: 10531
        }
    }
}
