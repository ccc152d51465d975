// The derivation of PKCS#12's keys from passwords.

internal import COpenSSL
internal import OMSecrets

/// PKCS#12's password and key derivation, RFC 7292 appendix B.
enum PKCS12Password {
    /// The password as a BMPString with its two zero bytes: UTF-16, big-endian.
    ///
    /// - Throws: ``CryptoError/wrongKeyPassword`` for bytes that are not UTF-8: no file was ever made with such a password.
    static func text(_ password: borrowing SecretBytes, isBare: Bool = false) throws(CryptoError) -> SecretBytes {
        if isBare { return SecretBytes(count: 0) { _ in } }
        return try password.withBytes { (password) throws(CryptoError) in
            guard let text = try? UTF8Span(validating: password) else { throw .wrongKeyPassword }
            var units = SecretBuffer(capacity: 2 * password.count + 2)
            var scalars = text.makeUnicodeScalarIterator()
            while let scalar = scalars.next() {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    units.append(UInt8(unit >> 8))
                    units.append(UInt8(unit & 0xFF))
                }
            }
            units.append(0)
            units.append(0)
            return units.finish()
        }
    }

    /// The purpose of the derived bytes, with its number in appendix B.3.
    enum Purpose: Int32 {
        case key = 1
        case iv = 2
        case macKey = 3
    }

    static func derive(
        _ purpose: Purpose, from text: borrowing SecretBytes, salt: [UInt8], iterations: Int, hash: DigestAlgorithm,
        count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard let function = EVP_get_digestbyname(hash.name.uppercased()) else { throw .clearing(.unknownAlgorithm) }
        var (status, salt): (Int32, [UInt8]) = (0, salt)
        let derived = SecretBytes(count: count) { target in
            status = text.withBytes { text in
                unsafe text.withPointer { text, textCount in
                    unsafe target.withPointer { target, count in
                        PKCS12_key_gen_uni(
                            UnsafeMutablePointer(mutating: text), Int32(textCount), &salt, Int32(salt.count),
                            purpose.rawValue, Int32(iterations), Int32(count), target, function)
                    }
                }
            }
        }
        guard status == 1 else { throw .clearing(.unknownAlgorithm) }
        return derived
    }
}
