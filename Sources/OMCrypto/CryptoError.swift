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
    /// Data and salt together are longer than the SDK's 2^32 − 1 bytes.
    case inputTooLong
    /// No algorithm has this name, or this machine's OpenSSL does not offer it.
    case unknownAlgorithm
    /// A stored hash that does not start with `{name}`.
    case notPrefixed
    /// A stored hash whose base64, digest or salt is not what its name promises.
    case malformedHash
    /// The key's length is not the cipher's.
    case keyLength
    /// The IV's length is not the cipher's block.
    case ivLength
    /// Without padding, only whole blocks can be encrypted.
    case notWholeBlocks
    /// Another key, a changed ciphertext, a wrong length or a wrong padding: which, nobody learns.
    case cannotDecrypt

    /// No key, where one is asked for.
    case emptyKey
    /// The SDK knows this padding, but not for symmetric ciphers.
    case wrongPadding
    /// The SDK was told to expect base64, and was given bytes.
    case notText
    /// The SDK was given neither base64 text nor bytes, or not what it was told to expect.
    case notDecodable
    /// AES-KW wraps 16 bytes or more in whole half-blocks, AES-KWP 1 byte or more.
    case wrapLength
    /// A work factor outside what the function takes.
    case workOutOfBounds
    /// A foreign file asks for more work than the cap allows.
    case workAboveCap(Int)
    /// No `Salted__`, where `openssl enc` writes it.
    case notOpenSSLSalted
    /// Not a file container, or one whose header its format does not allow.
    case notAContainer
    /// A container of a later version.
    case laterContainer(Int)
    /// A container opens with something else: which, its lock says.
    case otherLock
    /// Wrong password, wrong key, no stanza for this private key or a changed header: which, nobody learns.
    case wrongFileKey
    /// A chunk that does not open, or a container cut short or with something appended.
    case damagedContainer
    /// Not 32 bytes of a usable X25519 key, or none or more than 64 of them.
    case unusableRecipient

    /// The SDK's number for this error, in the iOS numbering.
    public var sdkCode: Int {
        switch self {
        case .emptyInput: 10406
        case .saltTooShort: 10505
        case .unknownAlgorithm: 10506
        case .keyLength: 10507
        case .ivLength: 10508
        case .notWholeBlocks: 10509
        case .cannotDecrypt: 10511
        case .saltNotMultipleOfFour: 10512
        case .saltRequired: 10513
        case .notPrefixed: 10516
        case .inputTooLong: 10519
        case .emptyKey: 10501
        case .wrongPadding: 10510
        case .notText: 10517
        case .notDecodable: 10518
        case .saltNotHex, .malformedHash, .wrapLength, .workOutOfBounds, .workAboveCap, .unusableRecipient: 10502
        case .notOpenSSLSalted, .notAContainer, .laterContainer, .otherLock, .wrongFileKey, .damagedContainer: 10527
        }
    }
}
