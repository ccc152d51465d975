// AES in CBC mode (FIPS 197, SP 800-38A section 6.2) over OpenSSL's EVP_CIPHER_CTX.
//
// Nothing here notices a changed ciphertext: whoever can tell a wrong padding from a right one can read the message
// (Vaudenay 2002). Hence one error for everything that goes wrong, and "unauthenticated" in every signature.

internal import COpenSSL
public import OMSecrets

/// A cipher and its mode; the key's length picks the variant.
public enum BlockAlgorithm: Hashable, Sendable {
    /// Keys of 16, 24 or 32 bytes, an IV of 16.
    case aesCBC

    /// The block's length in bytes, which is the IV's too.
    public var blockCount: Int { 16 }
}

/// How the last block is filled.
public enum BlockPadding: Hashable, Sendable {
    /// 1 to 16 bytes, each of them their number (RFC 5652 section 6.3).
    case pkcs7
    /// None: the message is whole blocks.
    case none
}

/// A message being encrypted or decrypted, piece by piece.
///
/// For the formats that ask for it. It keeps nobody from changing the message: seal with ``AEAD`` what is yours to
/// choose.
public struct BlockCipher: ~Copyable {
    public enum Direction: Hashable, Sendable { case encrypt, decrypt }

    private let direction: Direction
    private let context: CipherContext

    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``.
    public init(
        _ direction: Direction, unauthenticated algorithm: BlockAlgorithm, key: borrowing SecretBytes, iv: [UInt8],
        padding: BlockPadding
    ) throws(CryptoError) {
        guard let name = algorithm.opensslName(keyCount: key.count) else { throw .keyLength }
        guard iv.count == algorithm.blockCount else { throw .ivLength }
        guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else { throw .clearing(.unknownAlgorithm) }
        defer { EVP_CIPHER_free(cipher) }
        let context = CipherContext()
        let status = key.withBytes { key in
            unsafe key.withPointer { key, _ in
                EVP_CipherInit_ex2(context.pointer, cipher, key, iv, direction == .encrypt ? 1 : 0, nil)
            }
        }
        guard status == 1, EVP_CIPHER_CTX_set_padding(context.pointer, padding == .pkcs7 ? 1 : 0) == 1 else {
            throw .clearing(.unknownAlgorithm)
        }
        self.direction = direction
        self.context = context
    }

    /// Takes a piece of at most 1 GiB and gives what is finished of the message: whole blocks, maybe none.
    ///
    /// - Throws: ``CryptoError/inputTooLong``.
    public mutating func update(_ piece: Span<UInt8>) throws(CryptoError) -> SecretBytes {
        guard piece.count <= 1 << 30 else { throw .inputTooLong }
        return try output(upTo: piece.count + BlockAlgorithm.aesCBC.blockCount) { target, written in
            unsafe piece.withPointer { EVP_CipherUpdate(context.pointer, target, &written, $0, Int32($1)) }
        }
    }

    /// Gives the rest of the message.
    ///
    /// - Throws: ``CryptoError/notWholeBlocks`` when encrypting, ``CryptoError/cannotDecrypt`` when decrypting.
    public consuming func finish() throws(CryptoError) -> SecretBytes {
        try output(upTo: BlockAlgorithm.aesCBC.blockCount) { target, written in
            EVP_CipherFinal_ex(context.pointer, target, &written)
        }
    }

    private borrowing func output(
        upTo count: Int, _ fill: (UnsafeMutablePointer<UInt8>, inout Int32) -> Int32
    ) throws(CryptoError) -> SecretBytes {
        var written: Int32 = 0
        var status: Int32 = 0
        let room = SecretBytes(count: count) { target in
            status = unsafe target.withPointer { bytes, _ in fill(bytes, &written) }
        }
        guard status == 1 else { throw .clearing(direction == .encrypt ? .notWholeBlocks : .cannotDecrypt) }
        return room.withBytes { SecretBytes(copying: $0.extracting(0..<Int(written))) }
    }
}

/// The handle, freed, and so wiped, with its owner.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct CipherContext: ~Copyable {
    let pointer: OpaquePointer

    init() {
        guard let pointer = EVP_CIPHER_CTX_new() else { fatalError("out of memory for a cipher") }
        self.pointer = pointer
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }
}

extension BlockCipher {
    /// The ciphertext of a whole message.
    ///
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/notWholeBlocks``.
    public static func encrypt(
        _ message: borrowing SecretBytes, unauthenticated algorithm: BlockAlgorithm, key: borrowing SecretBytes,
        iv: [UInt8], padding: BlockPadding
    ) throws(CryptoError) -> [UInt8] {
        let cipher = try BlockCipher(.encrypt, unauthenticated: algorithm, key: key, iv: iv, padding: padding)
        return try cipher.run(message).withBytes { [UInt8](copying: $0) }
    }

    /// The message of a whole ciphertext.
    ///
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/cannotDecrypt``.
    public static func decrypt(
        _ ciphertext: [UInt8], unauthenticated algorithm: BlockAlgorithm, key: borrowing SecretBytes, iv: [UInt8],
        padding: BlockPadding
    ) throws(CryptoError) -> SecretBytes {
        let cipher = try BlockCipher(.decrypt, unauthenticated: algorithm, key: key, iv: iv, padding: padding)
        return try cipher.run(SecretBytes(copying: ciphertext))
    }

    private consuming func run(_ input: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        var whole = SecretBuffer(capacity: input.count + BlockAlgorithm.aesCBC.blockCount)
        let first = try input.withBytes { (bytes: Span<UInt8>) throws(CryptoError) in try update(bytes) }
        whole.append(first)
        whole.append(try finish())
        return whole.finish()
    }
}

extension BlockAlgorithm {
    fileprivate func opensslName(keyCount: Int) -> String? {
        switch (self, keyCount) {
        case (.aesCBC, 16): "AES-128-CBC"
        case (.aesCBC, 24): "AES-192-CBC"
        case (.aesCBC, 32): "AES-256-CBC"
        default: nil
        }
    }
}
