// OpenSSL's ciphers and their contexts, behind types of their own: each handle is freed, and so wiped, with its owner.
//
// Single DES lives in the legacy provider, which is loaded into a library context of its own and only when DES is asked
// for: in the default context it would offer the rest of the toolkit RC4 and MD4 by name.

internal import COpenSSL
internal import OMSecrets

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
        // Without it OpenSSL refuses its key wrapping ciphers; the others do not look at it.
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
    /// - Throws: ``CryptoError/unknownAlgorithm``: OpenSSL refuses no key of the right length.
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

    /// The most that one call takes, since OpenSSL counts in `int`.
    static let longestPiece = 1 << 30

    /// How many bytes were written; nil on failure.
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
