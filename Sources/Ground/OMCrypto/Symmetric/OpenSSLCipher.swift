internal import COpenSSL
internal import Synchronization

/// Every cipher that the toolkit asks OpenSSL for, by its name there.
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
    /// - Throws: ``CryptoError/unknownAlgorithm`` when this machine's OpenSSL is set up without it.
    func fetched() throws(CryptoError) -> OpaquePointer {
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

/// A cipher's description, which does not change once it is fetched and lives as long as the process.
private struct KeptCipher: @unchecked Sendable {
    let pointer: OpaquePointer
}

enum LegacyLibrary {
    /// Loading "legacy" switches the implicit default provider off, so that is loaded too. Nil when it is not
    /// installed.
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
