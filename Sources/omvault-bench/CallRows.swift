// What one call costs beyond OpenSSL's own, on 16 bytes: the price of the types.

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
            Row(
                name: "one AES-256-CBC of 16 bytes", unit: .time, asked: .plus(1e-6),
                ours: .init(label: "BlockCipher.encrypt") { () throws(BenchError) in
                    let key = SecretBytes.random(32)
                    let message = SecretBytes.random(16)
                    let iv = Random.bytes(16)
                    return try Clock.perCall { () throws(BenchError) in
                        let text = try? BlockCipher.encrypt(
                            message, unauthenticated: .aesCBC, key: key, iv: iv, padding: .none)
                        guard text != nil else { throw BenchError("no AES") }
                    }
                },
                peer: .init(label: "EVP_Encrypt…") { () throws(BenchError) in try opensslEncrypt() }),
        ]
    }

    /// Fetch, context, init, update, final, free: all that ours does, too.
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

    private static func opensslEncrypt() throws(BenchError) -> Double {
        let (key, iv) = (Random.bytes(32), Random.bytes(16))
        let message = [UInt8](repeating: 0x5A, count: 16)
        return try Clock.perCall { () throws(BenchError) in
            var (output, count) = ([UInt8](repeating: 0, count: 32), Int32(0))
            let (function, context) = (EVP_CIPHER_fetch(nil, "AES-256-CBC", nil), EVP_CIPHER_CTX_new())
            let isDone =
                EVP_EncryptInit_ex2(context, function, key, iv, nil) == 1
                && EVP_CIPHER_CTX_set_padding(context, 0) == 1
                && EVP_EncryptUpdate(context, &output, &count, message, 16) == 1
                && EVP_EncryptFinal_ex(context, &output, &count) == 1
            EVP_CIPHER_CTX_free(context)
            EVP_CIPHER_free(function)
            guard isDone else { throw BenchError("no AES") }
        }
    }
}
