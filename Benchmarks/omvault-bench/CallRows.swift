// The cost of one call on 16 bytes, compared with OpenSSL's own calls: the cost of our types.

internal import COpenSSL
internal import OMCrypto
internal import OMSecrets

enum CallRows {
    static func all() -> [Row] {
        [
            Row(
                name: "one SHA-256 of 16 bytes", unit: .time, asked: .plus(1e-6),
                ours: .init(label: "Digest.of") { () throws(BenchError) in
                    let message = [UInt8](repeating: 0x5A, count: 16)
                    return try Clock.perCall { () throws(BenchError) in
                        guard (try? Digest.of(message, .sha256)) != nil else { throw BenchError("no SHA-256") }
                    }
                },
                peer: .init(label: "EVP_Digest…") { () throws(BenchError) in try opensslDigest() }),
            sealing("AES-256-GCM", .aesGCM, "AES-256-GCM"),
            sealing("ChaCha20-Poly1305", .chacha20Poly1305, "ChaCha20-Poly1305"),
        ]
    }

    /// Fetch, context, init, update, final, free: the same steps as in our call.
    private static func opensslDigest() throws(BenchError) -> Double {
        let message = [UInt8](repeating: 0x5A, count: 16)
        return try Clock.perCall { () throws(BenchError) in
            var digest = [UInt8](repeating: 0, count: 32)
            let (function, context) = (EVP_MD_fetch(nil, "SHA2-256", nil), EVP_MD_CTX_new())
            let isDone =
                EVP_DigestInit_ex2(context, function, nil) == 1 && EVP_DigestUpdate(context, message, 16) == 1
                && EVP_DigestFinal_ex(context, &digest, nil) == 1
            EVP_MD_CTX_free(context)
            EVP_MD_free(function)
            guard isDone else { throw BenchError("no SHA-256") }
        }
    }

    private static func sealing(_ title: String, _ algorithm: AEADAlgorithm, _ name: String) -> Row {
        Row(
            name: "one \(title) of 16 bytes", unit: .time, asked: .plus(1e-6),
            ours: .init(label: "AuthenticatedCipher.seal") { () throws(BenchError) in
                let message = SecretBytes(copying: [UInt8](repeating: 0x5A, count: 16))
                let key = SecretBytes.random(32)
                let nonce = [UInt8](repeating: 7, count: 12)
                return try Clock.perCall { () throws(BenchError) in
                    let sealed = try? AuthenticatedCipher.seal(
                        message, algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: [])
                    guard sealed != nil else { throw BenchError("OpenSSL has no \(title)") }
                }
            },
            peer: .init(label: "EVP_Encrypt…") { () throws(BenchError) in try opensslSealing(name) })
    }

    /// Context, init, update, final, tag, free, with a cipher that was fetched before.
    private static func opensslSealing(_ name: String) throws(BenchError) -> Double {
        let message = [UInt8](repeating: 0x5A, count: 16)
        let (key, nonce) = ([UInt8](repeating: 3, count: 32), [UInt8](repeating: 7, count: 12))
        let cipher = try BareCipher(name)
        return try Clock.perCall { () throws(BenchError) in
            var (sealed, tag) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 16))
            let context = EVP_CIPHER_CTX_new()
            let isDone =
                EVP_EncryptInit_ex2(context, cipher.pointer, key, nonce, nil) == 1
                && BareCipher.seal(message, into: &sealed, &tag, context)
            EVP_CIPHER_CTX_free(context)
            guard isDone else { throw BenchError("\(name) does not seal") }
        }
    }
}

/// OpenSSL's cipher without our types, for the peers' sides.
struct BareCipher: ~Copyable {
    let pointer: OpaquePointer

    init(_ name: String) throws(BenchError) {
        guard let pointer = EVP_CIPHER_fetch(nil, name, nil) else { throw BenchError("OpenSSL has no \(name)") }
        self.pointer = pointer
    }

    deinit { EVP_CIPHER_free(pointer) }

    static func seal(
        _ message: [UInt8], into sealed: inout [UInt8], _ tag: inout [UInt8], _ context: OpaquePointer?
    ) -> Bool {
        var count: Int32 = 0
        return EVP_EncryptUpdate(context, &sealed, &count, message, Int32(message.count)) == 1
            && EVP_EncryptFinal_ex(context, &tag, &count) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
    }

    /// Bytes per second, with one message for each block: a nonce, the text, the tag. The key was set before.
    static func rate(_ name: String) throws(BenchError) -> Double {
        let message = [UInt8](repeating: 0x5A, count: BlockRows.count)
        var (sealed, tag) = ([UInt8](repeating: 0, count: message.count), [UInt8](repeating: 0, count: 16))
        var nonce = [UInt8](repeating: 7, count: 12)
        let key = [UInt8](repeating: 3, count: 32)
        let cipher = try BareCipher(name)
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        guard EVP_EncryptInit_ex2(context, cipher.pointer, key, nonce, nil) == 1 else {
            throw BenchError("\(name) takes no key")
        }
        return try Clock.rate(each: message.count) { () throws(BenchError) in
            nonce[0] &+= 1
            guard EVP_EncryptInit_ex2(context, nil, nil, nonce, nil) == 1,
                seal(message, into: &sealed, &tag, context)
            else { throw BenchError("\(name) does not seal") }
        }
    }
}
