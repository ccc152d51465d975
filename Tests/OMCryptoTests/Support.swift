import OMCrypto
import OMSecrets

func secret(_ bytes: some Sequence<UInt8>) -> SecretBytes { SecretBytes(copying: Array(bytes)) }

func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
}

/// `count` bytes with different values, the same in every run.
func pattern(_ count: Int, seed: Int = 7) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 * 131 + seed) ^ ($0 >> 8)) }
}

/// A stream over `bytes`, handed out in pieces of at most `piece`.
func source(_ bytes: [UInt8], piece: Int = .max) -> ByteSource {
    var rest = bytes[...]
    return { target in
        let count = min(target.count, rest.count, piece)
        for index in 0..<count { target[index] = rest[rest.startIndex + index] }
        rest = rest.dropFirst(count)
        return count
    }
}
