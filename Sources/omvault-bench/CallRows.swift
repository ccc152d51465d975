// What one call costs beyond OpenSSL's own, on 16 bytes: the price of the types.

internal import COpenSSL
internal import OMCrypto

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
                peer: .init(label: "EVP_Digest…") { () throws(BenchError) in try opensslDigest() })
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
}
