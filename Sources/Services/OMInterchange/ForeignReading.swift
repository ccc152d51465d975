internal import OMCrypto
internal import OMSecrets

package enum ForeignReading {
    /// Lets OpenSSL load what it needs, for a process that cannot open a file afterwards.
    package static func prepare() {
        let key = SecretBytes(count: 32) { _ in }
        let empty: [UInt8] = [UInt8](repeating: 0, count: 16)
        _ = try? Digest(.sha256).algorithm
        _ = try? Digest(.sha512).algorithm
        _ = try? HMAC.tag(of: empty.span, .sha256, key: key).count
        _ = try? KeyDerivation.pbkdf2(.sha256, key, salt: empty, iterations: 1, count: 32).count
        _ = try? BlockCipher(.decrypt, unauthenticated: .aesCBC, key: key, iv: empty, padding: .pkcs7).algorithm
    }
}
