// Types for OpenSSL's ciphers and their contexts. The owner of a handle frees it, which wipes it.
//
// Single DES is in the legacy provider. It is loaded only when a caller asks for DES, into a library context of its own: in
// the default context, it would offer RC4 and MD4 by name to the rest of the toolkit.

internal import COpenSSL
internal import OMSecrets
internal import Synchronization

/// An EVP_CIPHER_CTX.
struct CipherContext: ~Copyable {
    enum Direction: Int32 {
        case encrypt = 1
        case decrypt = 0
    }

    let pointer: OpaquePointer

    private init(pointer: OpaquePointer) { self.pointer = pointer }

    /// - Throws: ``CryptoError/unknownAlgorithm``.
    init(_ cipher: OpenSSLCipher, _ direction: Direction) throws(CryptoError) {
        let fetched = try cipher.fetched()
        guard let pointer = EVP_CIPHER_CTX_new() else { fatalError("out of memory for a cipher") }
        // Without this flag OpenSSL refuses its key wrapping ciphers. The other ciphers ignore it.
        EVP_CIPHER_CTX_set_flags(pointer, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        guard EVP_CipherInit_ex2(pointer, fetched, nil, nil, direction.rawValue, nil) == 1 else {
            EVP_CIPHER_CTX_free(pointer)
            throw .clearing(.unknownAlgorithm)
        }
        self.init(pointer: pointer)
    }

    deinit { EVP_CIPHER_CTX_free(pointer) }

    /// Sets the key, whose length the caller has checked, and the IV if there is one.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``. OpenSSL never refuses a key of the right length.
    borrowing func start(key: Span<UInt8>, iv: [UInt8]?) throws(CryptoError) {
        let status = key.withPointer { key, _ in
            if let iv {
                EVP_CipherInit_ex2(pointer, nil, key, iv, -1, nil)
            } else {
                EVP_CipherInit_ex2(pointer, nil, key, nil, -1, nil)
            }
        }
        guard status == 1 else { throw .clearing(.unknownAlgorithm) }
    }

    /// Sets another IV under the same key.
    @discardableResult
    borrowing func restart(iv: UnsafePointer<UInt8>) -> Bool {
        EVP_CipherInit_ex2(pointer, nil, nil, iv, -1, nil) == 1
    }

    borrowing func control(_ command: Int32, _ number: Int, _ argument: UnsafeMutableRawPointer? = nil) -> Bool {
        EVP_CIPHER_CTX_ctrl(pointer, command, Int32(number), argument) == 1
    }

    /// The most bytes that one call takes, because OpenSSL counts in `int`.
    static let longestPiece = 1 << 30

    /// Returns how many bytes were written. Nil on failure.
    borrowing func update(
        _ input: UnsafePointer<UInt8>, _ count: Int, into target: UnsafeMutablePointer<UInt8>?
    ) -> Int? {
        var written: Int32 = 0
        guard EVP_CipherUpdate(pointer, target, &written, input, Int32(count)) == 1 else { return nil }
        return Int(written)
    }

    borrowing func finish(into target: UnsafeMutablePointer<UInt8>) -> Int? {
        var written: Int32 = 0
        guard EVP_CipherFinal_ex(pointer, target, &written) == 1 else { return nil }
        return Int(written)
    }
}

/// Every cipher that the toolkit asks OpenSSL for, by OpenSSL's name.
enum OpenSSLCipher: String, CaseIterable {
    case aes128CBC = "AES-128-CBC"
    case aes192CBC = "AES-192-CBC"
    case aes256CBC = "AES-256-CBC"
    case aes128ECB = "AES-128-ECB"
    case aes192ECB = "AES-192-ECB"
    case aes256ECB = "AES-256-ECB"
    case aes128CTR = "AES-128-CTR"
    case aes192CTR = "AES-192-CTR"
    case aes256CTR = "AES-256-CTR"
    case tripleDESCBC = "DES-EDE3-CBC"
    case tripleDESECB = "DES-EDE3-ECB"
    case desCBC = "DES-CBC"
    case desECB = "DES-ECB"
    case aes128GCM = "AES-128-GCM"
    case aes192GCM = "AES-192-GCM"
    case aes256GCM = "AES-256-GCM"
    case chacha20Poly1305 = "ChaCha20-Poly1305"
    /// An IV of 16 bytes: the number of the first block, and the nonce.
    case chacha20 = "ChaCha20"
    case aes128KW = "AES-128-WRAP"
    case aes192KW = "AES-192-WRAP"
    case aes256KW = "AES-256-WRAP"
    case aes128KWP = "AES-128-WRAP-PAD"
    case aes192KWP = "AES-192-WRAP-PAD"
    case aes256KWP = "AES-256-WRAP-PAD"

    /// One of three ciphers by the length of an AES key in bytes.
    static func aes(_ keyCount: Int, _ sizes: (OpenSSLCipher, OpenSSLCipher, OpenSSLCipher)) -> OpenSSLCipher? {
        switch keyCount {
        case 16: sizes.0
        case 24: sizes.1
        case 32: sizes.2
        default: nil
        }
    }

    /// The cipher, fetched once and kept: a fetch costs more than encrypting a short message.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm`` if this machine's OpenSSL is set up without it.
    fileprivate func fetched() throws(CryptoError) -> OpaquePointer {
        let known = Self.kept.withLock { kept in
            if let cipher = kept[self] { return cipher as KeptCipher? }
            guard let library = isLegacy ? LegacyLibrary.context : .some(nil),
                let pointer = EVP_CIPHER_fetch(library, rawValue, nil)
            else { return nil }
            let cipher = KeptCipher(pointer: pointer)
            kept[self] = cipher
            return cipher
        }
        guard let known else { throw .clearing(.unknownAlgorithm) }
        return known.pointer
    }

    private var isLegacy: Bool { self == .desCBC || self == .desECB }

    private static let kept = Mutex<[OpenSSLCipher: KeptCipher]>([:])
}

/// A cipher's description. It does not change after the fetch and lives as long as the process.
private struct KeptCipher: @unchecked Sendable {
    let pointer: OpaquePointer
}

enum LegacyLibrary {
    /// The library context with the legacy provider. Loading "legacy" switches the implicit default provider off, so that
    /// provider is loaded too. Nil if either is not installed.
    static var context: OpaquePointer?? { shared.pointer.map { .some($0) } }

    private struct Shared: @unchecked Sendable { let pointer: OpaquePointer? }

    private static let shared: Shared = {
        guard let library = OSSL_LIB_CTX_new() else { fatalError("out of memory for a cipher") }
        guard OSSL_PROVIDER_load(library, "default") != nil, OSSL_PROVIDER_load(library, "legacy") != nil else {
            OSSL_LIB_CTX_free(library)
            return Shared(pointer: nil)
        }
        return Shared(pointer: library)
    }()
}
