internal import COpenSSL
internal import OMSecrets

enum RSACompletion {
    /// d mod p − 1.
    static func exponent(_ d: Span<UInt8>, prime: Span<UInt8>) throws(CryptoError) -> SecretBytes {
        guard (1...PublicKey.maximumModulusBits / 8).contains(prime.count), d.count <= PublicKey.maximumModulusBits / 8
        else {
            throw .invalidKey
        }
        let number = BigNumber(d)
        let less = BigNumber(prime)
        let scratch = BigNumberScratch()
        let result = BigNumber()
        guard BN_is_zero(less.pointer) == 0, BN_sub_word(less.pointer, 1) == 1, BN_is_zero(less.pointer) == 0,
            BN_nnmod(result.pointer, number.pointer, less.pointer, scratch.pointer) == 1
        else { throw .clearing(.invalidKey) }
        return SecretBytes(count: prime.count) { target in
            _ = unsafe target.withPointer { BN_bn2binpad(result.pointer, $0, Int32($1)) }
        }
    }
}
