// bcrypt_pbkdf, with which OpenSSH stretches the password of a key file (bcrypt_pbkdf.c of OpenBSD). No library of Debian has it.

internal import CBlowfish
package import OMSecrets

package enum BCryptDerivation {
    private static let blockCount = 32

    /// The rounds of one hash, as ``KeyEncryption/work`` counts: it takes as long as so many rounds of PBKDF2.
    static let roundWork = 10_000

    /// The number of hashes in one round.
    static func blocks(_ count: Int) -> Int { (count + blockCount - 1) / blockCount }

    /// - Parameters:
    ///   - rounds: 1 or more. The caller limits them.
    ///   - count: 1 to 1024 bytes.
    package static func derive(
        _ password: borrowing SecretBytes, salt: [UInt8], rounds: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard rounds > 0, (1...1024).contains(count) else { throw .parameterOutOfRange }
        let key = try Digest.of(password, .sha512)
        let stride = blocks(count)
        var derived = SecretScratch(count: count)
        var state = SecretScratch(count: Int(OM_BLOWFISH_WORDS) * 4)
        for block in 0..<stride {
            let number = (0..<4).map { UInt8(truncatingIfNeeded: (block + 1) >> (24 - 8 * $0)) }
            var salted = try Digest.of(SecretBytes(copying: salt + number), .sha512)
            var sum = SecretScratch(count: blockCount)
            for round in 0..<rounds {
                let hash = hash(key, salted, &state)
                sum.add(hash)
                if round + 1 < rounds { salted = try Digest.of(hash, .sha512) }
            }
            // Each block gives every stride-th byte, so that none of them is enough for a part of the key.
            sum.withBytes(blockCount) { sum in
                derived.withMutableBytes(0..<count) { derived in
                    for index in 0..<blockCount where index * stride + block < count {
                        derived[index * stride + block] = sum[index]
                    }
                }
            }
        }
        return derived.withBytes(count) { SecretBytes(copying: $0) }
    }

    private static func hash(
        _ key: borrowing SecretBytes, _ salt: borrowing SecretBytes, _ state: inout SecretScratch
    ) -> SecretBytes {
        SecretBytes(count: blockCount) { target in
            state.withMutableBytes(0..<state.count) { state in
                key.withBytes { key in
                    salt.withBytes { salt in
                        unsafe target.withPointer { target, _ in
                            unsafe state.withPointer { state, _ in
                                unsafe key.withPointer { key, _ in
                                    unsafe salt.withPointer { salt, _ in
                                        let words = UnsafeMutableRawPointer(state).assumingMemoryBound(to: UInt32.self)
                                        om_bcrypt_hash(words, key, salt, target)
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

extension SecretScratch {
    /// Adds bytes without carry.
    fileprivate mutating func add(_ bytes: borrowing SecretBytes) {
        withMutableBytes(0..<count) { mine in
            bytes.withBytes { bytes in for index in bytes.indices { mine[index] ^= bytes[index] } }
        }
    }
}
