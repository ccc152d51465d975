/// The rules for an RSA key, checked before OpenSSL computes with it.
enum RSARules {
    /// - Returns: the modulus' length in bits.
    static func check(modulus: Span<UInt8>, exponent: Span<UInt8>) throws(CryptoError) -> Int {
        guard let bits = bitCount(modulus), let exponentBits = bitCount(exponent) else { throw .invalidKey }
        // FIPS 186-5 section 5.1 caps the exponent at 256 bits; a large key takes at most 64, as in OpenSSL.
        guard (512...PublicKey.maximumModulusBits).contains(bits), modulus[modulus.count - 1] & 1 == 1,
            (2...(bits > 3072 ? 64 : 256)).contains(exponentBits), exponent[exponent.count - 1] & 1 == 1
        else { throw .invalidKey }
        return bits
    }

    private static func bitCount(_ number: Span<UInt8>) -> Int? {
        number.isEmpty ? nil : number.count * 8 - number[0].leadingZeroBitCount
    }
}
